import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, matchesGlob } from 'node:path';

/** A file of the repository, and its text. */
export interface TextFile {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
}

export const root: string = join(import.meta.dirname, '..', '..', '..');

let files: readonly TextFile[] | undefined;

/**
 * Every file that git tracks or would track. The files are found by walking, so that a checkout without git is
 * checked as well, and a file is checked before it is committed.
 */
export function repositoryFiles(): readonly TextFile[] {
  files ??= walk('', ignoreRules(readFileSync(join(root, '.gitignore'), 'utf8')));
  return files;
}

/** The files whose path matches one of the globs. */
export function filesMatching(...globs: readonly string[]): readonly TextFile[] {
  return repositoryFiles().filter(({ path }) => globs.some((glob) => matchesGlob(path, glob)));
}

export function fileAt(path: string): TextFile {
  const file = repositoryFiles().find((one) => one.path === path);
  if (file === undefined) throw new Error(`${path} is not in the repository`);
  return file;
}

/** Whether a path from the root is a file of the repository, or a folder that holds one. */
export function isInRepository(path: string): boolean {
  return (
    path === '' || repositoryFiles().some((file) => file.path === path || file.path.startsWith(`${path}/`))
  );
}

function walk(folder: string, isIgnored: (name: string, isFolder: boolean) => boolean): TextFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (isIgnored(entry.name, entry.isDirectory())) return [];
    if (entry.isDirectory()) return walk(path, isIgnored);
    if (!entry.isFile()) return [];
    const text = readIfThere(join(root, path));
    // Pictures are included for links, without text.
    return text === undefined ? [] : [{ path, text: text.includes('\0') ? '' : text }];
  });
}

/** Other tests run at the same time: one of their temporary files may disappear before it is read. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function ignoreRules(text: string): (name: string, isFolder: boolean) => boolean {
  const rules = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return (name, isFolder) =>
    name === '.git' ||
    rules.some((rule) =>
      rule.endsWith('/') ? isFolder && name === basename(rule) : matchesGlob(name, rule),
    );
}
