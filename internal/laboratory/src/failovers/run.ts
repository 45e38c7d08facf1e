import { setTimeout as wait } from 'node:timers/promises';
import { atTheEnd, cleanUp } from '../measure/program.ts';
import { Pair } from './pair.ts';
import { type Outcome, runUnderLoad, type Watch } from './run-under-load.ts';

export interface RunOptions {
  readonly rounds: number;
  /** Whether a commit waits for the standby; without it the run is the control. */
  readonly isSynchronous: boolean;
  readonly onRound: (round: Round) => void;
}

/** One death of a primary. */
export interface Round {
  /** Whether the standby was cut off for a moment before. */
  readonly isStalled: boolean;
  /** Requests that waited for their answer when the primary was killed. */
  readonly underWay: number;
  /** Acknowledged while the standby was cut off. */
  readonly acknowledgedInStall: number;
  /** From the kill to the next answer of 200, in milliseconds. The death need not be noticed: the test knows. */
  readonly recoveryMs: number;
}

/** So many payments are acknowledged between two deaths, at least. */
const BETWEEN = 150;
/** Of those, so many after the promotion. */
const AFTER = 50;
/** So many while the standby of the control is cut off: more than can be on their way at that moment. */
const IN_STALL = 50;
const PAUSE_MS = 60;

/** Kills the primary under load and promotes its standby, round after round, and counts what is left. */
export async function run({ rounds, isSynchronous, onRound }: RunOptions): Promise<Outcome<Round>> {
  try {
    const pair = await Pair.start(isSynchronous);
    atTheEnd(() => pair.stop());
    await pair.addStandby();
    const { url } = pair;
    const ground = { url, adminUrl: url, pauseMs: PAUSE_MS, rounds, onRound };
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
    // With a synchronous standby, none would come.
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
  return { isStalled, underWay, acknowledgedInStall, recoveryMs };
}
