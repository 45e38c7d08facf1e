import { failureCode } from '../events.ts';
import type { Settings } from '../options.ts';
import { type IntakeRecord, MAX_BODIES } from './record.ts';
import { SpoolFolder } from './spool-folder.ts';

const MAX_GROUP = 64;
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;
/** A round ends after so many failures: the store is unavailable, or refuses some of the deliveries. */
const MAX_FAILED = 3;

export interface SpoolOptions {
  readonly path: string;
  /** The account, and where it is stored: distinguishes the inboxes that share the folder. */
  readonly owner: string;
  readonly settings: Settings;
  /** Stores a delivery, which no limit refuses. Rejects while the store is unavailable. */
  readonly store: (record: IntakeRecord) => Promise<unknown>;
}

/**
 * Keeps deliveries in a folder while the store is unavailable, and stores them automatically afterwards. A file is removed only
 * after the store has its delivery. Two processes may store the same one at the same time: the store keeps it once.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #folder: SpoolFolder;
  /** How many bodies of a transition are here: a flood of forged ones cannot fill the disk. */
  readonly #counts = new Map<string, number>();
  readonly #writing = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #failures = 0;
  #isClosed = false;
  /** While true, deliveries come here immediately, without waiting for the store again. */
  isStoreUnavailable = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#folder = new SpoolFolder(options.path, options.owner, options.settings.emit);
  }

  /** Looks for what earlier processes left. */
  start(): void {
    this.#schedule(0);
  }

  check(): Promise<void> {
    return this.#folder.check();
  }

  /** How many deliveries of this owner wait here. */
  async count(): Promise<number> {
    return (await this.#folder.names()).length;
  }

  /** @returns false when it could not be kept here. */
  async keep(record: IntakeRecord): Promise<boolean> {
    const count = this.#counts.get(record.transitionId) ?? 0;
    if (count >= MAX_BODIES) return false;
    this.#counts.set(record.transitionId, count + 1);
    const writing = this.#folder.write(record);
    this.#writing.add(writing);
    try {
      await writing;
      this.#schedule(this.#pause());
      return true;
    } catch (error) {
      this.#options.settings.emit({ name: 'spool.failed', failure: failureCode(error) });
      return false;
    } finally {
      this.#writing.delete(writing);
    }
  }

  /** After the store has failed. */
  keepInstead(record: IntakeRecord): Promise<boolean> {
    // Before the delivery is kept: it may be stored, which ends this, while the caller still waits.
    this.isStoreUnavailable = true;
    return this.keep(record);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.allSettled([this.#draining, ...this.#writing]);
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#draining = this.#drain();
    }, ms).unref();
  }

  #pause(): number {
    const longest = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** Math.min(this.#failures, 10));
    return Math.round(longest * (0.5 + this.#options.settings.random() / 2));
  }

  async #drain(): Promise<void> {
    const { emit } = this.#options.settings;
    let pauseMs = MAX_PAUSE_MS;
    try {
      const { taken, failure } = await this.#round();
      this.#failures = failure === undefined ? 0 : taken > 0 ? 1 : this.#failures + 1;
      if (taken > 0 || failure !== undefined) pauseMs = this.#pause();
      if (failure === undefined) this.isStoreUnavailable = false;
      else emit({ name: 'store.unavailable', failure, retryInMs: pauseMs });
      if (taken > 0) emit({ name: 'spool.drained', count: taken });
    } catch (error) {
      this.#failures += 1;
      emit({ name: 'spool.failed', failure: failureCode(error) });
    }
    this.#timer = undefined;
    this.#schedule(pauseMs);
  }

  /** The first alone, then larger and larger groups. A delivery that the store refuses fails with its whole group. */
  async #round(): Promise<{ taken: number; failure: string | undefined }> {
    const left = this.#inTurn(await this.#folder.names());
    if (left.length === 0) this.#counts.clear();
    let [taken, failed, size] = [0, 0, 1];
    let failure: string | undefined;
    while (left.length > 0 && failed < MAX_FAILED && !this.#isClosed) {
      const group = left.splice(0, size);
      const results = await Promise.allSettled(group.map((name) => this.#storeFile(name)));
      const rejected = results.find((result) => result.status === 'rejected');
      taken += results.filter((result) => result.status === 'fulfilled' && result.value).length;
      if (taken > 0) this.isStoreUnavailable = false;
      if (rejected === undefined) size = Math.min(MAX_GROUP, size * 2);
      else [failed, failure] = [failed + 1, failureCode(rejected.reason)];
    }
    return { taken, failure };
  }

  /** @returns false when there is nothing to read. */
  async #storeFile(name: string): Promise<boolean> {
    const record = await this.#folder.read(name);
    if (record === undefined) return false;
    await this.#options.store({ ...record, isAcknowledged: true });
    await this.#folder.remove(name);
    return true;
  }

  /** After a failure from a random one on, since the store may never take the first ones. */
  #inTurn(names: string[]): string[] {
    const start = this.#failures === 0 ? 0 : Math.floor(this.#options.settings.random() * names.length);
    return [...names.slice(start), ...names.slice(0, start)];
  }
}
