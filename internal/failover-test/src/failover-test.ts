/**
 * `pnpm failover-test [--rounds N] [--control-rounds N] [--report path]`: the primary of a PostgreSQL pair is killed under
 * load and its standby promoted, round after round, and then the count. Prints a table, writes reports/failover-test.json,
 * and ends with 1 where a target is missed.
 *
 * The control is the same with a standby that no commit waits for: it must lose, and the run fails when it does not.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { printRows, spread } from '@payment-service/measure';
import { judge, type Result } from './judge.ts';
import { type Outcome, type Round, run } from './run.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    'control-rounds': { type: 'string', default: '3' },
    report: { type: 'string' },
  },
});
const [rounds, controlRounds] = [flags.rounds, flags['control-rounds']].map((text) =>
  /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined,
);
if (rounds === undefined || controlRounds === undefined) {
  console.error('Usage: failover-test [--rounds N] [--control-rounds N] [--report path]');
  process.exitCode = 2;
} else {
  await failoverTest(rounds, controlRounds);
}

async function failoverTest(wanted: number, wantedOfControl: number): Promise<void> {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => stopping.abort(new Error(`Ended by ${name}.`)));
  const { signal } = stopping;
  console.log(`A synchronous standby, ${wanted} failovers`);
  const synchronous = await run({ rounds: wanted, isSynchronous: true, signal, onRound: printRound });
  console.log(`\nControl: an asynchronous standby, ${wantedOfControl} failovers`);
  const control = await run({ rounds: wantedOfControl, isSynchronous: false, signal, onRound: printRound });
  const results = judge({ synchronous, control }, wanted);
  printResults(results, { synchronous, control });
  const content = {
    name: 'failover-test',
    date: new Date().toISOString(),
    results,
    environment: {
      node: process.version,
      platform: process.platform,
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
    recoveryMs: recoveryOf(synchronous),
    synchronous,
    control,
  };
  const report = flags.report ?? join(import.meta.dirname, '..', '..', '..', 'reports', 'failover-test.json');
  await mkdir(dirname(report), { recursive: true });
  await writeFile(report, `${JSON.stringify(content, null, 2)}\n`);
  console.log(`\nWritten to ${relative(process.cwd(), report)}.`);
  process.exitCode = results.every(({ met }) => met) ? 0 : 1;
}

function printRound({ isStalled, underWay, acknowledgedInStall, recoveryMs }: Round): void {
  const stall = isStalled ? `, ${acknowledgedInStall} acknowledged while the standby was cut off` : '';
  console.log(
    `  killed with ${underWay} callbacks under way${stall}; the next answer after ${recoveryMs} ms`,
  );
}

function printResults(
  results: readonly Result[],
  { synchronous, control }: { readonly synchronous: Outcome; readonly control: Outcome },
): void {
  console.log('\nThe count');
  printRows(
    ['', 'value', 'target', ''],
    results.map(({ name, value, unit, target, bound, met }) => [
      name,
      `${value.toLocaleString('en')} ${unit}`,
      `${bound} ${target.toLocaleString('en')}`,
      met ? 'met' : 'MISSED',
    ]),
  );
  const { median, p10, p90 } = recoveryOf(synchronous);
  console.log(
    `\n${synchronous.answers.toLocaleString('en')} answers of 200, ${synchronous.failures.toLocaleString('en')} requests ` +
      `sent again, ${synchronous.seconds} s. From the kill to the next answer: median ${Math.round(median)} ms ` +
      `(${Math.round(p10)} to ${Math.round(p90)}).`,
  );
  console.log(
    `The control lost ${control.tally.lostCallbacks} of ${control.tally.acknowledged.toLocaleString('en')} acknowledged ` +
      'callbacks: with an asynchronous standby, a failover loses what was acknowledged shortly before.',
  );
}

function recoveryOf({ rounds: all }: Outcome): ReturnType<typeof spread> {
  return spread(all.map(({ recoveryMs }) => recoveryMs));
}
