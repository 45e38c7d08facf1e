import { ConfigurationError, UnavailableError } from '@payment-service/core';
import type { IntakeRecord } from '../delivery/stored-delivery.ts';
import type { Settings } from '../options.ts';
import { failureCode } from '../reporting/events.ts';
import { warn } from '../reporting/problems.ts';
import type { Readiness } from '../store/readiness.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import type { Call } from '../store/store.ts';
import { pause, TimedOut, within } from '../time.ts';
import { type IntakeOutcome, type KeepContext, keepFirsts, keepOthers } from './keep-deliveries.ts';
import type { Spool } from './spool.ts';
import { MAX_BODIES } from './verified-record.ts';

export interface IntakeOptions<Tx> {
  readonly settings: Settings;
  readonly keeping: KeepContext<Tx>;
  readonly readiness: Readiness<Tx>;
  readonly spool: Spool | undefined;
  readonly workers: {
    /** What wakes the workers of other processes, if it can be sent with so many callbacks. */
    wakeCall(count: number): Call | undefined;
    /** Called before the replies are sent, so that a worker can already begin. @param isTold other processes were notified. */
    kept(count: number, isTold: boolean): void;
  };
}

/** How long to wait for a transition that another process holds. */
const BUSY_MS = 20;

/** The store is available: only this transition waits. */
class TransitionBusy extends Error {
  readonly code = 'EBUSY';
  override readonly message =
    'Another transaction locked this transition for longer than storeTimeoutMs, so this callback is not acknowledged and the sender is ' +
    'asked to retry. Look for a transaction that stays open after expect({ tx }), or for a lock that you hold on the inbox tables.';
}

/** Keeps deliveries in the store, or in the spool while the store is unavailable; reports those that neither can keep. */
export class Intake<Tx> {
  readonly #options: IntakeOptions<Tx>;
  /** First deliveries do not wait for transitions that are already known (threat A59). */
  readonly #firsts = new Group((records: readonly IntakeRecord[]) => this.#keepFirsts(records));
  readonly #others = new Group((records: readonly IntakeRecord[]) => this.#keepOthers(records), 1);
  #isFailing = false;
  /** True until a callback is kept again: each change is reported once. */
  #isFileChanged = false;

  constructor(options: IntakeOptions<Tx>) {
    this.#options = options;
  }

  /**
   * @param signature The value of its `hmac-signature`, for the spool.
   * @throws {UnavailableError} If the delivery could not be kept, so it must not be acknowledged.
   */
  async receive(record: IntakeRecord, signature: string | undefined): Promise<void> {
    const { settings, spool } = this.#options;
    const started = performance.now();
    const seen = (): { transitionId: string; durationMs: number } => ({
      transitionId: record.transitionId,
      durationMs: Math.round((performance.now() - started) * 1000) / 1000,
    });
    const spooled = (): void => settings.emit({ name: 'callback.spooled', ...seen() });
    if (spool?.isStoreUnavailable === true && (await spool.keep(record, signature, 'unavailable')))
      return spooled();
    let outcome: IntakeOutcome;
    try {
      outcome = await this.store(record);
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      if (isOfTables(error)) {
        await this.#options.readiness.checkTables().catch((changed: unknown) => {
          if (changed instanceof ConfigurationError) throw changed;
        });
      }
      const failure = failureCode(error);
      // The spool is beside the file, and may be in the wrong place as well.
      const isMisplaced = failure === FILE_CHANGED;
      if (isMisplaced) this.#warnOfFile(error);
      if (spool !== undefined && !isMisplaced) {
        // Before the delivery is kept: storing it ends this, which can happen while the call still waits.
        if (!(error instanceof TransitionBusy)) spool.isStoreUnavailable = true;
        if (await spool.keep(record, signature, failure)) return spooled();
      }
      settings.emit({ name: 'callback.unavailable', failure, ...seen() });
      if (error instanceof TransitionBusy || (isMisplaced && error instanceof Error))
        throw new UnavailableError(error.message);
      throw new UnavailableError(
        `The store of the inbox did not keep this callback (${failure}), so it is not acknowledged and the sender is asked ` +
          `to retry. ${spool?.trouble ?? 'Restore the database. With the option spool, callbacks would be kept meanwhile.'}`,
      );
    }
    this.#isFileChanged = false;
    const isEvidence = record.refusal !== null;
    settings.emit({ name: 'callback.received', outcome, isEvidence, ...seen() });
    if (outcome !== 'full') return;
    throw new UnavailableError(
      `${MAX_BODIES} different bodies of this transition are already kept, and this one does not equal the expectation, so ` +
        'it is not acknowledged. Inspect the payment with payment() and its reports with report(), and call expect() for its reference.',
      { retryAfterSeconds: 60 },
    );
  }

  #warnOfFile(error: unknown): void {
    if (this.#isFileChanged) return;
    this.#isFileChanged = true;
    warn(this.#options.settings.report, 'database_file_changed', Object(error).message);
  }

  /** Within `storeTimeoutMs`, including the wait for a group. */
  async store(record: IntakeRecord): Promise<IntakeOutcome> {
    const { storeTimeoutMs, random } = this.#options.settings;
    const end = performance.now() + storeTimeoutMs;
    let outcome: IntakeOutcome | 'busy' | undefined = await this.#firsts.add(record, storeTimeoutMs);
    while (outcome === undefined || outcome === 'busy') {
      const pauseMs = outcome === 'busy' ? BUSY_MS * (0.5 + random()) : 0;
      if (performance.now() + pauseMs >= end) throw new TransitionBusy();
      if (pauseMs > 0) await pause(pauseMs);
      const wasBusy = outcome === 'busy';
      // A pause may end late.
      const leftMs = Math.max(1, end - performance.now());
      outcome = await this.#others.add(record, leftMs).catch((error: unknown) => {
        // The store has answered before: only the rest of the time was too short for its next answer.
        throw wasBusy && error instanceof TimedOut ? new TransitionBusy() : error;
      });
    }
    return outcome;
  }

  async #keepFirsts(records: readonly IntakeRecord[]): Promise<readonly (IntakeOutcome | undefined)[]> {
    const { keeping, workers } = this.#options;
    const { statements, limitMs } = keeping;
    const isFailing = this.#isFailing;
    const after = isFailing ? undefined : workers.wakeCall(records.length);
    try {
      // After a failure, in a transaction with limits: without them, a statement that waits for a lock keeps its connection on
      // the server after its callers have timed out.
      const keep = (tx?: Tx): ReturnType<typeof keepFirsts> => keepFirsts(keeping, records, tx, after);
      const run = () => (isFailing ? statements.limited(limitMs, keep) : keep());
      const outcomes = await this.#withinLimit(run, after !== undefined);
      this.#isFailing = false;
      return outcomes;
    } catch (error) {
      this.#isFailing = true;
      throw error;
    }
  }

  #keepOthers(records: readonly IntakeRecord[]): Promise<readonly (IntakeOutcome | 'busy')[]> {
    const { statements, limitMs } = this.#options.keeping;
    return this.#withinLimit(() => statements.limited(limitMs, (tx) => keepOthers(statements, records, tx)));
  }

  #withinLimit<O extends IntakeOutcome | 'busy' | undefined>(
    keep: () => Promise<readonly O[]>,
    isTold = false,
  ): Promise<readonly O[]> {
    const { readiness, keeping, workers } = this.#options;
    const keepAndTell = async (): Promise<readonly O[]> => {
      await readiness.takesCallbacks();
      const outcomes = await keep();
      const kept = outcomes.filter((outcome) => outcome !== undefined && !['busy', 'full'].includes(outcome));
      if (kept.length > 0) workers.kept(kept.length, isTold);
      return outcomes;
    };
    return within(keeping.limitMs, keepAndTell());
  }
}

/** A statement that the database refuses: SQLSTATE classes 23 and 42, or SQLITE_ERROR or SQLITE_CONSTRAINT. */
function isOfTables(error: unknown): boolean {
  const sqlite = /^SQLITE_(\d+)$/.exec(failureCode(error));
  if (sqlite) return [1, 19].includes(Number(sqlite[1]) % 256);
  return /^(23|42)/.test(failureCode(error));
}

type Waiting<T, R> = PromiseWithResolvers<R> & { readonly item: T };

const MAX_GROUP = 64;
/** Above this, further items are refused immediately: the database cannot keep up. */
const MAX_WAITING = 5000;

/** Group commit: items that arrive while a group is under way go into the next one, and share its round trip and its fsync. */
export class Group<T, R> {
  readonly #sendAll: (items: readonly T[]) => Promise<readonly R[]>;
  readonly #waiting = new Set<Waiting<T, R>>();
  readonly #maxConcurrency: number;
  #underWay = 0;
  #isScheduled = false;

  /**
   * @param sendAll Returns its results in the order of the items.
   * @param maxConcurrency How many groups are under way at the same time. Another one starts only when it is full: fewer,
   * larger groups cost the server less. @default 2
   */
  constructor(sendAll: (items: readonly T[]) => Promise<readonly R[]>, maxConcurrency = 2) {
    this.#sendAll = sendAll;
    this.#maxConcurrency = maxConcurrency;
  }

  /** @throws {TimedOut} After `timeoutMs`, and the item is then not sent; immediately if too many items wait. */
  async add(item: T, timeoutMs: number): Promise<R> {
    if (this.#waiting.size >= MAX_WAITING) throw new TimedOut();
    const waiting = { item, ...Promise.withResolvers<R>() };
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      waiting.reject(new TimedOut());
    }, timeoutMs);
    this.#waiting.add(waiting);
    this.#schedule();
    return waiting.promise.finally(() => clearTimeout(timer));
  }

  /** Once for everything that arrives in this turn of the event loop, so that the first item is not sent alone. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (
        this.#waiting.size > 0 &&
        (this.#underWay === 0 || (this.#underWay < this.#maxConcurrency && this.#waiting.size >= MAX_GROUP))
      ) {
        void this.#send([...this.#waiting].slice(0, MAX_GROUP));
      }
    });
  }

  async #send(group: readonly Waiting<T, R>[]): Promise<void> {
    for (const waiting of group) this.#waiting.delete(waiting);
    this.#underWay += 1;
    try {
      const results = await this.#sendAll(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#schedule();
    }
  }
}
