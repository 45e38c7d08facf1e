import { setTimeout as wait } from 'node:timers/promises';
import { stuckWatch } from '../load/stuck-watch.ts';
import { atTheEnd, cleanUp, stopped } from '../measure/program.ts';
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
export async function run({ rounds: wanted, isSynchronous, onRound }: RunOptions): Promise<Outcome<Round>> {
  try {
    const pair = await Pair.start(isSynchronous);
    atTheEnd(() => pair.stop());
    await pair.addStandby();
    const database = { url: pair.url, adminUrl: pair.url };
    const { outcome } = await runUnderLoad(database, PAUSE_MS, async (watch) => {
      const rounds: Round[] = [];
      for (let index = 0; index < wanted; index++) {
        if (index > 0) await pair.addStandby();
        const isStalled = !isSynchronous || index % 2 === 0;
        const round = await failOver({ pair, isStalled, isSynchronous }, watch);
        rounds.push(round);
        onRound(round);
      }
      return rounds;
    });
    return outcome;
  } finally {
    await cleanUp();
  }
}

interface RoundOptions {
  readonly pair: Pair;
  readonly isStalled: boolean;
  readonly isSynchronous: boolean;
}

async function failOver({ pair, isStalled, isSynchronous }: RoundOptions, watch: Watch): Promise<Round> {
  const { load } = watch;
  await acknowledgements(BETWEEN - AFTER, watch);
  const before = load.acknowledged;
  if (isStalled) {
    pair.stallStandby();
    await wait(200 + 300 * Math.random());
    // With a synchronous standby, none would come.
    if (!isSynchronous) await acknowledgements(IN_STALL, watch);
  } else {
    await wait(100 * Math.random());
  }
  // A moment at which callbacks are on their way.
  for (let turn = 0; load.underWay === 0 && turn < 1000; turn++) await wait(1);
  const { underWay, acknowledged } = load;
  const killed = performance.now();
  await pair.failOver();
  await acknowledgements(1, watch);
  const recoveryMs = Math.round(performance.now() - killed);
  await acknowledgements(AFTER, watch);
  return { isStalled, underWay, acknowledgedInStall: isStalled ? acknowledged - before : 0, recoveryMs };
}

/** Resolves when so many more payments are acknowledged. */
async function acknowledgements(count: number, { load, merchant }: Watch): Promise<void> {
  const wanted = load.acknowledged + count;
  const watch = stuckWatch();
  while (load.acknowledged < wanted) {
    stopped.throwIfAborted();
    merchant.check();
    watch(`${load.acknowledged} payments acknowledged`);
    await wait(10);
  }
}
