import { UnavailableError } from '@payment-service/core';
import { failureCode } from '../events.ts';
import type { Settings } from '../options.ts';
import { Group } from './group.ts';
import type { IntakeOutcome } from './keep.ts';
import { type IntakeRecord, MAX_BODIES } from './record.ts';
import { isNew, SpoolFolder } from './spool-folder.ts';

const MAX_GROUP = 64;
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;
/** After so many in succession it is the store that fails, and not a few deliveries. */
const MAX_FAILED = 3;

export interface SpoolOptions {
  readonly path: string;
  /** The account, and where it is stored: distinguishes the inboxes that share the folder. */
  readonly owner: string;
  readonly settings: Settings;
  /** Stores a delivery. Rejects while the store is unavailable. */
  readonly store: (record: IntakeRecord) => Promise<IntakeOutcome>;
}

interface Round {
  taken: number;
  failed: number;
  failure: string | undefined;
}

/**
 * Keeps deliveries in a folder while the store is unavailable, and stores them automatically afterwards. A file is removed only
 * after the store has all of it. Two processes may store the same file at the same time: the store keeps one of each.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #folder: SpoolFolder;
  readonly #group: Group<IntakeRecord, boolean>;
  /** How many bodies of a transition are here: a flood of forged ones cannot fill the disk. */
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #latest: Promise<boolean> | undefined;
  #failures = 0;
  #isClosed = false;
  /** While true, deliveries come here immediately, without waiting for the store again. */
  isStoreAway = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#folder = new SpoolFolder(options.path, options.owner, options.settings.emit);
    this.#group = new Group({ send: (records) => this.#append(records), lanes: 1, most: MAX_GROUP });
  }

  /** Looks for what earlier processes left. */
  start(): void {
    this.#schedule(0);
  }

  check(): Promise<void> {
    return this.#folder.check();
  }

  count(): Promise<number> {
    return this.#folder.count();
  }

  /** @returns false when it could not be kept here. */
  async keep(record: IntakeRecord): Promise<boolean> {
    try {
      this.#latest = this.#group.add(record);
      const isKept = await this.#latest;
      if (isKept) this.#schedule(this.#pause());
      return isKept;
    } catch (error) {
      this.#options.settings.emit({ name: 'spool.failed', failure: failureCode(error) });
      return false;
    }
  }

  /** After the store has failed. */
  async keepInstead(record: IntakeRecord): Promise<boolean> {
    const isKept = await this.keep(record);
    if (isKept) this.isStoreAway = true;
    return isKept;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    // Deliveries are written in their order: the latest is the last.
    await Promise.allSettled([this.#draining, this.#latest]);
  }

  async #append(records: readonly IntakeRecord[]): Promise<boolean[]> {
    const kept = records.map(({ transitionId }) => {
      const count = this.#counts.get(transitionId) ?? 0;
      this.#counts.set(transitionId, count + 1);
      return count < MAX_BODIES;
    });
    const admitted = records.filter((_, index) => kept[index]);
    if (admitted.length > 0) await this.#folder.write('new', admitted);
    return kept;
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
    const round: Round = { taken: 0, failed: 0, failure: undefined };
    let pauseMs = MAX_PAUSE_MS;
    try {
      await this.#handOverAll(round);
      if (round.taken > 0 || round.failure !== undefined) pauseMs = this.#pause();
      if (round.failure === undefined) this.isStoreAway = false;
      else emit({ name: 'store.unavailable', failure: round.failure, retryInMs: pauseMs });
      this.#failures = round.failure === undefined ? 0 : this.#failures + 1;
    } catch (error) {
      this.#failures += 1;
      emit({ name: 'spool.failed', failure: failureCode(error) });
    }
    if (round.taken > 0) emit({ name: 'spool.drained', count: round.taken });
    this.#timer = undefined;
    this.#schedule(pauseMs);
  }

  async #handOverAll(round: Round): Promise<void> {
    const names = await this.#folder.names();
    const fresh = names.filter(isNew);
    if (fresh.length === 0) this.#counts.clear();
    for (const name of [...this.#inTurn(fresh), ...this.#inTurn(names.slice(fresh.length))]) {
      if (this.#isClosed || round.failed === MAX_FAILED) return;
      const records = await this.#folder.read(name);
      if (records !== undefined) await this.#handOver(name, records, round);
    }
  }

  /** Together while the store takes them, otherwise alone: one that it never takes fails with its whole group. */
  async #handOver(name: string, records: readonly IntakeRecord[], round: Round): Promise<void> {
    const left = [...this.#inTurn(records)];
    let [at, size] = [0, round.taken > 0 ? MAX_GROUP : 1];
    while (at < left.length && round.failed < MAX_FAILED) {
      const group = left.slice(at, at + size);
      const results = await Promise.allSettled(group.map((record) => this.#store(record, round)));
      left.splice(at, group.length, ...group.filter((_, index) => results[index]?.status === 'rejected'));
      const failure = results.find((result) => result.status === 'rejected');
      size = failure === undefined ? Math.min(MAX_GROUP, size * 2) : 1;
      if (failure !== undefined) round.failure = failureCode(failure.reason);
      if (failure !== undefined && group.length === 1) [at, round.failed] = [at + 1, round.failed + 1];
    }
    // The store takes others, so each of these gets a file of its own, behind all new ones.
    const isSplit = round.taken > 0 && isNew(name);
    if (isSplit) await Promise.all(left.map((record) => this.#folder.write('retry', [record])));
    if (isSplit || left.length === 0) await this.#folder.remove(name);
  }

  async #store(record: IntakeRecord, round: Round): Promise<void> {
    const outcome = await this.#options.store({ ...record, isAcknowledged: true });
    if (outcome === 'full') throw new UnavailableError('The store did not take a delivery of the spool.');
    round.taken += 1;
    round.failed = 0;
    this.#failures = 0;
    this.isStoreAway = false;
  }

  /** After a failure from a random one on, since the store may never take the first ones. */
  #inTurn<T>(items: readonly T[]): readonly T[] {
    const start = this.#failures === 0 ? 0 : Math.floor(this.#options.settings.random() * items.length);
    return [...items.slice(start), ...items.slice(0, start)];
  }
}
