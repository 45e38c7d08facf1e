import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from './missing-changesets.ts';

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
export function earlierCommits(root: string): ReadonlyMap<string, string> {
  const found: (readonly [string, string | undefined])[] = [
    ['the main branch', git(root, 'merge-base', 'HEAD^', 'origin/main')],
    ['the last release', git(root, 'describe', '--tags', '--abbrev=0', '--match', '@payment-service/core@*')],
  ];
  return new Map(found.flatMap(([what, commit]) => (commit === undefined ? [] : [[what, commit]])));
}

/** The files that decide about versions, at a commit. */
export function filesAt(root: string, commit: string): Files {
  const specs = PATHS.map((path) => `:(glob)${path}`);
  const list = git(root, 'ls-files', `--with-tree=${commit}`, '--', ...specs) ?? '';
  const read = (path: string): string | undefined => git(root, 'show', `${commit}:${path}`);
  return new Map(
    list.split('\n').flatMap((path) => {
      const text = read(path);
      return text === undefined ? [] : [[path, text] as const];
    }),
  );
}

/** The same files as they are now, committed or not. */
export function filesNow(root: string): Files {
  const paths = globSync(PATHS, { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8').trimEnd()]));
}

/** The output of git; undefined if there is no such branch, tag or file, or no repository. */
function git(cwd: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', [...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  return status === 0 ? stdout.trimEnd() : undefined;
}
