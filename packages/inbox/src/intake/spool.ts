import { ConfigurationError } from '@payment-service/core';
import type { SignatureCheck } from '@payment-service/core/internal';
import type { IntakeRecord } from '../delivery/stored-delivery.ts';
import { backoff, type Settings, STORE_RETRY } from '../options.ts';
import { failureCode } from '../reporting/events.ts';
import { warn } from '../reporting/problems.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import { RouteChecks } from './route-checks.ts';
import { type KeptDelivery, SpoolFile, spoolFile } from './spool-file.ts';
import {
  damagedMessage,
  emptyMessage,
  movedMessage,
  refusedMessage,
  spooledMessage,
  waitsMessage,
} from './spool-messages.ts';
import { recordIn, spoolText } from './verified-record.ts';

const MAX_GROUP = 64;
/** A round ends after this many failures: the store is unavailable, or refuses some of the deliveries. */
const MAX_FAILED = 3;
/** A round that finds deliveries and knows no check is the usual start of a program; after this many, it says so. */
const MAX_WAITS = 3;

export interface SpoolOptions {
  /** A folder that several inboxes and processes may share. */
  readonly path: string;
  /** From `spoolOwner()`. */
  readonly owner: string;
  readonly settings: Settings;
  /** Stores a delivery, which no limit refuses. Rejects while the store is unavailable. */
  readonly store: (record: IntakeRecord) => Promise<unknown>;
}

/**
 * Keeps deliveries in a SQLite file while the store is unavailable, and stores them automatically afterwards. Each is removed after
 * the store has it. Two processes may store the same one at the same time: the store keeps it once.
 *
 * What is read there may have been written by another program, so each delivery is verified again under the keys of the routes of
 * this process (threat A66). It waits until a route is known. One that does not verify is marked as refused, and stays; it is tried
 * again with each key that becomes known, after the next start at the latest.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #path: string;
  readonly file: SpoolFile;
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #isDraining = false;
  #failures = 0;
  readonly #checks = new RouteChecks();
  /** How many checks the refused deliveries were tried with. */
  #tried = 0;
  /** How many rounds in a row have found deliveries and no check. */
  #waits = 0;
  #isClosed = false;
  /** True until the spool is empty again: each outage is reported once, and so is its end. */
  #isReported = false;
  #trouble: string | undefined;
  /**
   * While true, deliveries are spooled immediately, without waiting for the store again. Becomes false when the store accepts
   * one.
   */
  isStoreUnavailable = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#path = spoolFile(options.path);
    this.file = new SpoolFile(options.path, options.owner);
  }

  /** What happened to the file while deliveries waited in it, and what to do. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Looks for what earlier processes left. */
  start(): void {
    this.#schedule(0);
  }

  /** A check of a route whose callbacks this inbox receives: deliveries that it verifies are stored. */
  readonly trust = (check: SignatureCheck): void => {
    this.#checks.add(check);
    if (this.#waits === 0) return;
    this.#waits = 0;
    // A round that is under way schedules the next one.
    if (this.#isDraining) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule(0);
  };

  /** The number of deliveries of this owner that are not in the store yet, including refused ones. */
  async count(): Promise<number> {
    return (await this.file.list()).length;
  }

  /**
   * @param signature The value of `hmac-signature`. Without it, the delivery could not be verified later, so it is not kept.
   * @param failure Why the store did not accept it.
   * @returns false if it could not be kept here.
   */
  async keep(record: IntakeRecord, signature: string | undefined, failure: string): Promise<boolean> {
    if (signature === undefined) return false;
    try {
      if (!(await this.file.add(record.transitionId, spoolText(record, signature)))) return false;
      this.#schedule(this.#pause());
      this.#report(true, spooledMessage(this.#path, failure));
      return true;
    } catch (error) {
      await this.#tell(error);
      return false;
    }
  }

  #report(isSpooling: boolean, message: string): void {
    if (this.#isReported === isSpooling) return;
    this.#isReported = isSpooling;
    const kind = isSpooling ? 'callbacks_spooled' : 'callbacks_stored';
    warn(this.#options.settings.report, kind, message);
  }

  /** An error of the file. */
  async #tell(error: unknown): Promise<void> {
    const failure = failureCode(error);
    this.#options.settings.emit({ name: 'spool.failed', failure });
    if (failure === FILE_CHANGED) await this.#lookAtMoved();
    if (isDamage(error)) this.#setTrouble(damagedMessage(this.#path, failure));
  }

  /** The file that is open was moved. If nothing waits in it, the next one takes its place. */
  async #lookAtMoved(): Promise<void> {
    try {
      const waiting = (await this.file.list()).filter(({ isRefused }) => !isRefused);
      if (waiting.length === 0) await this.file.close();
      else this.#setTrouble(movedMessage(this.#path, waiting.length));
    } catch (error) {
      await this.#tell(error);
    }
  }

  /** Reported once. */
  #setTrouble(message: string): void {
    if (this.#trouble === undefined) warn(this.#options.settings.report, 'spool_lost', message);
    this.#trouble = message;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.allSettled([this.#draining]);
    await this.file.close();
  }

  #pause(): number {
    return backoff(this.#failures + 1, { ...this.#options.settings, retry: STORE_RETRY });
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#draining = this.#drain();
    }, ms).unref();
  }

  /** The first alone, then larger and larger groups. A delivery that the store refuses fails with its whole group. */
  async #drain(): Promise<void> {
    const { emit, random, report } = this.#options.settings;
    let [taken, failed, size, refused] = [0, 0, 1, 0];
    let failure: string | undefined;
    let isWaiting = false;
    const { known } = this.#checks;
    this.#isDraining = true;
    try {
      await this.file.takeFormer();
      // First: nothing is added to a file that was moved.
      const isMoved = await this.file.isMoved();
      const all = await this.file.list();
      if (isMoved) await this.#lookAtMoved();
      else this.#trouble = undefined;
      const waiting = all.filter(({ isRefused }) => !isRefused);
      if (waiting.length === 0) this.#report(false, emptyMessage(all.length));
      isWaiting = known === 0 && waiting.length > 0;
      const tried = known === 0 ? [] : known === this.#tried ? waiting : all;
      // After a failure, starting at a random one, since the store may never accept the first ones.
      const start = this.#failures === 0 ? 0 : Math.floor(random() * tried.length);
      const left = [...tried.slice(start), ...tried.slice(0, start)].map(({ id }) => id);
      while (left.length > 0 && failed < MAX_FAILED && !this.#isClosed) {
        const group = await this.#storeGroup(left.splice(0, size), isMoved);
        taken += group.stored;
        refused += group.refused;
        if (taken > 0) this.isStoreUnavailable = false;
        if (group.rejected === undefined) size = Math.min(MAX_GROUP, size * 2);
        else [failed, failure] = [failed + 1, failureCode(group.rejected.reason)];
        // The next callback gets this error instead of a place in the spool, from which nothing would ever be stored.
        if (group.rejected?.reason instanceof ConfigurationError || failure === FILE_CHANGED)
          this.isStoreUnavailable = false;
      }
      if (failure === undefined) {
        this.isStoreUnavailable = false;
        this.#tried = known;
      }
      this.#failures = failure === undefined ? 0 : taken > 0 ? 1 : this.#failures + 1;
      const isDone = taken > 0 && left.length === 0 && failure === undefined;
      if (isDone && !isMoved) await this.file.shrink();
      // All that it holds is stored. The next one takes its place.
      if (isDone && isMoved) await this.file.close();
    } catch (error) {
      this.#failures += 1;
      await this.#tell(error);
      // What is there in the next round may be another file.
      if (isDamage(error)) await this.file.close();
    }
    const pauseMs = taken > 0 || failure !== undefined ? this.#pause() : STORE_RETRY.longestDelayMs;
    if (refused > 0) warn(report, 'spool_refused', refusedMessage(this.#path, refused));
    if (failure !== undefined) emit({ name: 'store.unavailable', failure, retryInMs: pauseMs });
    if (taken > 0) emit({ name: 'spool.drained', count: taken });
    this.#timer = undefined;
    this.#isDraining = false;
    if (!isWaiting) this.#schedule(pauseMs);
    else if (this.#checks.known === 0) this.#wait();
    else this.#schedule(0);
  }

  /** No check is known: `trust()` ends the wait. */
  #wait(): void {
    const { settings } = this.#options;
    this.#waits += 1;
    if (this.#waits === MAX_WAITS) warn(settings.report, 'spool_waits', waitsMessage(this.#path));
    this.#schedule(backoff(this.#waits, { ...settings, retry: STORE_RETRY }));
  }

  /** @returns How many were stored and are refused now, and the first that the store did not accept. */
  async #storeGroup(
    ids: readonly string[],
    isMoved: boolean,
  ): Promise<{ stored: number; refused: number; rejected: PromiseRejectedResult | undefined }> {
    const { settings, store } = this.#options;
    const stored: string[] = [];
    let refused = 0;
    const storeOne = async ({ id, text, isRefused }: KeptDelivery): Promise<void> => {
      let record: IntakeRecord | undefined;
      let isDamaged = false;
      try {
        record = recordIn(text, settings.account, this.#checks.verify);
      } catch {
        isDamaged = true;
      }
      if (record !== undefined) {
        await store(record);
        stored.push(id);
      } else if (!isRefused && !isMoved && (await this.file.refuse(id))) {
        refused += 1;
        settings.emit({ name: 'spool.refused', isDamaged });
      }
    };
    const results = await Promise.allSettled((await this.file.read(ids)).map(storeOne));
    if (!isMoved) await this.file.remove(stored);
    const rejected = results.find((result) => result.status === 'rejected');
    return { stored: stored.length, refused, rejected };
  }
}

/** By SQLite's primary codes: the file is damaged, or is not a database. */
function isDamage(error: unknown): boolean {
  return [11, 26].includes(Object(error).errcode % 256);
}
