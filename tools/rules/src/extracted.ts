import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fencedBlocks } from './markdown.ts';
import type { TextFile } from './repository.ts';

const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
export const tsc: string = join(dirname(manifest), 'bin', 'tsc');

/** A TypeScript block in a document. */
export interface CodeBlock {
  /** Its place: `README.md:40`. */
  readonly source: string;
  readonly code: string;
}

/**
 * The TypeScript blocks in a document, or only those with a mark. ```` ```ts program ```` is a complete program, which the tests
 * start; ```` ```ts handler ```` exports a handler.
 */
export function codeBlocks({ path, text }: TextFile, mark?: 'program' | 'handler'): readonly CodeBlock[] {
  return fencedBlocks(text)
    .filter(({ info }) => (mark === undefined ? /^(ts|tsx|typescript)\b/.test(info) : info === `ts ${mark}`))
    .map(({ code, line }) => ({ source: `${path}:${line}`, code }));
}

/** Creates an empty, git-ignored folder inside this package, where the blocks' imports of packages and frameworks resolve. */
export function emptyFolder(name: string): string {
  const folder = join(import.meta.dirname, '..', '.extracted', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes a block to a file. Leading blank lines make errors show the line of the document. */
export function extract({ source, code }: CodeBlock, folder: string): string {
  const [path = '', line = '1'] = source.split(':');
  const file = join(folder, `${path.replace(/\.md$/, '').replaceAll('/', '-')}-${line}.ts`);
  writeFileSync(file, '\n'.repeat(Number(line) - 1) + code);
  return file;
}

/**
 * Writes a file that Node can run. Node strips types but does not support decorators, so blocks with decorators are compiled, as in
 * a NestJS project.
 */
export function runnable(block: CodeBlock, folder: string): string {
  const file = extract(block, folder);
  if (!/^ *@\w/m.test(block.code)) return file;
  // Only this file, without type checks: the types are checked together with all other blocks.
  const options = ['--noCheck', '--noResolve', '--experimentalDecorators', '--ignoreConfig'];
  execFileSync(process.execPath, [tsc, ...options, '--module', 'nodenext', '--target', 'es2022', file]);
  return file.replace(/\.ts$/, '.js');
}
