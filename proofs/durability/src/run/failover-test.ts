/**
 * `pnpm lab failover-test [--rounds N] [--control-rounds N] [--report path]`: kills the primary of a PostgreSQL pair under load and
 * promotes its standby, round after round, and then judges the history. Prints tables, writes reports/failover-test.json, and
 * exits with 1 if a target is missed.
 *
 * The control is the same with a standby that no commit waits for: it must lose callbacks, and the run fails if it does not.
 */
import { readFlags, runProgram } from '../measure/program.ts';
import { Pair } from '../topology/pair.ts';
import { runFailovers } from './failovers.ts';

export default async function (): Promise<void> {
  const { report, rounds, controlRounds } = readFlags({ rounds: 20, controlRounds: 3 });
  const start = async (isSynchronous: boolean): Promise<Pair> => {
    const pair = await Pair.start(isSynchronous);
    await pair.whole();
    return pair;
  };
  await runProgram({ name: 'failover-test', report }, () =>
    runFailovers({ start, rounds, controlRounds, pauseMs: 60, isHeld: true }),
  );
}
