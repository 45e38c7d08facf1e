import { basename } from 'node:path';
import { adapters } from './manifests.ts';
import type { TextFile } from './repository.ts';
import { codeLines } from './syntax.ts';

const MAX_ADAPTER_LINES = 75;
const SWITCHED_OFF = /biome-ignore|@ts-ignore|@ts-nocheck|\bas unknown as\b/;

/** Sources that switch a check off, and adapters that do more than translate. */
export function sourceProblems(file: TextFile): readonly string[] {
  const problems: string[] = [];
  const off = SWITCHED_OFF.exec(file.text);
  if (off !== null) problems.push(`switches off a check: ${off[0]}`);
  const [, adapter = ''] = /^packages\/([^/]+)\/src\//.exec(file.path) ?? [];
  if (adapters.includes(adapter)) {
    if (basename(file.path) !== 'index.ts') problems.push('an adapter is one source file');
    const code = codeLines(file);
    if (code > MAX_ADAPTER_LINES) problems.push(`has ${code} lines of code, more than ${MAX_ADAPTER_LINES}`);
  }
  return problems.map((problem) => `${file.path}: ${problem}`);
}
