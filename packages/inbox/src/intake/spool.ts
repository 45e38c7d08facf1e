import { randomUUID } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import type { SignatureCheck } from '@payment-service/core/internal';
import type { IntakeRecord } from '../delivery/stored-delivery.ts';
import { backoff, STORE_RETRY } from '../options.ts';
import { failureCode } from '../reporting/events.ts';
import { warn } from '../reporting/problems.ts';
import { openFilesMessage } from '../store/own-files.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import { KeptFiles, type KeptFilesOptions } from './kept-files.ts';
import { RouteChecks } from './route-checks.ts';
import {
  closeSpool,
  DELIVERY,
  makeFolder,
  namesIn,
  REFUSED,
  refuseFile,
  syncFolder,
  writeTemporary,
} from './spool-folder.ts';
import { emptyMessage, refusedMessage, spooledMessage, waitsMessage } from './spool-messages.ts';
import { MAX_BODIES, recordIn, spoolText } from './verified-record.ts';

const MAX_GROUP = 64;
/** A round ends after this many failures: the store is unavailable, or refuses some of the deliveries. */
const MAX_FAILED = 3;
/** A round that finds files and knows no check is the usual start of a program; after this many, it says so. */
const MAX_WAITS = 3;
/** The smallest unit of a disk. */
const BLOCK = ' '.repeat(4096);

/** Its `path` is a folder that several inboxes and processes may share. */
export interface SpoolOptions extends KeptFilesOptions {
  /** From `spoolOwner()`. */
  readonly owner: string;
  /** Stores a delivery, which no limit refuses. Rejects while the store is unavailable. */
  readonly store: (record: IntakeRecord) => Promise<unknown>;
}

/**
 * Keeps deliveries in a folder while the store is unavailable, each in a synced file, and stores them automatically afterwards.
 * A file is complete from the moment it has its name, `<owner>-<milliseconds since 1970>-<UUID>.json`, and is removed
 * after the store has its delivery. Two processes may store the same one at the same time: the store keeps it once.
 *
 * What is read there may have been written by another program, so each file is verified again under the keys of the routes of
 * this process (threat A66). It waits until a route is known. A file that does not verify gets another name, which ends in
 * `.refused`, and stays; it is tried again with each key that becomes known, after the next start at the latest.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #prefix: string;
  /** How many bodies of each transition are here, so that a flood of forged ones cannot fill the disk. */
  readonly #counts = new Map<string, number>();
  /** How many writes have begun. */
  #begun = 0;
  readonly #writing = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #isDraining = false;
  #failures = 0;
  readonly kept: KeptFiles;
  readonly #checks = new RouteChecks();
  /** How many checks the refused files were tried with. */
  #tried = 0;
  /** How many rounds in a row have found files and no check. */
  #waits = 0;
  #isClosed = false;
  /** What an earlier build left readable was looked for. */
  #isClosedToOthers = false;
  /** True until the folder is empty again: each outage is reported once, and so is its end. */
  #isReported = false;
  /**
   * While true, deliveries are spooled immediately, without waiting for the store again. Becomes false when the store accepts
   * one.
   */
  isStoreUnavailable = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#prefix = `${options.owner}-`;
    this.kept = new KeptFiles(options);
  }

  /** Looks for what earlier processes left. */
  start(): void {
    this.#schedule(0);
  }

  /** A check of a route whose callbacks this inbox receives: files that it verifies are stored. */
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

  /** Rejects if the path is that of a file, and with the error of the file system if nothing can be written. */
  async check(): Promise<void> {
    const { path } = this.#options;
    // A new folder would prevent an operator from restoring the one that is missing.
    this.kept.check();
    await makeFolder(path);
    // The process that created the folder may have ended before doing this.
    await syncFolder(dirname(path));
    await rm(await writeTemporary(path, BLOCK));
  }

  /** The number of deliveries of this owner that are not in the store yet, including refused ones. */
  async count(): Promise<number> {
    return (await this.#names()).length;
  }

  /**
   * @param signature The value of `hmac-signature`. Without it, the delivery could not be verified later, so it is not kept.
   * @param failure Why the store did not accept it.
   * @returns false if it could not be kept here.
   */
  async keep(record: IntakeRecord, signature: string | undefined, failure: string): Promise<boolean> {
    if (signature === undefined) return false;
    const count = this.#counts.get(record.transitionId) ?? 0;
    if (count >= MAX_BODIES) return false;
    this.#counts.set(record.transitionId, count + 1);
    this.#begun += 1;
    const writing = this.#write(record, signature);
    this.#writing.add(writing);
    try {
      await writing;
      this.#schedule(this.#pause());
      this.#report(true, spooledMessage(this.#options.path, failure));
      return true;
    } catch (error) {
      this.#options.settings.emit({ name: 'spool.failed', failure: failureCode(error) });
      return false;
    } finally {
      this.#writing.delete(writing);
    }
  }

  #report(isSpooling: boolean, message: string): void {
    if (this.#isReported === isSpooling) return;
    this.#isReported = isSpooling;
    const kind = isSpooling ? 'callbacks_spooled' : 'callbacks_stored';
    warn(this.#options.settings.report, kind, message);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.allSettled([this.#draining, ...this.#writing]);
    this.kept.release();
  }

  /** In the order of time, with the refused ones. */
  async #names(): Promise<string[]> {
    const names = await namesIn(this.#options.path);
    return names.filter((name) => name.startsWith(this.#prefix) && DELIVERY.test(name));
  }

  /** Resolves when the file and its name are on the disk. */
  async #write(record: IntakeRecord, signature: string): Promise<void> {
    const { path } = this.#options;
    this.kept.check();
    await makeFolder(path);
    this.kept.hold();
    const temporary = await writeTemporary(path, spoolText(record, signature));
    const name = `${this.#prefix}${Date.now()}-${randomUUID()}.json`;
    await rename(temporary, join(path, name));
    await syncFolder(path);
    this.kept.check();
    this.kept.add(name, record);
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
    const { path, settings } = this.#options;
    const { emit, random, report } = settings;
    let [taken, failed, size, refused] = [0, 0, 1, 0];
    let failure: string | undefined;
    let isWaiting = false;
    const { known } = this.#checks;
    this.#isDraining = true;
    try {
      await this.#closeToOthers();
      // A file that is being written has no name yet, so an empty folder proves nothing then.
      const [isQuiet, begun] = [this.#writing.size === 0, this.#begun];
      const written = this.kept.names;
      const all = await this.#names();
      failure = await this.kept.lookFor(written, all);
      const waiting = all.filter((name) => !name.endsWith(REFUSED));
      const others = all.length - waiting.length;
      if (waiting.length === 0 && failure === undefined && isQuiet && begun === this.#begun) {
        this.#counts.clear();
        this.kept.release();
        this.#report(false, emptyMessage(others, this.kept.gone));
      }
      isWaiting = known === 0 && waiting.length > 0;
      const names = known === 0 ? [] : known === this.#tried ? waiting : all;
      // After a failure, starting at a random one, since the store may never accept the first ones.
      const start = this.#failures === 0 ? 0 : Math.floor(random() * names.length);
      const left = [...names.slice(start), ...names.slice(0, start)];
      while (left.length > 0 && failed < MAX_FAILED && !this.#isClosed) {
        const results = await Promise.allSettled(left.splice(0, size).map((name) => this.#storeFile(name)));
        const rejected = results.find((result) => result.status === 'rejected');
        const ends = results.map((result) => (result.status === 'fulfilled' ? result.value : undefined));
        taken += ends.filter((end) => end === 'stored').length;
        refused += ends.filter((end) => end === 'refused').length;
        if (taken > 0) this.isStoreUnavailable = false;
        if (rejected === undefined) size = Math.min(MAX_GROUP, size * 2);
        else [failed, failure] = [failed + 1, failureCode(rejected.reason)];
        // The next callback gets this error instead of a file that nothing would ever store.
        if (rejected?.reason instanceof ConfigurationError || failure === FILE_CHANGED)
          this.isStoreUnavailable = false;
      }
      if (failure === undefined) {
        this.isStoreUnavailable = false;
        this.#tried = known;
      }
      this.#failures = failure === undefined ? 0 : taken > 0 ? 1 : this.#failures + 1;
    } catch (error) {
      this.#failures += 1;
      emit({ name: 'spool.failed', failure: failureCode(error) });
    }
    const pauseMs = taken > 0 || failure !== undefined ? this.#pause() : STORE_RETRY.longestDelayMs;
    if (refused > 0) warn(report, 'spool_refused', refusedMessage(path, refused));
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
    const { path, settings } = this.#options;
    this.#waits += 1;
    if (this.#waits === MAX_WAITS) warn(settings.report, 'spool_waits', waitsMessage(path));
    this.#schedule(backoff(this.#waits, { ...settings, retry: STORE_RETRY }));
  }

  /** Once: everything that is written from now on is closed to others from its first byte. */
  async #closeToOthers(): Promise<void> {
    if (this.#isClosedToOthers) return;
    const { path, settings } = this.#options;
    const open = await closeSpool(path);
    this.#isClosedToOthers = true;
    if (open.length > 0) warn(settings.report, 'files_readable', openFilesMessage(open));
  }

  /** @returns `refused` the first time only; undefined if another process has taken it, or it cannot be read. */
  async #storeFile(name: string): Promise<'stored' | 'refused' | undefined> {
    const { path, settings, store } = this.#options;
    let text: string;
    try {
      text = await readFile(join(path, name), 'utf8');
    } catch (error) {
      const failure = failureCode(error);
      if (failure !== 'ENOENT') settings.emit({ name: 'spool.failed', failure });
      return undefined;
    }
    let record: IntakeRecord | undefined;
    let isDamaged = false;
    try {
      record = recordIn(text, settings.account, this.#checks.verify);
    } catch {
      isDamaged = true;
    }
    if (record === undefined) {
      if (name.endsWith(REFUSED) || !(await refuseFile(path, name))) return undefined;
      this.kept.remove(name);
      settings.emit({ name: 'spool.refused', isDamaged });
      return 'refused';
    }
    await store(record);
    await rm(join(path, name), { force: true });
    this.kept.remove(name);
    return 'stored';
  }
}
