/** Stryker plugins. Stryker asks a checker before it tries a fault, and tells a reporter the result. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A fault as Stryker describes it. */
export interface Planted {
  readonly fileName: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly replacement?: string;
}

/** `if («a === b → true») {`: the line with the change. With the file's name, it identifies a fault wherever it moves. */
export function changedLine({ fileName, location: { start, end }, replacement = '' }: Planted): string {
  // A checker is given the path in Stryker's copy, whose code is changed already.
  const path = fileName.slice(fileName.lastIndexOf('/packages/'));
  const text = readFileSync(`${process.env['MUTATION_CHECKOUT']}${path}`, 'utf8');
  const lines = text.split('\n');
  // Positions count from 1.
  const at = ({ line, column }: Position): number =>
    lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0) + column - 1;
  const [from, to] = [at(start), at(end)];
  const [before = '', after = ''] = [text.slice(0, from).split('\n').at(-1), text.slice(to).split('\n')[0]];
  const [original = '', changed] = [text.slice(from, to), replacement].map((code) =>
    code.replace(/\s+/g, ' '),
  );
  const shown = original.length > 60 ? `${original.slice(0, 60)}…` : original;
  return `${before}«${shown} → ${changed}»${after}`.replace(/\s+/g, ' ').trim();
}

/** Makes the same choice for the same seed, whatever else has changed. */
export function isInSample(fault: Planted, share: number, seed: string): boolean {
  const name = `${seed} ${basename(fault.fileName)} ${changedLine(fault)}`;
  return createHash('sha256').update(name).digest().readUInt32BE() < share * 2 ** 32;
}

/** Skips faults outside the sample as if they did not compile, which no score includes. */
class SampleChecker {
  async init(): Promise<void> {}

  async check(faults: readonly (Planted & { readonly id: string })[]): Promise<Record<string, object>> {
    const { MUTATION_SHARE = '1', MUTATION_SEED = '' } = process.env;
    // Positions count from 0 here, and from 1 in results.
    const fromOne = ({ line, column }: Position): Position => ({ line: line + 1, column: column + 1 });
    const statusOf = ({ location: { start, end }, ...fault }: Planted): string => {
      const planted = { ...fault, location: { start: fromOne(start), end: fromOne(end) } };
      return isInSample(planted, Number(MUTATION_SHARE), MUTATION_SEED) ? 'passed' : 'compileError';
    };
    return Object.fromEntries(
      faults.map((fault) => [fault.id, { status: statusOf(fault), reason: 'not in the sample' }]),
    );
  }
}

/** Names survivors immediately, so that a run that is ended early has shown them. */
class SurvivorReporter {
  onMutantTested({ status, ...fault }: Planted & { readonly status: string }): void {
    if (!['Survived', 'NoCoverage', 'Timeout'].includes(status)) return;
    console.log(`${status}: ${basename(fault.fileName)}:${fault.location.start.line}: ${changedLine(fault)}`);
  }
}

export const strykerPlugins: readonly object[] = [
  { kind: 'Checker', name: 'sample', injectableClass: SampleChecker },
  { kind: 'Reporter', name: 'survivors', injectableClass: SurvivorReporter },
];
