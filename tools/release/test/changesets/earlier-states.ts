import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../../src/repository.ts';
import type { Files } from './missing-changesets.ts';

const CORE = '@payment-service/core';
const PATHS = [
  '.changeset/*.md',
  'openapi/*.yaml',
  'openapi/signature-vectors.json',
  'packages/*/api/*.md',
  'packages/*/package.json',
];

/**
 * The commits that this state of the repository is compared with: where it branched from the main branch (on the main branch,
 * the parent of the last commit), and the last release.
 *
 * @returns nothing in a checkout without history.
 */
export async function earlierCommits(root: string): Promise<ReadonlyMap<string, string>> {
  const found = [
    ['the main branch', await output(root, 'merge-base', 'HEAD^', 'origin/main')],
    ['the last release', await output(root, 'describe', '--tags', '--abbrev=0', '--match', `${CORE}@*`)],
  ] as const;
  return new Map(found.flatMap(([what, commit]) => (commit === undefined ? [] : [[what, commit]])));
}

/** The files that decide about versions, at a commit. */
export async function filesAt(root: string, commit: string): Promise<Files> {
  const specs = PATHS.map((path) => `:(glob)${path}`);
  const list = (await output(root, 'ls-files', `--with-tree=${commit}`, '--', ...specs)) ?? '';
  const files = new Map<string, string>();
  for (const path of list.split('\n')) {
    const text = await output(root, 'show', `${commit}:${path}`);
    if (text !== undefined) files.set(path, text);
  }
  return files;
}

/** The same files as they are now, committed or not. */
export function filesNow(root: string): Files {
  const paths = globSync(PATHS, { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8').trimEnd()]));
}

/** The output of git; undefined if there is no such branch, tag or file, or no repository. */
const output = (root: string, ...args: readonly string[]): Promise<string | undefined> =>
  git(root, ...args).then(
    (text) => text.trimEnd(),
    () => undefined,
  );
