/**
 * `pnpm failover-test [--rounds N] [--control-rounds N] [--report path]`: the primary of a PostgreSQL pair is killed under
 * load and its standby promoted, round after round, and then the history is judged. Prints a table, writes reports/failover-test.json,
 * and ends with 1 where a target is missed.
 *
 * The control is the same with a standby that no commit waits for: it must lose, and the run fails when it does not.
 */
import { told, verdictTable } from '../history/results.ts';
import { readFlags, runProgram } from '../measure/program.ts';
import { judgeFailovers } from './judge.ts';
import { type Round, run } from './run.ts';

const { rounds, controlRounds, report } = readFlags({ rounds: 20, controlRounds: 3 });
await runProgram({ name: 'failover-test', report }, async () => {
  console.log(`A synchronous standby, ${rounds} failovers`);
  const synchronous = await run({ rounds, isSynchronous: true, onRound: printRound });
  console.log(`\nControl: an asynchronous standby, ${controlRounds} failovers`);
  const control = await run({ rounds: controlRounds, isSynchronous: false, onRound: printRound });
  const results = judgeFailovers(synchronous, control, rounds);
  const [judged, lost] = [synchronous, control].map((one) => ({ ...one, verdict: told(one.verdict) }));
  return { results, tables: [verdictTable(synchronous.verdict)], synchronous: judged, control: lost };
});

function printRound({ isStalled, underWay, acknowledgedInStall, recoveryMs }: Round): void {
  const stall = isStalled ? `, ${acknowledgedInStall} acknowledged while the standby was cut off` : '';
  console.log(`  killed with ${underWay} requests under way${stall}; the next answer after ${recoveryMs} ms`);
}
