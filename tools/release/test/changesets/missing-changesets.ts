import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { git } from '../../src/repository.ts';

/** The files of one state of the repository, by path from the root: reports, contract, changesets and manifests. */
export type Files = ReadonlyMap<string, string>;

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

/**
 * The published packages whose public API or contract differs from an earlier state, and which neither a new changeset names nor
 * a version that has been raised since.
 */
export function missingChangesets(before: Files, after: Files): readonly string[] {
  const differs = (path: string): boolean => before.get(path) !== after.get(path);
  const announced = [...after].flatMap(([path, text]) => {
    if (!path.startsWith('.changeset/') || !differs(path)) return [];
    const [, front = ''] = /^---\n([\s\S]*?)\n---/.exec(text) ?? [];
    return Object.keys((parse(front) as object | null) ?? {});
  });
  return [...after].flatMap(([path, text]) => {
    const [, folder] = /^(packages\/[^/]+)\/package\.json$/.exec(path) ?? [];
    const former = before.get(path);
    // A new package gets its first version from a changeset; another rule asks for it.
    if (folder === undefined || former === undefined) return [];
    const manifest: { name: string; version: string; private?: boolean } = JSON.parse(text);
    const isRaised = manifest.version !== JSON.parse(former).version;
    if (manifest.private === true || isRaised || announced.includes(manifest.name)) return [];
    const isOwn = (one: string): boolean =>
      one.startsWith(`${folder}/api/`) || (folder === 'packages/core' && one.startsWith('openapi/'));
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (one) => isOwn(one) && differs(one),
    );
    return changed.map((one) => `${manifest.name}: ${one} differs, and no changeset announces it`);
  });
}
