/** A change that users can see needs a changeset that announces it, with at least the version step that the change requires. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '@payment-service/release/toolchains';
import { describe, expect, onTestFinished, test } from 'vitest';
import { git } from '../../src/repository.ts';
import { earlierCommits, filesAt, filesNow } from './earlier-states.ts';
import { type Files, missingChangesets } from './missing-changesets.ts';
import { bumpFor, contractDifference, surfaceDifference } from './surface-change.ts';

const commits = await earlierCommits(root);

test('CI has the history that this state is compared with', () => {
  expect(process.env['CI'] === undefined || commits.size > 0).toBe(true);
});

test.each([...commits])(
  'the changesets announce what changed in the contract and the public API since %s',
  async (_what, commit) => {
    expect(missingChangesets(await filesAt(root, commit), filesNow(root))).toEqual([]);
  },
);

test('a branch is compared with the commit where it branched off, and the main branch with its last commit but one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'history-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const commit = async (): Promise<string> => {
    await git(folder, ...author, 'commit', '-q', '--allow-empty', '-m', 'a');
    return (await git(folder, 'rev-parse', 'HEAD')).trim();
  };
  await git(folder, 'init', '-q');
  const [first, second] = [await commit(), await commit()];
  await git(folder, 'update-ref', 'refs/remotes/origin/main', second);
  expect([...(await earlierCommits(folder)).values()]).toEqual([first]);
  await commit();
  await commit();
  expect([...(await earlierCommits(folder)).values()]).toEqual([second]);
});

const report = (code: string): string => `# a\n\n\`\`\`ts\n${code}\n\`\`\`\n`;
const OPTIONS = 'export interface CallOptions {\n    readonly signal?: AbortSignal;\n}';
const CLASS = 'export class ApiError extends Error {\n    readonly status: number;\n}';
const REPORT = report(`import { A } from 'a';\n\n${OPTIONS}\n\n${CLASS}`);

describe('control: the difference of a report', () => {
  test.each([
    ['nothing, in another order and with another import', report(`${CLASS}\n\n${OPTIONS}`), 'none'],
    ['a new function', report(`${OPTIONS}\n\n${CLASS}\n\nexport function f(): void;`), 'addition'],
    ['a new optional option', REPORT.replace('signal?', 'more?: 1;\n    readonly signal?'), 'addition'],
    ['a new member of a class', REPORT.replace('status:', 'more: 1;\n    readonly status:'), 'addition'],
    ['a new required option', REPORT.replace('signal?', 'more: 1;\n    readonly signal?'), 'breaking'],
    ['another type', REPORT.replace('status: number', 'status: string'), 'breaking'],
    ['another base class', REPORT.replace('extends Error', 'extends TypeError'), 'breaking'],
    ['a missing class', report(OPTIONS), 'breaking'],
    ['a missing entry', '', 'breaking'],
  ])('%s', (_what, after, change) => {
    expect(surfaceDifference(REPORT, after).change).toBe(change);
  });
});

test.each([
  ['another description', 'a: { type: string, description: B }', 'text'],
  ['a comment', 'a: { type: string, description: A } # why', 'text'],
  ['a new member', 'a: { type: string, description: A, format: b }', 'addition'],
  ['another type', 'a: { type: number, description: A }', 'breaking'],
  ['nothing', 'a: { type: string, description: A }', 'none'],
])('control: the difference of a contract: %s', (_what, after, change) => {
  expect(contractDifference('a: { type: string, description: A }', after).change).toBe(change);
});

test('control: below 1.0.0 a breaking change is minor, from there on major', () => {
  expect((['text', 'addition', 'breaking'] as const).map((change) => bumpFor(change, '0.1.0'))).toEqual([
    'patch',
    'patch',
    'minor',
  ]);
  expect((['text', 'addition', 'breaking'] as const).map((change) => bumpFor(change, '1.0.0'))).toEqual([
    'patch',
    'minor',
    'major',
  ]);
});

describe('control: a change without its changeset', () => {
  const state = (files: Record<string, string>, version = '1.2.3'): Files =>
    new Map(
      Object.entries({
        'packages/core/package.json': JSON.stringify({ name: '@a/core', version }),
        'packages/core/api/index.api.md': REPORT,
        'openapi/contract.yaml': 'a: { type: string }',
        '.changeset/old.md': "---\n'@a/core': major\n---\n\nAn old sentence.",
        ...files,
      }),
    );
  const removed = { 'packages/core/api/index.api.md': report(OPTIONS) };
  const changeset = (bump: string): Record<string, string> => ({
    '.changeset/new.md': `---\n'@a/core': ${bump}\n---\n\nA sentence.`,
  });

  test('is reported with the step that it requires, and an older changeset does not announce it', () => {
    expect(missingChangesets(state({}), state(removed))).toEqual([
      '@a/core: "export class ApiError extends Error {" is gone, changed or newly required, which asks for a changeset with "major" or more',
    ]);
    expect(
      missingChangesets(state({}), state({ 'openapi/contract.yaml': 'a: { type: string, b: c }' })),
    ).toEqual(['@a/core: "/a/b: c" is new, which asks for a changeset with "minor" or more']);
  });

  test('is reported if the step is too small, and not if it is large enough', () => {
    expect(missingChangesets(state({}), state({ ...removed, ...changeset('minor') }))).toHaveLength(1);
    expect(missingChangesets(state({}), state({ ...removed, ...changeset('major') }))).toEqual([]);
  });

  test('is not reported after the release that raised the version', () => {
    expect(missingChangesets(state({}), state(removed, '1.3.0'))).toHaveLength(1);
    expect(missingChangesets(state({}), state(removed, '2.0.0'))).toEqual([]);
  });
});
