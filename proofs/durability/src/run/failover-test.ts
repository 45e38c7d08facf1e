/**
 * `pnpm failover-test [--rounds N] [--control-rounds N] [--report path]`: kills the primary of a PostgreSQL pair under load and
 * promotes its standby, round after round, and then judges the history. Prints tables, writes reports/failover-test.json, and
 * exits with 1 if a target is missed.
 *
 * The control is the same with a standby that no commit waits for: it must lose callbacks, and the run fails if it does not.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request } from '../history/judge-history.ts';
import { spread } from '../measure/measure.ts';
import { cleanUp, readFlags, runProgram } from '../measure/program.ts';
import { judge, type Result, told } from '../measure/results.ts';
import { Pair } from '../topology/pair.ts';
import { caughtResult, type Outcome, run, verdictResults, verdictTable } from './run.ts';

export interface Round {
  /** Requests that were waiting for a response when the fault struck. */
  readonly underWay: number;
  /** From the fault to the response to the first callback that was sent after it and acknowledged. */
  readonly recoveryMs: number;
}

export interface FailoverOutcome extends Outcome {
  readonly rounds: readonly Round[];
}

/** Longer than any sum of the configured waits: a longer failover would not be automatic. */
const MAX_RECOVERY_MS = 120_000;
/** Payments acknowledged before a fault, after it, and, in the control, while the standbys are cut off. */
const [BEFORE, AFTER, IN_STALL] = [100, 50, 50];

export default async function (): Promise<void> {
  const { report, rounds, controlRounds } = readFlags({ rounds: 20, controlRounds: 3 });
  await runProgram({ name: 'failover-test', report }, async () => {
    console.log(`A synchronous standby, ${rounds} failovers`);
    const synchronous = await failOverAgain(rounds, true);
    console.log(`\nControl: an asynchronous standby, ${controlRounds} failovers`);
    const control = await failOverAgain(controlRounds, false);
    const results = judgeFailovers(synchronous, control, rounds);
    return { results, tables: [verdictTable(synchronous)], synchronous, control };
  });
}

async function failOverAgain(rounds: number, isSynchronous: boolean): Promise<FailoverOutcome> {
  try {
    const topology = await Pair.start(isSynchronous);
    await topology.whole();
    const struck: number[] = [];
    const shared = { topology, seed: randomInt(1_000_000), pauseMs: 60 };
    const { outcome, requests } = await run(shared, async ({ load, reach }) => {
      const acknowledged = (count: number): Promise<unknown> => {
        const enough = load.acknowledged + count;
        return reach(() => load.acknowledged >= enough);
      };
      load.limit = Number.POSITIVE_INFINITY;
      for (let index = 0; index < rounds; index++) {
        await topology.whole();
        await acknowledged(BEFORE);
        if (!isSynchronous || index % 2 === 0) topology.holdReplication();
        // With a synchronous standby that is held, none would be acknowledged.
        if (!isSynchronous) await acknowledged(IN_STALL);
        await wait(500 * Math.random());
        await reach(() => load.underWay > 0);
        struck.push(await topology.strike());
        await acknowledged(AFTER);
        console.log(`  Another server leads: ${load.acknowledged} payments acknowledged`);
      }
      load.limit = load.begun;
    });
    return { ...outcome, rounds: struck.map((at) => around(at, requests)) };
  } finally {
    await cleanUp();
  }
}

/** What the history says of a fault at this time. */
function around(at: number, requests: readonly Request[]): Round {
  const ends = requests.flatMap(({ kind, began, ended, answer }) =>
    kind === 'callback' && began >= at && /^(ack|first|rep)/.test(answer) ? [ended] : [],
  );
  const underWay = requests.filter(({ began, ended }) => began < at && ended > at).length;
  return { underWay, recoveryMs: Math.round(Math.min(...ends) - at) };
}

/** What the run and the control must show: if the control loses nothing, the run would not have noticed a loss either. */
export function judgeFailovers(
  { rounds, verdict, warnings }: FailoverOutcome,
  control: FailoverOutcome,
  wanted: number,
): readonly Result[] {
  const recoveries = rounds.map(({ recoveryMs }) => recoveryMs);
  const underLoad = rounds.filter(({ underWay }) => underWay > 0).length;
  const longest = Math.max(...recoveries);
  const name = 'control, asynchronous:';
  return [
    judge('failovers to another server', 'failovers', rounds.length, 'exactly', wanted),
    judge('of those with requests under way', 'failovers', underLoad, 'exactly', wanted),
    told('to the next acknowledged callback', 'ms', spread(recoveries)),
    judge('the longest time to the next acknowledged callback', 'ms', longest, 'at most', MAX_RECOVERY_MS),
    ...verdictResults(verdict, 100 * wanted),
    judge('warnings at the start', 'programs', warnings.length, 'exactly', 0),
    caughtResult('asynchronous', control.verdict, 'lost'),
    caughtResult('asynchronous', control.verdict, 'dropped'),
    judge(`${name} applied twice`, 'payments', control.verdict.faults.doubled.length, 'exactly', 0),
    judge(`${name} warnings at the start`, 'programs', control.warnings.length, 'at least', 1),
  ];
}
