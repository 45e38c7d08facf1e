import { setTimeout as wait } from 'node:timers/promises';
import { withClient } from '../load/postgres.ts';
import { atTheEnd, cleanUp, stopped } from '../measure/program.ts';
import { readRemains, type Tally, tally } from './count.ts';
import { Load } from './load.ts';
import { Merchant } from './merchant.ts';
import { Pair } from './pair.ts';

export interface RunOptions {
  readonly rounds: number;
  /** Whether a commit waits for the standby; without it the run is the control. */
  readonly isSynchronous: boolean;
  readonly onRound?: (round: Round) => void;
}

/** One death of a primary. */
export interface Round {
  /** Whether the standby was cut off for a moment before. */
  readonly isStalled: boolean;
  /** Callbacks that waited for their answer when the primary was killed. */
  readonly underWay: number;
  /** Acknowledged while the standby was cut off. */
  readonly acknowledgedInStall: number;
  /** From the kill to the next answer of 200, in milliseconds. The death need not be noticed: the test knows. */
  readonly recoveryMs: number;
}

export interface Outcome {
  readonly rounds: readonly Round[];
  readonly tally: Tally;
  readonly states: Readonly<Record<string, number>>;
  readonly answers: number;
  readonly failures: number;
  /** Codes of the warnings that the inboxes gave at their start. */
  readonly warnings: readonly string[];
  readonly seconds: number;
}

/** So many payments are acknowledged between two deaths, at least. */
const BETWEEN = 150;
/** Of those, so many after the promotion. */
const AFTER = 50;
/** So many while the standby of the control is cut off: more than can be on their way at that moment. */
const IN_STALL = 50;
const STUCK_MS = 120_000;

/** Kills the primary under load and promotes its standby, round after round, and counts what is left. */
export async function run(options: RunOptions): Promise<Outcome> {
  const { rounds: wanted, isSynchronous, onRound } = options;
  const started = performance.now();
  try {
    const pair = await Pair.start(isSynchronous);
    atTheEnd(() => pair.stop());
    await withClient(pair.primaryUrl, (client) =>
      client.query('create table merchant_effect (reference text not null)'),
    );
    await pair.addStandby();
    const merchant = await Merchant.start(pair.url);
    atTheEnd(() => merchant.end());
    const load = new Load(merchant.addresses);
    const watch = { load, merchant };
    const rounds: Round[] = [];
    for (let index = 0; index < wanted; index++) {
      if (index > 0) await pair.addStandby();
      const isStalled = !isSynchronous || index % 2 === 0;
      const round = await failOver({ pair, isStalled, isSynchronous }, watch);
      rounds.push(round);
      onRound?.(round);
    }
    await load.stop();
    const remains = await readRemains(pair.primaryUrl);
    return {
      rounds,
      tally: tally(load.acknowledged, remains),
      states: remains.states,
      answers: load.answers,
      failures: load.failures,
      warnings: merchant.warnings,
      seconds: Math.round((performance.now() - started) / 1000),
    };
  } finally {
    await cleanUp();
  }
}

interface Watch {
  readonly load: Load;
  readonly merchant: Merchant;
}

interface RoundOptions {
  readonly pair: Pair;
  readonly isStalled: boolean;
  readonly isSynchronous: boolean;
}

async function failOver({ pair, isStalled, isSynchronous }: RoundOptions, watch: Watch): Promise<Round> {
  const { load } = watch;
  await acknowledgements(BETWEEN - AFTER, watch);
  const before = load.answers;
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
  const { underWay, answers } = load;
  const killed = performance.now();
  await pair.failOver();
  await acknowledgements(1, watch);
  const recoveryMs = Math.round(performance.now() - killed);
  await acknowledgements(AFTER, watch);
  return { isStalled, underWay, acknowledgedInStall: isStalled ? answers - before : 0, recoveryMs };
}

/** Resolves when so many more payments are acknowledged. */
async function acknowledgements(count: number, { load, merchant }: Watch): Promise<void> {
  const wanted = load.acknowledged.size + count;
  const end = performance.now() + STUCK_MS;
  while (load.acknowledged.size < wanted) {
    stopped.throwIfAborted();
    merchant.check();
    if (performance.now() > end) throw new Error(`Nothing was acknowledged for ${STUCK_MS / 1000} s.`);
    await wait(2);
  }
}
