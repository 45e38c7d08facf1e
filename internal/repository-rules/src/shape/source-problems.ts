import { basename } from 'node:path';
import { adapters } from '../manifests.ts';
import type { TextFile } from '../repository.ts';
import { codeLines } from '../syntax.ts';

const MAX_LINES = 300;
const MAX_INDEX_LINES = 40;
const MAX_ADAPTER_LINES = 60;
/** Of a store over a merchant's library, which only names what the library calls a statement and a transaction. */
const MAX_LIBRARY_STORE_LINES = 15;
const JUNK_DRAWERS = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'shared', 'lib'];
const SWITCHED_OFF = /biome-ignore|@ts-ignore|@ts-nocheck|\bas unknown as\b/;

/** Sources that are too long, indexes that are not a list, adapters that do more than translate. */
export function sourceProblems(file: TextFile): readonly string[] {
  const { path, text } = file;
  const problems: string[] = [];
  const lines = text.trimEnd().split('\n').length;
  if (lines > MAX_LINES) problems.push(`has ${lines} lines, more than ${MAX_LINES}`);
  const names = path.split('/').map((name) => name.replace(/\..*$/, ''));
  const drawer = names.find((name) => JUNK_DRAWERS.includes(name));
  if (drawer !== undefined) problems.push(`"${drawer}" does not describe its contents`);
  const off = SWITCHED_OFF.exec(text);
  if (off !== null) problems.push(`switches off a check: ${off[0]}`);
  const [, adapter = ''] = /^packages\/([^/]+)\/src\//.exec(path) ?? [];
  if (adapters.includes(adapter)) {
    if (basename(path) !== 'index.ts') problems.push('an adapter is one source file');
    const code = codeLines(file);
    if (code > MAX_ADAPTER_LINES) problems.push(`has ${code} lines of code, more than ${MAX_ADAPTER_LINES}`);
  } else if (/^(packages|internal)\/[^/]+\/src\/index\.ts$/.test(path)) {
    if (lines > MAX_INDEX_LINES) problems.push(`has ${lines} lines, more than ${MAX_INDEX_LINES}`);
    if (/^export \*/m.test(text)) problems.push('exports everything of a module: list the names');
  }
  if (/^packages\/inbox\/src\/store\/libraries\//.test(path) && text.includes("from './library.ts'")) {
    const code = codeLines(file);
    if (code > MAX_LIBRARY_STORE_LINES)
      problems.push(`has ${code} lines of code, more than ${MAX_LIBRARY_STORE_LINES}`);
  }
  return problems.map((problem) => `${path}: ${problem}`);
}
