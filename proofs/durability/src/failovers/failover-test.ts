/**
 * `pnpm failover-test [--rounds N] [--control-rounds N] [--report path]`: kills the primary of a PostgreSQL pair under load and
 * promotes its standby, round after round, and then judges the history. Prints a table, writes reports/failover-test.json, and
 * exits with 1 if a target is missed.
 *
 * The control is the same with a standby that no commit waits for: it must lose callbacks, and the run fails if it does not.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { told as toldVerdict, verdictTable } from '../history/results.ts';
import { spread } from '../measure/measure.ts';
import { atTheEnd, cleanUp, readFlags, runProgram } from '../measure/program.ts';
import { judge, type Result, told } from '../measure/results.ts';
import { Pair } from './pair.ts';
import { judgeLosses, type Outcome, runUnderLoad, type Watch } from './run-under-load.ts';

/** One death of a primary. */
export interface Round {
  /** Whether the standby was cut off for a moment before the kill. */
  readonly isStalled: boolean;
  /** Requests that were waiting for a response when the primary was killed. */
  readonly underWay: number;
  /** Payments acknowledged while the standby was cut off. */
  readonly acknowledgedInStall: number;
  /**
   * From the kill to the next response with 200, in milliseconds. It includes no failure detection, since the test knows of the
   * kill.
   */
  readonly recoveryMs: number;
}

/** The minimum number of payments acknowledged between two deaths. */
const BETWEEN = 150;
/** The part of them after the promotion. */
const AFTER = 50;
/** The number while the control's standby is cut off: more than can be under way at that moment. */
const IN_STALL = 50;
const PAUSE_MS = 60;

export default async function (): Promise<void> {
  const { rounds, controlRounds, report } = readFlags({ rounds: 20, controlRounds: 3 });
  await runProgram({ name: 'failover-test', report }, async () => {
    console.log(`A synchronous standby, ${rounds} failovers`);
    const synchronous = await run(rounds, true);
    console.log(`\nControl: an asynchronous standby, ${controlRounds} failovers`);
    const control = await run(controlRounds, false);
    const results = judgeFailovers(synchronous, control, rounds);
    const [judged, lost] = [synchronous, control].map((one) => ({
      ...one,
      verdict: toldVerdict(one.verdict),
    }));
    return { results, tables: [verdictTable(synchronous.verdict)], synchronous: judged, control: lost };
  });
}

/**
 * Kills the primary under load and promotes its standby, round after round, and judges what is left.
 *
 * @param isSynchronous whether a commit waits for the standby; if false, the run is the control.
 */
async function run(rounds: number, isSynchronous: boolean): Promise<Outcome<Round>> {
  try {
    const pair = await Pair.start(isSynchronous);
    atTheEnd(() => pair.stop());
    await pair.addStandby();
    const { url } = pair;
    const ground = { url, adminUrl: url, pauseMs: PAUSE_MS, rounds };
    const { outcome } = await runUnderLoad(ground, async (watch, index) => {
      if (index > 0) await pair.addStandby();
      return failOver(pair, isSynchronous, !isSynchronous || index % 2 === 0, watch);
    });
    return outcome;
  } finally {
    await cleanUp();
  }
}

async function failOver(
  pair: Pair,
  isSynchronous: boolean,
  isStalled: boolean,
  { load, acknowledged, underWay: loaded }: Watch,
): Promise<Round> {
  await acknowledged(BETWEEN - AFTER);
  const before = load.acknowledged;
  if (isStalled) {
    pair.stallStandby();
    await wait(200 + 300 * Math.random());
    // With a synchronous standby, none would be acknowledged.
    if (!isSynchronous) await acknowledged(IN_STALL);
  } else {
    await wait(100 * Math.random());
  }
  const underWay = await loaded();
  const acknowledgedInStall = isStalled ? load.acknowledged - before : 0;
  const killed = performance.now();
  await pair.failOver();
  await acknowledged(1);
  const recoveryMs = Math.round(performance.now() - killed);
  await acknowledged(AFTER);
  const stall = isStalled ? `, ${acknowledgedInStall} acknowledged while the standby was cut off` : '';
  console.log(`  killed with ${underWay} requests under way${stall}; the next answer after ${recoveryMs} ms`);
  return { isStalled, underWay, acknowledgedInStall, recoveryMs };
}

/** What the run and the control must show: if the control loses nothing, the run would not have noticed a loss either. */
export function judgeFailovers(
  synchronous: Outcome<Round>,
  control: Outcome<Round>,
  rounds: number,
): readonly Result[] {
  const died = synchronous.rounds.length;
  const underLoad = synchronous.rounds.filter(({ underWay }) => underWay > 0);
  const doubled = control.verdict.faults.doubled.length;
  const recoveryMs = synchronous.rounds.map((round) => round.recoveryMs);
  return [
    judge('primaries killed, and standbys promoted', 'failovers', died, 'exactly', rounds),
    judge('of those with requests under way', 'failovers', underLoad.length, 'exactly', rounds),
    told('from the kill to the next answer', 'ms', spread(recoveryMs)),
    ...judgeLosses(synchronous, control, rounds),
    judge('control, asynchronous: applied twice', 'payments', doubled, 'exactly', 0),
  ];
}
