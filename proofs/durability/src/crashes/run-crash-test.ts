import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { judgeHistory, type Verdict } from '../history/judge-history.ts';
import { runLeaseQueue } from '../history/lease-queue.ts';
import { Load, readRequests } from '../history/load.ts';
import { paymentsFor } from '../history/payment-plan.ts';
import { OPEN } from '../history/remains.ts';
import { seededRandom } from '../history/seeded-random.ts';
import { atTheEnd, makeFolder, stopped } from '../measure/program.ts';
import type { Result } from '../measure/results.ts';
import { stuckWatch } from '../measure/until.ts';
import { countTransitions, postgresDatabase, sqliteDatabase } from './databases.ts';
import { steppingClock } from './faults/clock.ts';
import type { Fault, FaultParts } from './faults/fault.ts';
import { fullDisk } from './faults/full-disk.ts';
import { stall } from './faults/stall.ts';
import { twoVersions } from './faults/two-versions.ts';
import { volume } from './faults/volume.ts';
import { type Kill, Killer } from './killer.ts';
import { ManagedProcess, type ProcessParts } from './managed-process.ts';
import { withInbox } from './merchant.ts';
import type { ReceiverSettings } from './receiver-process.ts';
import type { WorkerSettings } from './worker-process.ts';

/** The names for `--fault`. */
export const RUN_FAULTS: Readonly<Record<string, (parts: FaultParts) => Promise<Fault>>> = {
  'full-disk': fullDisk,
  clock: steppingClock,
  stall,
  'two-versions': twoVersions,
};

export interface CrashTestOptions {
  readonly store: 'postgres' | 'sqlite';
  readonly kills: number;
  /** The minimum number of transitions that are sent. */
  readonly transitions: number;
  readonly seed: number;
  readonly isControl: boolean;
  /** The isolation level that PostgreSQL defaults to. */
  readonly isolation?: string | undefined;
  /** One of `RUN_FAULTS`, and the other checkout if the fault needs it. */
  readonly fault?: string | undefined;
  readonly other?: string | undefined;
}

export interface CrashTestOutcome {
  readonly verdict: Verdict;
  /** The verdict on the other control, which runs with every test. */
  readonly leaseQueue: Verdict;
  readonly payments: number;
  readonly kills: readonly Kill[];
  /** Transitions whose handlers died three times, and which an operator, here the test, sent back to the workers. */
  readonly crashLooped: number;
  readonly states: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Whether the fault of the run happened. */
  readonly happened: readonly Result[];
}

const RECEIVERS = 2;
const WORKERS = 2;
/** Payments under way at the same time. */
const AT_ONCE = 24;
/** At most this many wait for the workers, so that receivers and workers are busy until the end. */
const MAX_DUE = 400;
const NOTE = { by: 'crash-test', note: 'the process was killed, the handler is sound' };

/** One whole run: processes, load, kills and judgement. */
export async function runCrashTest(options: CrashTestOptions): Promise<CrashTestOutcome> {
  const { store, kills, seed, isControl } = options;
  const folder = await makeFolder();
  const failed = new AbortController();
  const signal = AbortSignal.any([stopped, failed.signal]);
  const stored = volume ?? folder;
  // The server creates its folder there.
  if (volume !== undefined) process.env['TMPDIR'] = volume;
  const test =
    store === 'postgres' ? await postgresDatabase(options.isolation) : sqliteDatabase(stored, isControl);
  atTheEnd(test.stop);
  const fault = await RUN_FAULTS[options.fault ?? '']?.({ test, folder, other: options.other });
  const { database = test.database, env, programs, times = 0 } = fault ?? {};
  const partsOf = (index: number): ProcessParts => {
    return { folder, env, programs: programs?.(index), onFailure: (error) => failed.abort(error) };
  };
  const receivers = Array.from({ length: RECEIVERS }, (_, index) => {
    // If there is a server that can be down: one with a spool and one without.
    const spool = store === 'postgres' && index === 0 ? join(stored, 'spool') : undefined;
    return new ManagedProcess('receiver', { database, spool } satisfies ReceiverSettings, partsOf(index));
  });
  const workers = Array.from({ length: WORKERS }, (_, index) => {
    const isDraining = index % 2 === 1;
    const settings: WorkerSettings = { database, concurrency: 4, pollMs: 20, isControl, isDraining };
    return new ManagedProcess('worker', settings, partsOf(index));
  });
  const processes = [...receivers, ...workers];
  const killer = new Killer({ processes, database: test, random: seededRandom(seed, -1), signal });
  const payments = paymentsFor(seed, options.transitions);
  const record = join(folder, 'history');
  const watch = stuckWatch();
  const killed: Kill[] = [];
  /** How many shares of the load have had their kill. */
  let shared = 0;
  let struck = 0;
  const load = new Load({
    addresses: () => receivers.flatMap(({ address }) => address ?? []),
    ...{ record, seed, payments },
    atOnce: AT_ONCE,
    firstDelayMs: 5,
    repeats: { every: 20, later: 100 },
  });
  let killing: Promise<void> = Promise.resolve();
  // Once nothing is started any more.
  atTheEnd(async () => {
    await Promise.allSettled([killing, killer.settled()]);
    await Promise.all(processes.map((one) => one.kill()));
  });
  try {
    return await toTheEnd();
  } catch (error) {
    // Otherwise the end of the run would wait for a kill that waits for the run.
    failed.abort(error);
    throw error;
  }

  async function toTheEnd(): Promise<CrashTestOutcome> {
    const started = performance.now();
    // The tables exist before anything is killed.
    await withInbox(test.database, {}, async (inbox) => {
      await inbox.ready();
      await inbox.close();
    });
    for (const one of processes) one.start();
    killing = killAlong();
    await Promise.all([killing, sendAll()]);
    await killer.settled();
    const crashLooped = await drain();
    for (const worker of workers) await worker.end();
    const seconds = Math.round((performance.now() - started) / 1000);
    const { states, ...remains } = await test.remains();
    const requests = await readRequests(record);
    const verdict = judgeHistory({ requests, ...remains });
    const happened = (await fault?.happened({ requests, receivers, workers })) ?? [];
    const leaseQueue = judgeHistory(await runLeaseQueue());
    return { verdict, leaseQueue, payments, kills: killed, states, happened, crashLooped, seconds };
  }

  /** Lets the load continue as far as the kills have come and the workers keep up. */
  async function sendAll(): Promise<void> {
    let isHeld = false;
    let shown = Date.now();
    for (let tick = 0; !load.isDone; tick++) {
      if (tick % 10 === 0)
        isHeld = ((await countTransitions(test, `${OPEN} and next_at <= ${Date.now()}`)) ?? 0) > MAX_DUE;
      const shares = shared + (struck < times ? 1 : 2);
      load.limit = isHeld ? 0 : Math.ceil((shares / kills) * payments);
      const state = `${killed.length} kills, ${load.begun} of ${payments} payments`;
      if (Date.now() - shown > 10_000) {
        shown = Date.now();
        console.log(`  ${state}`);
      }
      check(state);
      await wait(20);
    }
  }

  /** Spreads the kills over the load: the k-th comes at a random moment of the k-th share of the payments. */
  async function killAlong(): Promise<void> {
    const random = seededRandom(seed, -2);
    for (let index = 0; index < kills; index++) {
      // At the beginning of a share, so that payments are left for the fault to affect.
      if (struck < times && index + 1 > ((struck + 1) * kills) / (times + 1)) {
        await killer.settled();
        await fault?.strike?.(struck);
        struck += 1;
      }
      const moment = Math.floor(((index + random.next()) / kills) * payments);
      while (load.begun < moment) {
        signal.throwIfAborted();
        await wait(5);
      }
      killed.push(...(await killer.kill()));
      shared += 1;
    }
  }

  /**
   * After the last kill: waits until every spool is drained and every transition has its final state, and does what an operator
   * would do with transitions that no handler survived.
   *
   * @returns the number of such transitions.
   */
  async function drain(): Promise<number> {
    let sentBack = 0;
    await withInbox(test.database, {}, async (inbox) => {
      for (;;) {
        const looped = await inbox.retry({ state: 'quarantined', reason: 'crash_loop' }, NOTE);
        sentBack += looped;
        const spooled = await Promise.all(receivers.map(spooledBy));
        const open = await countTransitions(test, OPEN);
        if (looped === 0 && open === 0 && spooled.every((count) => count === 0)) break;
        check(`${open} open, ${spooled} spooled, ${looped} sent back`);
        await wait(100);
      }
      await inbox.close();
    });
    return sentBack;
  }

  function check(state: string): void {
    signal.throwIfAborted();
    watch(state);
  }
}

async function spooledBy({ address }: ManagedProcess): Promise<number | undefined> {
  if (address === undefined) return undefined;
  const response = await fetch(`${address}/spooled`).catch(() => undefined);
  return response?.status === 200 ? Number(await response.text()) : undefined;
}
