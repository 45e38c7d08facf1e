/** The leader is struck under load, and another server takes over, round after round. */
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request } from '../history/judge-history.ts';
import { spread } from '../measure/measure.ts';
import { cleanUp, type Found } from '../measure/program.ts';
import { judge, type Result, told } from '../measure/results.ts';
import type { Replicated } from '../topology/topology.ts';
import { caughtResult, type Outcome, run, verdictResults, verdictTable } from './run.ts';

export interface Failovers {
  /** @param isSynchronous whether a commit waits for a standby; if false, the run is the control. */
  readonly start: (isSynchronous: boolean) => Promise<Replicated>;
  readonly rounds: number;
  readonly controlRounds: number;
  /** The average pause after each payment. */
  readonly pauseMs: number;
  /** Whether the standbys are cut off for a moment before every second fault, and not only in the control. */
  readonly isHeld: boolean;
}

export interface Round {
  readonly fault: string;
  /** Requests that were waiting for a response when the fault struck. */
  readonly underWay: number;
  /**
   * From the fault to the response to the first callback that was sent after it and acknowledged. It includes the detection only
   * where the topology has to detect the fault.
   */
  readonly recoveryMs: number;
}

export interface FailoverOutcome extends Outcome {
  readonly rounds: readonly Round[];
}

/** Longer than any sum of the configured waits: a longer failover would not be automatic. */
const MAX_RECOVERY_MS = 120_000;
/** Payments acknowledged before a fault, after it, and, in the control, while the standbys are cut off. */
const [BEFORE, AFTER, IN_STALL] = [100, 50, 50];

/** A run with a synchronous standby, and the control: the same with a standby that no commit waits for. */
export async function runFailovers(options: Failovers): Promise<Found> {
  console.log(`A synchronous standby, ${options.rounds} failovers`);
  const synchronous = await failOverAgain(options, true);
  console.log(`\nControl: an asynchronous standby, ${options.controlRounds} failovers`);
  const control = await failOverAgain(options, false);
  const results = judgeFailovers(synchronous, control, options.rounds);
  return { results, tables: [verdictTable(synchronous)], synchronous, control };
}

async function failOverAgain(options: Failovers, isSynchronous: boolean): Promise<FailoverOutcome> {
  const { start, pauseMs } = options;
  const rounds = isSynchronous ? options.rounds : options.controlRounds;
  try {
    const topology = await start(isSynchronous);
    const struck: { readonly fault: string; readonly at: number }[] = [];
    const shared = { topology, seed: randomInt(1_000_000), pauseMs };
    const { outcome, requests } = await run(shared, async ({ load, reach }) => {
      const acknowledged = (count: number): Promise<unknown> => {
        const enough = load.acknowledged + count;
        return reach(() => load.acknowledged >= enough);
      };
      load.limit = Number.POSITIVE_INFINITY;
      for (let index = 0; index < rounds; index++) {
        await topology.whole();
        await acknowledged(BEFORE);
        if (!isSynchronous || (options.isHeld && index % 2 === 0)) topology.holdReplication();
        // With a synchronous standby that is held, none would be acknowledged.
        if (!isSynchronous) await acknowledged(IN_STALL);
        await wait(500 * Math.random());
        await reach(() => load.underWay > 0);
        const fault = topology.faults[isSynchronous ? index % topology.faults.length : 0] ?? '';
        struck.push({ fault, at: await topology.strike(fault) });
        await topology.heal();
        await acknowledged(AFTER);
        console.log(`  ${fault}, and another server leads: ${load.acknowledged} payments acknowledged`);
      }
      load.limit = load.begun;
    });
    return { ...outcome, rounds: struck.map((one) => ({ ...one, ...around(one.at, requests) })) };
  } finally {
    await cleanUp();
  }
}

/** What the history says about a fault at this time. */
function around(at: number, requests: readonly Request[]): Omit<Round, 'fault'> {
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
