import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { Result } from './results.ts';
import { printTable, resultTable, type Table } from './tables.ts';

/** What a program of the laboratory has found. Every member is kept in its report. */
export interface Found {
  readonly results: readonly Result[];
  readonly tables?: readonly Table[];
  readonly [figures: string]: unknown;
}

/** What the file holds. */
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

/** Aborted when the run is ended early; it is cleaned up then as at its end. */
export const stopped: AbortSignal = stopping.signal;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopping.abort(new Error(`Ended by ${signal}.`));
    void cleanUp().finally(() => process.exit(1));
  });
}

/**
 * Runs a program: prints the tables and the results, writes reports/<name>.json, and ends with 1 where a target is missed. The
 * figures of a short run are noise: no target is held against them.
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
    if (isShort) console.log('A short run: its figures are noise, and no target is held against them.');
    else if (results.some(({ met }) => !met)) process.exitCode = 1;
    return report;
  } catch (error) {
    // Shown before the clean-up, which may be long.
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
 * @throws {Error} when a flag is unknown or is not a number.
 */
export async function runBenchmark<P extends object>(
  name: string,
  paces: { readonly full: P; readonly short: P },
  run: (pace: P, isShort: boolean) => Promise<Found>,
): Promise<void> {
  const numbers = Object.keys(paces.full).filter((key) => typeof Reflect.get(paces.full, key) === 'number');
  const own = Object.fromEntries(numbers.map((key) => [key, { type: 'string' } as const]));
  const { values } = parseArgs({
    options: { ...own, short: { type: 'boolean' }, report: { type: 'string' } },
  });
  const { short: isShort = false, report, ...given } = values;
  const pace = { ...(isShort ? paces.short : paces.full) };
  for (const [key, text] of Object.entries(given)) {
    if (!/^[1-9]\d*$/.test(String(text))) throw new Error(`--${key} must be a number from 1, not ${text}.`);
    Reflect.set(pace, key, Number(text));
  }
  await runProgram({ name, isShort, report }, async () => ({ pace, ...(await run(pace, isShort)) }));
}

/** A temporary folder, which is removed at the end. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-service-laboratory-'));
  atTheEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return folder;
}

/** Has something closed at the end of the run, whichever way it ends; what was opened last is closed first. */
export function atTheEnd(close: () => Promise<unknown>): void {
  closers.push(close);
}

/** Closes what is open so far. */
export function cleanUp(): Promise<void> {
  closing = closing.then(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return closing;
}

/** The machine that a report was made on. */
export function environment(): Environment {
  const [cores, memoryGiB] = [availableParallelism(), Math.round(totalmem() / 2 ** 30)];
  return { node: process.version, platform: process.platform, cores, memoryGiB };
}
