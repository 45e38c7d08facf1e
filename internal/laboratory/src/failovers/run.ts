import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EFFECT_TABLE } from '../history/effects.ts';
import { judgeHistory, type Verdict } from '../history/judge-history.ts';
import { drained, readRemains } from '../history/postgres-remains.ts';
import { readRequests } from '../history/record.ts';
import { withClient } from '../load/postgres.ts';
import { atTheEnd, cleanUp, makeFolder, stopped } from '../measure/program.ts';
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
  /** Requests that waited for their answer when the primary was killed. */
  readonly underWay: number;
  /** Acknowledged while the standby was cut off. */
  readonly acknowledgedInStall: number;
  /** From the kill to the next answer of 200, in milliseconds. The death need not be noticed: the test knows. */
  readonly recoveryMs: number;
}

export interface Outcome {
  readonly rounds: readonly Round[];
  readonly verdict: Verdict;
  readonly states: Readonly<Record<string, number>>;
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
    await withClient(pair.primaryUrl, (client) => client.query(EFFECT_TABLE));
    const record = join(await makeFolder(), 'history');
    await pair.addStandby();
    const merchant = await Merchant.start(pair.url);
    atTheEnd(() => merchant.end());
    const load = new Load({ addresses: merchant.addresses, record, seed: randomInt(1_000_000) });
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
    const { states, effects, kept } = await withClient(pair.primaryUrl, async (client) => {
      await drained(client);
      return readRemains(client);
    });
    return {
      rounds,
      verdict: judgeHistory({ requests: await readRequests(record), effects, kept }),
      states,
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
  const end = performance.now() + STUCK_MS;
  while (load.acknowledged < wanted) {
    stopped.throwIfAborted();
    merchant.check();
    if (performance.now() > end) throw new Error(`Nothing was acknowledged for ${STUCK_MS / 1000} s.`);
    await wait(2);
  }
}
