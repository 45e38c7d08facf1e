/** A change that users can see needs a changeset that announces it, whose version step a reviewer judges. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '@payment-service/release/toolchains';
import { expect, onTestFinished, test } from 'vitest';
import { git } from '../../src/repository.ts';
import { earlierCommits, type Files, filesAt, filesNow, missingChangesets } from './missing-changesets.ts';

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

test('control: a change without its changeset is reported; a new changeset or a raised version announces it', () => {
  const state = (files: Record<string, string>, version = '1.2.3'): Files =>
    new Map(
      Object.entries({
        'packages/core/package.json': JSON.stringify({ name: '@a/core', version }),
        'packages/core/api/index.api.md': 'export function f(): void;',
        'openapi/contract.yaml': 'a: 1',
        '.changeset/old.md': "---\n'@a/core': major\n---\n\nAn old sentence.",
        ...files,
      }),
    );
  const changed = { 'packages/core/api/index.api.md': '', 'openapi/contract.yaml': 'a: 2' };
  expect(missingChangesets(state({}), state(changed))).toEqual([
    '@a/core: packages/core/api/index.api.md differs, and no changeset announces it',
    '@a/core: openapi/contract.yaml differs, and no changeset announces it',
  ]);
  const announced = { '.changeset/new.md': "---\n'@a/core': minor\n---\n\nA sentence." };
  expect(missingChangesets(state({}), state({ ...changed, ...announced }))).toEqual([]);
  expect(missingChangesets(state({}), state(changed, '2.0.0'))).toEqual([]);
});

const REPORT = 'export function f(): void;\nexport function g(): void;';
test.each([
  ['1.2.3', 'a removed export', 'export function f(): void;', 'minor', 'major'],
  ['1.2.3', 'a changed export', REPORT.replace('f()', 'f(a: string)'), 'patch', 'major'],
  ['0.2.3', 'a removed export', 'export function f(): void;', 'patch', 'minor'],
  ['1.2.3', 'a new export', `${REPORT}\nexport const h = 1;`, 'patch', 'minor'],
])(
  'in version %s, %s needs a greater step than its changeset announces',
  (version, _what, report, given, needed) => {
    const state = (text: string, step?: string): Files =>
      new Map([
        ['packages/core/package.json', JSON.stringify({ name: '@a/core', version })],
        ['packages/core/api/index.api.md', text],
        ...(step ? [['.changeset/new.md', `---\n'@a/core': ${step}\n---\n\nA sentence.`] as const] : []),
      ]);
    const missing = (step: string): readonly string[] =>
      missingChangesets(state(REPORT), state(report, step));
    expect(missing(given)).toEqual([expect.stringContaining(`needs a ${needed} changeset; it has ${given}`)]);
    // Control.
    expect(missing(needed)).toEqual([]);
  },
);
