import { randomUUID } from 'node:crypto';
import { UnavailableError } from '@payment-service/core';
import type { Emit } from './events.ts';
import { failureCode } from './failure-code.ts';
import { Group } from './group.ts';
import { type IntakeRecord, MAX_BODIES, UNLIMITED_BODIES } from './intake-record.ts';
import { numberOf, type Row, textOf } from './session.ts';
import type { Settings } from './settings.ts';
import { SqliteThread } from './sqlite/sqlite-thread.ts';
import { threadSession } from './sqlite/thread-session.ts';
import type { IntakeOutcome } from './store.ts';

const TABLE = 'payment_inbox_spool';
const MOST_IN_GROUP = 64;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** Another process may be writing to the same file; a callback's sender does not wait much longer. */
const WAIT_MS = 2000;

export interface SpoolOptions {
  readonly path: string;
  /** Whose deliveries these are, for a file that several inboxes share: the account, and the store that it is kept in. */
  readonly owner: string;
  readonly settings: Settings;
  /** Hands a delivery over to the store; rejects while it is away. */
  readonly store: (record: IntakeRecord) => Promise<IntakeOutcome>;
  readonly emit: Emit;
}

/**
 * Keeps deliveries on the local disk while the store is away, and hands them over by itself afterwards. What is in it
 * is on disk, and leaves it only after the store has it: handed over twice at worst, which the store does not mind.
 *
 * Several inboxes may share the file; each sees its own rows only, for the keys of another account or store mean nothing
 * to it.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #group: Group<IntakeRecord, boolean>;
  #thread: Promise<SqliteThread> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #failures = 0;
  /** How many are handed over together: one after a failure, so that a row that cannot be stored holds back no other. */
  #most = MOST_IN_GROUP;
  #isStarted = false;
  #hasLooked = false;
  #isClosed = false;
  /** While true, deliveries come here at once, without waiting for the store again. */
  isStoreAway = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#group = new Group({ send: (records) => this.#insert(records), lanes: 1, most: MOST_IN_GROUP });
  }

  /** Looks for what an earlier process left; in a file that cannot be used now, as soon as it can be. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#schedule(0);
  }

  /** @throws when the file cannot be used. */
  async check(): Promise<void> {
    await this.#opened();
  }

  /** @returns false when it could not be kept here. */
  async keep(record: IntakeRecord): Promise<boolean> {
    try {
      const isKept = await this.#group.add(record);
      if (isKept) this.#schedule(this.#pause());
      return isKept;
    } catch (error) {
      this.#options.emit({ name: 'spool.failed', failure: failureCode(error) });
      return false;
    }
  }

  /** After the store has failed. */
  async keepInstead(record: IntakeRecord): Promise<boolean> {
    const isKept = await this.keep(record);
    if (isKept) this.isStoreAway = true;
    return isKept;
  }

  count(): Promise<number> {
    return this.#count('owner = $1');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#draining;
    const thread = await this.#thread;
    await thread?.close();
  }

  async #count(whose: 'owner = $1' | 'owner <> $1'): Promise<number> {
    const { rows } = await threadSession(await this.#opened()).query(
      `select count(*) as count from ${TABLE} where ${whose}`,
      [this.#options.owner],
    );
    return numberOf(rows[0] ?? {}, 'count');
  }

  /** As in the store, a flood of forged bodies cannot fill the disk: the sender of a further one is asked to come back. */
  async #insert(records: readonly IntakeRecord[]): Promise<boolean[]> {
    const thread = await this.#opened();
    const session = threadSession(thread);
    const kept: boolean[] = [];
    await thread.request({ kind: 'begin' });
    try {
      for (const record of records) {
        const { transitionId, digest, refusal = '' } = record;
        const key = [this.#options.owner, transitionId, digest, refusal];
        await session.query(
          `insert into ${TABLE} (owner, transition_id, digest, refusal, id, record, body)
           select $1, $2, $3, $4, $5, $6, $7
           where (select count(*) from ${TABLE} where owner = $1 and transition_id = $2) < $8
           on conflict do nothing`,
          [...key, randomUUID(), serialized(record), record.body, MAX_BODIES],
        );
        const { rows } = await session.query(
          `select 1 as kept from ${TABLE}
           where owner = $1 and transition_id = $2 and digest = $3 and refusal = $4`,
          key,
        );
        kept.push(rows.length === 1);
      }
      await thread.request({ kind: 'commit' });
      return kept;
    } catch (error) {
      await thread.request({ kind: 'rollback' });
      throw error;
    }
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#draining = this.#drain();
    }, ms);
    this.#timer.unref();
  }

  #pause(): number {
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures, 10));
    return Math.round(longest * (0.5 + this.#options.settings.random() / 2));
  }

  async #drain(): Promise<void> {
    const { emit } = this.#options;
    try {
      await this.#look();
      for (let count = 0; !this.#isClosed; ) {
        const handedOver = await this.#handOver();
        if (handedOver === 0) {
          this.isStoreAway = false;
          if (count > 0) emit({ name: 'spool.drained', count });
          break;
        }
        count += handedOver;
      }
      this.#failures = 0;
      this.#timer = undefined;
    } catch (error) {
      const retryInMs = this.#pause();
      const failure = failureCode(error);
      if (this.#hasLooked) emit({ name: 'store.unavailable', failure, retryInMs });
      else emit({ name: 'spool.failed', failure });
      this.#failures += 1;
      this.#timer = undefined;
      this.#schedule(retryInMs);
    }
  }

  async #look(): Promise<void> {
    if (this.#hasLooked) return;
    const others = await this.#count('owner <> $1');
    this.#hasLooked = true;
    if (others > 0) this.#options.emit({ name: 'spool.others', count: others });
  }

  /**
   * Hands over the next rows. One that fails alone goes behind all others: the store may be away, or may never take it.
   *
   * @returns how many there were; 0 when nothing is left.
   */
  async #handOver(): Promise<number> {
    const session = threadSession(await this.#opened());
    const { rows } = await session.query(
      `select id, record, body from ${TABLE} where owner = $1 order by failures, rowid limit $2`,
      [this.#options.owner, this.#most],
    );
    const results = await Promise.allSettled(rows.map((row) => this.#store(row)));
    for (const [index, row] of rows.entries()) {
      if (results[index]?.status !== 'fulfilled') continue;
      await session.query(`delete from ${TABLE} where id = $1`, [textOf(row, 'id')]);
      this.isStoreAway = false;
      this.#failures = 0;
    }
    const failed = results.find((result) => result.status === 'rejected');
    this.#most = failed === undefined ? Math.min(MOST_IN_GROUP, this.#most * 2) : 1;
    if (failed === undefined) return rows.length;
    const [only, ...more] = rows.map((row) => textOf(row, 'id'));
    if (only !== undefined && more.length === 0)
      await session.query(`update ${TABLE} set failures = failures + 1 where id = $1`, [only]);
    throw failed.reason;
  }

  async #store(row: Row): Promise<void> {
    const outcome = await this.#options.store(recordIn(row));
    // It was acknowledged, so it stays here until it is kept.
    if (outcome === 'full') throw new UnavailableError('The store did not take a delivery of the spool.');
  }

  async #opened(): Promise<SqliteThread> {
    if (this.#thread !== undefined && !(await this.#thread).isOver) return this.#thread;
    const opening = this.#open();
    this.#thread = opening;
    opening.catch(() => {
      if (this.#thread === opening) this.#thread = undefined;
    });
    return opening;
  }

  async #open(): Promise<SqliteThread> {
    const thread = new SqliteThread();
    try {
      await thread.request({ kind: 'open', path: this.#options.path, waitMs: WAIT_MS });
      const session = threadSession(thread);
      await session.query(
        `create table if not exists ${TABLE} (owner text not null, transition_id text not null, digest text not null,
           refusal text not null, id text not null unique, failures integer not null default 0, record text not null,
           body text not null, primary key (owner, transition_id, digest, refusal)) strict`,
      );
      await session.query(`create index if not exists ${TABLE}_order on ${TABLE} (owner, failures)`);
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }
}

type Serialized = Omit<IntakeRecord, 'body' | 'refusal' | 'maxBodies'> & {
  readonly refusal: IntakeRecord['refusal'] | null;
};

/** All but the body, which stands beside it. */
function serialized({ body: _, maxBodies: __, refusal, ...record }: IntakeRecord): string {
  const fields: Serialized = { ...record, refusal: refusal ?? null };
  return JSON.stringify(fields);
}

function recordIn(row: Row): IntakeRecord {
  const { refusal, ...fields } = JSON.parse(textOf(row, 'record')) as Serialized;
  return { ...fields, refusal: refusal ?? undefined, body: textOf(row, 'body'), maxBodies: UNLIMITED_BODIES };
}
