import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

/** A file of the repository with its text. */
export interface TextFile {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
}

export const root: string = join(import.meta.dirname, '..', '..', '..');

let files: readonly TextFile[] | undefined;

/** Every file that git tracks or would track, so that a file is checked before it is committed. */
export function repositoryFiles(): readonly TextFile[] {
  files ??= listedByGit().flatMap((path) => {
    const text = readIfThere(join(root, path));
    // Pictures are included, without text, so that links to them can be checked.
    return text === undefined ? [] : [{ path, text: text.includes('\0') ? '' : text }];
  });
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

function listedByGit(): readonly string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
}

/** A listed file may be missing: deleted but not committed, or a temporary file of another test. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
