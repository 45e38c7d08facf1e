import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fencedBlocks } from './markdown.ts';
import type { TextFile } from './repository.ts';

/** A block of TypeScript in a document. */
export interface CodeBlock {
  /** Its place: `README.md:40`. */
  readonly source: string;
  readonly code: string;
  /** Marked ```` ```ts program ````: complete, and started by the tests. */
  readonly isProgram: boolean;
}

export function codeBlocks(document: TextFile): readonly CodeBlock[] {
  return fencedBlocks(document.text)
    .filter(({ info }) => /^(ts|tsx|typescript)\b/.test(info))
    .map(({ info, code, line }) => ({
      source: `${document.path}:${line}`,
      code,
      isProgram: info.split(' ').includes('program'),
    }));
}

/** Makes an empty, git-ignored folder inside this package, where the packages and frameworks of the blocks resolve. */
export function emptyFolder(name: string): string {
  const folder = join(import.meta.dirname, '..', '.extracted', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes a block to a file; blank lines in front let messages name the line of the document. */
export function extract({ source, code }: CodeBlock, folder: string): string {
  const [path = '', line = '1'] = source.split(':');
  const file = join(folder, `${path.replace(/\.md$/, '').replaceAll('/', '-')}-${line}.ts`);
  writeFileSync(file, '\n'.repeat(Number(line) - 1) + code);
  return file;
}
