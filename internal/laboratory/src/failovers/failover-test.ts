/**
 * `pnpm failover-test [--rounds N] [--control-rounds N] [--report path]`: the primary of a PostgreSQL pair is killed under
 * load and its standby promoted, round after round, and then the history is judged. Prints a table, writes reports/failover-test.json,
 * and ends with 1 where a target is missed.
 *
 * The control is the same with a standby that no commit waits for: it must lose, and the run fails when it does not.
 */
import { parseArgs } from 'node:util';
import { told, verdictTable } from '../history/results.ts';
import { type Spread, spread } from '../measure/measure.ts';
import { runProgram } from '../measure/program.ts';
import { judgeFailovers } from './judge.ts';
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
  await runProgram({ name: 'failover-test', report: flags.report }, async () => {
    console.log(`A synchronous standby, ${rounds} failovers`);
    const synchronous = await run({ rounds, isSynchronous: true, onRound: printRound });
    console.log(`\nControl: an asynchronous standby, ${controlRounds} failovers`);
    const control = await run({ rounds: controlRounds, isSynchronous: false, onRound: printRound });
    printOutcomes(synchronous, control);
    const results = judgeFailovers({ synchronous, control }, rounds);
    const tables = [verdictTable(synchronous.verdict)];
    const [judged, lost] = [synchronous, control].map((one) => ({ ...one, verdict: told(one.verdict) }));
    return { results, tables, recoveryMs: recoveryOf(synchronous), synchronous: judged, control: lost };
  });
}

function printRound({ isStalled, underWay, acknowledgedInStall, recoveryMs }: Round): void {
  const stall = isStalled ? `, ${acknowledgedInStall} acknowledged while the standby was cut off` : '';
  console.log(`  killed with ${underWay} requests under way${stall}; the next answer after ${recoveryMs} ms`);
}

function printOutcomes(synchronous: Outcome, { verdict }: Outcome): void {
  const { median, p10, p90 } = recoveryOf(synchronous);
  console.log(
    `\n${synchronous.seconds} s. From the kill to the next answer: median ${Math.round(median)} ms ` +
      `(${Math.round(p10)} to ${Math.round(p90)}).`,
  );
  console.log(
    `The control lost ${verdict.faults.dropped.length} of ${verdict.bodies.toLocaleString('en')} acknowledged ` +
      'callbacks: with an asynchronous standby, a failover loses what was acknowledged shortly before.',
  );
}

function recoveryOf({ rounds: all }: Outcome): Spread {
  return spread(all.map(({ recoveryMs }) => recoveryMs));
}
