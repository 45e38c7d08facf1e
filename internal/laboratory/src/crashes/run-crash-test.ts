import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { judgeHistory, type Verdict } from '../history/judge-history.ts';
import { runLeaseQueue } from '../history/lease-queue.ts';
import { paymentsFor } from '../history/payment-plan.ts';
import { readRequests } from '../history/record.ts';
import { seededRandom } from '../history/seeded-random.ts';
import { stuckWatch } from '../load/stuck-watch.ts';
import { atTheEnd, makeFolder, stopped } from '../measure/program.ts';
import type { Result } from '../measure/results.ts';
import { drain } from './drain.ts';
import type { Fault } from './faults/fault.ts';
import { RUN_FAULTS } from './faults/index.ts';
import { hasVolume, volume } from './faults/volume.ts';
import { type Kill, Killer } from './killer.ts';
import { ManagedProcess, type ProcessParts } from './managed-process.ts';
import { withInbox } from './merchant.ts';
import { postgresDatabase } from './postgres-database.ts';
import type { ReceiverSettings } from './receiver-process.ts';
import type { SenderOrders, SenderProgress, SenderSettings } from './sender-process.ts';
import { sqliteDatabase } from './sqlite-database.ts';
import type { TestDatabase } from './test-database.ts';
import type { WorkerSettings } from './worker-process.ts';

export interface CrashTestOptions {
  readonly store: 'postgres' | 'sqlite';
  readonly kills: number;
  /** At least so many transitions are sent. */
  readonly transitions: number;
  readonly seed: number;
  readonly isControl: boolean;
  /** One of `RUN_FAULTS`, and the other checkout for the one that needs it. */
  readonly fault?: string | undefined;
  readonly other?: string | undefined;
  readonly onProgress?: (progress: { kills: number; payments: number; of: number }) => void;
}

export interface CrashTestOutcome {
  readonly verdict: Verdict;
  /** Of the other control, which runs beside every test. */
  readonly leaseQueue: Verdict;
  readonly payments: number;
  readonly kills: readonly Kill[];
  /** Transitions whose handlers died three times and that a person, here the test, sent back to work. */
  readonly crashLooped: number;
  readonly states: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Whether the fault of the run happened. */
  readonly happened: readonly Result[];
}

const RECEIVERS = 2;
const WORKERS = 2;
const SENDERS_AT_ONCE = 24;
/** No more than this waits for the workers, so that receivers and workers are busy until the end. */
const MAX_DUE = 400;

/** One whole run: processes, load, kills, and the count. */
export async function runCrashTest(options: CrashTestOptions): Promise<CrashTestOutcome> {
  const { store, isControl } = options;
  const folder = await makeFolder();
  const failed = new AbortController();
  const signal = AbortSignal.any([stopped, failed.signal]);
  const onFailure = (error: Error): void => failed.abort(error);
  const stored = hasVolume() ? volume() : folder;
  // The server makes its folder there.
  if (hasVolume()) process.env['TMPDIR'] = stored;
  const test = store === 'postgres' ? await postgresDatabase() : sqliteDatabase(stored, isControl);
  atTheEnd(() => test.stop());
  const fault = await RUN_FAULTS[options.fault ?? '']?.({ test, folder, other: options.other });
  const run = new Run(test, { ...options, signal }, { folder, stored, onFailure, fault });
  atTheEnd(() => run.end());
  return run.toTheEnd().catch((error: unknown) => {
    // Otherwise what ends the run waits for a kill that waits for the run.
    failed.abort(error);
    throw error;
  });
}

/** As a run has them: ended early by a person, or by a process that failed. */
interface RunOptions extends CrashTestOptions {
  readonly signal: AbortSignal;
}

class Run {
  readonly #test: TestDatabase;
  readonly #options: RunOptions;
  readonly #record: string;
  readonly #receivers: readonly ManagedProcess[];
  readonly #workers: readonly ManagedProcess[];
  readonly #sender: ManagedProcess;
  readonly #processes: readonly ManagedProcess[];
  readonly #killer: Killer;
  readonly #killed: Kill[] = [];
  readonly #payments: number;
  readonly #fault: Fault | undefined;
  readonly #watch = stuckWatch();
  #killing: Promise<void> = Promise.resolve();
  #progress: SenderProgress = { begun: 0, isDone: false };

  constructor(
    test: TestDatabase,
    options: RunOptions,
    given: ProcessParts & { readonly stored: string; readonly fault: Fault | undefined },
  ) {
    const { store, seed, isControl, signal } = options;
    const { stored, fault, ...where } = given;
    const { database = test.database, env, programs } = fault ?? {};
    const partsOf = (index: number): ProcessParts => ({ ...where, env, programs: programs?.(index) });
    this.#fault = fault;
    this.#test = test;
    this.#options = options;
    this.#record = join(where.folder, 'history');
    this.#payments = paymentsFor(seed, options.transitions);
    this.#receivers = Array.from({ length: RECEIVERS }, (_, index) => {
      // One with a spool and one without, where there is a server that can be away.
      const spool = store === 'postgres' && index === 0 ? join(stored, 'spool') : undefined;
      return new ManagedProcess('receiver', { database, spool } satisfies ReceiverSettings, partsOf(index));
    });
    const worker = (isDraining: boolean): WorkerSettings => ({
      database,
      concurrency: 4,
      pollMs: 20,
      isControl,
      isDraining,
    });
    this.#workers = Array.from(
      { length: WORKERS },
      (_, index) => new ManagedProcess('worker', worker(index % 2 === 1), partsOf(index)),
    );
    const sender: SenderSettings = {
      seed,
      payments: this.#payments,
      record: this.#record,
      concurrency: SENDERS_AT_ONCE,
    };
    this.#sender = new ManagedProcess('sender', sender, where);
    const processes = [...this.#receivers, ...this.#workers];
    this.#processes = [...processes, this.#sender];
    this.#killer = new Killer({ processes, database: test, random: seededRandom(seed, -1), signal });
  }

  async toTheEnd(): Promise<CrashTestOutcome> {
    const started = performance.now();
    // The tables are there before anything is killed.
    await withInbox(this.#test.database, {}, async (inbox) => {
      await inbox.ready();
      await inbox.close();
    });
    for (const one of this.#processes) one.start();
    this.#killing = this.#killAlong();
    await Promise.all([this.#killing, this.#sendAll()]);
    await this.#killer.settled();
    const crashLooped = await drain(this.#test, this.#receivers, (state) => this.#check(state));
    for (const worker of this.#workers) await worker.end();
    const seconds = Math.round((performance.now() - started) / 1000);
    return { ...(await this.#count()), crashLooped, seconds };
  }

  /** Ends everything, once nothing is started any more. */
  async end(): Promise<void> {
    await Promise.allSettled([this.#killing, this.#killer.settled()]);
    await Promise.all(this.#processes.map((one) => one.kill()));
  }

  /** Lets the sender go on as far as the kills have come, and as the workers keep up. */
  async #sendAll(): Promise<void> {
    const { kills, onProgress } = this.#options;
    let isHeld = false;
    for (let tick = 0; !this.#progress.isDone; tick++) {
      if (tick % 10 === 0) isHeld = ((await this.#test.due()) ?? 0) > MAX_DUE;
      const allowed = Math.ceil(((this.#killed.length + 2) / kills) * this.#payments);
      const orders: SenderOrders = {
        addresses: this.#receivers.flatMap(({ address }) => (address === undefined ? [] : [address])),
        limit: isHeld ? 0 : Math.min(allowed, this.#payments),
      };
      if (this.#sender.isReady) this.#progress = await this.#sender.ask(orders);
      onProgress?.({ kills: this.#killed.length, payments: this.#progress.begun, of: this.#payments });
      this.#check(`${this.#killed.length} kills, ${this.#progress.begun} payments begun`);
      await wait(20);
    }
  }

  /** Spreads the kills over the load: the k-th comes at a random moment of the k-th share of the payments. */
  async #killAlong(): Promise<void> {
    const { kills, seed, signal } = this.#options;
    const random = seededRandom(seed, -2);
    const { times = 0, strike } = this.#fault ?? {};
    let struck = 0;
    for (let index = 0; index < kills; index++) {
      const moment = Math.floor(((index + random.next()) / kills) * this.#payments);
      while (this.#progress.begun < moment) {
        signal.throwIfAborted();
        await wait(5);
      }
      if (struck < times && index + 1 > ((struck + 1) * kills) / (times + 1)) {
        await this.#killer.settled();
        await strike?.(struck);
        struck += 1;
      }
      this.#killed.push(await this.#killer.kill());
    }
  }

  #check(state: string): void {
    this.#options.signal.throwIfAborted();
    this.#watch(state);
  }

  async #count(): Promise<Omit<CrashTestOutcome, 'crashLooped' | 'seconds'>> {
    const { effects, kept, states } = await this.#test.remains();
    const requests = await readRequests(this.#record);
    const verdict = judgeHistory({ requests, effects, kept });
    const seen = { requests, receivers: this.#receivers, workers: this.#workers };
    const happened = (await this.#fault?.happened(seen)) ?? [];
    const leaseQueue = judgeHistory(await runLeaseQueue());
    return { verdict, leaseQueue, payments: this.#payments, kills: this.#killed, states, happened };
  }
}
