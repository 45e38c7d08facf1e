/**
 * `pnpm crash-test --kills N --store postgres|sqlite [--transitions N] [--seed N] [--control] [--report path]`:
 * kill -9 of receivers, workers and the database server under load, and then the count. Prints tables, writes
 * reports/crash-test-<store>.json, and ends with 1 where a target is missed.
 *
 * With --control the handler's effect commits before the transition is marked as done, in a transaction of its own:
 * that must show doubles, and the run fails when it shows none.
 */
import { randomInt } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { judge } from './judge.ts';
import { killTable, printOutcome, printResults } from './print-outcome.ts';
import { runCrashTest } from './run-crash-test.ts';

const USAGE =
  'Usage: crash-test --kills N --store postgres|sqlite [--transitions N] [--seed N] [--control] [--report path]';

const { values: flags } = parseArgs({
  options: {
    kills: { type: 'string' },
    store: { type: 'string' },
    transitions: { type: 'string' },
    seed: { type: 'string' },
    control: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
});
const store = flags.store === 'postgres' || flags.store === 'sqlite' ? flags.store : undefined;
const kills = wholeNumber(flags.kills, undefined);
const transitions = wholeNumber(flags.transitions, 50 * (kills ?? 0));
const seed = wholeNumber(flags.seed, randomInt(1_000_000));

if (store === undefined || !kills || !transitions || seed === undefined) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await crashTest({ store, kills, transitions, seed, isControl: flags.control });
}

async function crashTest(run: {
  readonly store: 'postgres' | 'sqlite';
  readonly kills: number;
  readonly transitions: number;
  readonly seed: number;
  readonly isControl: boolean;
}): Promise<void> {
  const name = `crash-test-${run.store}${run.isControl ? '-control' : ''}`;
  const report = flags.report ?? join(import.meta.dirname, '..', '..', '..', 'reports', `${name}.json`);
  console.log(`${name}: ${run.kills} kills, ${run.transitions} transitions, seed ${run.seed}`);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stopping.abort(new Error(`Ended by ${signal}.`)));
  let shown = Date.now();
  const outcome = await runCrashTest({
    ...run,
    signal: stopping.signal,
    onProgress({ kills: done, payments, of }) {
      if (Date.now() - shown < 10_000) return;
      shown = Date.now();
      console.log(`  ${done} kills, ${payments} of ${of} payments`);
    },
  });
  const results = judge(outcome, run);
  printOutcome(outcome);
  printResults(results);
  const { kills: killed, ...counted } = outcome;
  const content = {
    name,
    date: new Date().toISOString(),
    results,
    run,
    environment: {
      node: process.version,
      platform: process.platform,
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
    killsByPhase: killTable(killed),
    ...counted,
  };
  await mkdir(dirname(report), { recursive: true });
  await writeFile(report, `${JSON.stringify(content, null, 2)}\n`);
  console.log(`\nWritten to ${relative(process.cwd(), report)}.`);
  process.exitCode = results.every(({ met }) => met) ? 0 : 1;
}

function wholeNumber(text: string | undefined, otherwise: number | undefined): number | undefined {
  if (text === undefined) return otherwise;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
