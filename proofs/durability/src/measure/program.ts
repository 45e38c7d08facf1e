import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { Result } from './results.ts';
import { printTable, resultTable, type Table } from './tables.ts';

/** The findings of a laboratory program. Every member is kept in its report. */
export interface Found {
  readonly results: readonly Result[];
  readonly tables?: readonly Table[];
  readonly [figures: string]: unknown;
}

/** The contents of the report file. */
export interface Report extends Found {
  readonly name: string;
  /** ISO 8601. */
  readonly date: string;
  readonly isShort: boolean;
  readonly environment: Environment;
  readonly tables: readonly Table[];
}

interface Environment {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  readonly memoryGiB: number;
}

const REPORTS = join(import.meta.dirname, '..', '..', '..', '..', 'reports');
const closers: (() => Promise<unknown>)[] = [];
let closing: Promise<void> = Promise.resolve();
const stopping = new AbortController();

/** Aborted if the run is ended early; the clean-up is then the same as at its normal end. */
export const stopped: AbortSignal = stopping.signal;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopping.abort(new Error(`Ended by ${signal}.`));
    void cleanUp().finally(() => process.exit(1));
  });
}

/**
 * Runs a program: prints the tables and the results, writes reports/<name>.json, and exits with 1 if a target is missed. The
 * figures of a short run are noise, so no target is checked.
 *
 * @param program.report another file for the report.
 */
export async function runProgram(
  program: { readonly name: string; readonly isShort?: boolean; readonly report: string | undefined },
  run: () => Promise<Found>,
): Promise<Report> {
  const { name, isShort = false, report: file = join(REPORTS, `${name}.json`) } = program;
  const { node, cores } = environment();
  console.log(`${name}: Node ${node}, ${cores} cores`);
  try {
    const { tables = [], results, ...found } = await run();
    for (const table of [...tables, resultTable(results)]) printTable(table);
    const date = new Date().toISOString();
    const report = { name, date, isShort, environment: environment(), results, ...found, tables };
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
    console.log(`\nWritten to ${relative(process.cwd(), file)}.`);
    if (isShort) console.log('A short run: its figures are noise, so no target is checked.');
    else if (results.some(({ met }) => !met)) process.exitCode = 1;
    return report;
  } catch (error) {
    // Shown before the clean-up, which may take long.
    console.error(error);
    throw error;
  } finally {
    await cleanUp();
  }
}

/**
 * Runs a benchmark: with `--short` at its short pace. Every number of a pace has a flag, such as `--rounds 5`; `--report` names
 * another file.
 *
 * @param all the parts that a run may name. @default it has one part
 */
export async function runBenchmark<P extends object>(
  name: string,
  paces: { readonly full: P; readonly short: P },
  run: (pace: P, isShort: boolean, parts: readonly string[]) => Promise<Found>,
  all?: readonly string[],
): Promise<void> {
  const chosen = process.argv.includes('--short') ? paces.short : paces.full;
  const numbers = Object.entries(chosen).filter(([, value]) => typeof value === 'number');
  const flags = readFlags({ ...Object.fromEntries(numbers), short: false }, all);
  const { short: isShort, report, parts, ...given } = flags;
  const pace = { ...chosen, ...given };
  await runProgram({ name, isShort, report }, async () => ({
    pace,
    ...(await run(pace, isShort, parts)),
  }));
}

type Flags<F> = {
  readonly [K in keyof F]: F[K] extends number ? number : F[K] extends boolean ? boolean : string;
};

/**
 * Reads the flags of a program: each is of the type of its default, numbers are integers from 1, and `controlRounds` is
 * `--control-rounds`. With an unknown or invalid flag or part, the program exits with 2.
 *
 * @param all the parts of the program. Returns those that are named, or all of them if none is.
 */
export function readFlags<F extends Readonly<Record<string, string | number | boolean>>>(
  defaults: F,
  all: readonly string[] = [],
): Flags<F> & { readonly report: string | undefined; readonly parts: readonly string[] } {
  const names = Object.entries(defaults).map(
    ([key, value]) =>
      [key, key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), typeof value] as const,
  );
  const options = Object.fromEntries(
    names.map(([, name, type]) => [name, { type: type === 'boolean' ? 'boolean' : 'string' } as const]),
  );
  try {
    const { values, positionals } = parseArgs({
      options: { ...options, report: { type: 'string' } },
      allowPositionals: all.length > 0,
    });
    const unknown = positionals.find((name) => !all.includes(name));
    if (unknown !== undefined)
      throw new Error(`There is no part "${unknown}": choose from ${all.join(', ')}.`);
    const given: Readonly<Record<string, unknown>> = values;
    const read = names.map(([key, name, type]) => {
      const value = given[name] ?? defaults[key];
      if (type !== 'number' || typeof value === 'number') return [key, value];
      if (!/^[1-9]\d{0,11}$/.test(String(value)))
        throw new Error(`--${name} must be a whole number from 1, not ${value}.`);
      return [key, Number(value)];
    });
    const parts = positionals.length === 0 ? all : positionals;
    return { ...Object.fromEntries(read), report: values.report, parts };
  } catch (error) {
    return endUnused(error instanceof Error ? error.message : String(error));
  }
}

/** Ends a program that was called in a way that it does not support. */
export function endUnused(why: string): never {
  console.error(why);
  process.exit(2);
}

/** A temporary folder, which is removed at the end. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-service-laboratory-'));
  atTheEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return folder;
}

/** Closes something at the end of the run, however it ends; what was opened last is closed first. */
export function atTheEnd(close: () => Promise<unknown>): void {
  closers.push(close);
}

/** Closes everything that is open. */
export function cleanUp(): Promise<void> {
  closing = closing.then(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return closing;
}

/** The machine on which a report was made. */
function environment(): Environment {
  const [cores, memoryGiB] = [availableParallelism(), Math.round(totalmem() / 2 ** 30)];
  return { node: process.version, platform: process.platform, cores, memoryGiB };
}
