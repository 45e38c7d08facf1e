import { ConfigurationError } from '@payment-service/core';
import type { ExpectOutcome, StoredExpectation } from '../expectation.ts';
import { handlerScope } from '../handler-scope.ts';
import type { IntakeRecord } from '../intake-record.ts';
import type { Rows, Session } from '../session.ts';
import type { IntakeOutcome, Lane, Stamp, Store, StoreEngine, StoreOptions } from '../store.ts';
import type { Tables } from '../tables.ts';
import { databasePath } from './database-path.ts';
import { keepExpectation } from './expect.ts';
import { SqliteLane } from './sqlite-lane.ts';
import { tables } from './sqlite-tables.ts';
import { SqliteThread } from './sqlite-thread.ts';
import type { SqliteTransaction } from './sqlite-transaction.ts';
import { numbered, threadSession } from './thread-session.ts';
import { WriteTurn } from './write-turn.ts';

/**
 * The embedded store: one file on a local disk, for one machine. Any number of processes on it may use the file; one
 * handler runs at a time, since SQLite has one writer.
 *
 * @param path the database file; made when missing. The merchant's own tables may stand in it: then a handler changes
 * them in the same transaction.
 * @throws {ConfigurationError} for a database in memory or on a network file system.
 *
 * @example
 * const inbox = createInbox({ store: sqlite('shop.db') });
 */
export function sqlite(path: string): Store<SqliteTransaction> {
  const file = databasePath(path, 'path');
  return Object.freeze({ name: 'sqlite', open: (options: StoreOptions) => new SqliteEngine(file, options) });
}

class SqliteEngine implements StoreEngine<SqliteTransaction> {
  readonly tables: Tables = tables;
  readonly intakeLanes = 1;
  readonly session: Session;
  readonly #path: string;
  readonly #options: StoreOptions;
  readonly #turn = new WriteTurn();
  #intake: Promise<SqliteThread> | undefined;

  constructor(path: string, options: StoreOptions) {
    this.#path = path;
    this.#options = options;
    this.session = { query: async (text, values) => threadSession(await this.#opened()).query(text, values) };
  }

  async prepare(): Promise<void> {
    const thread = await this.#opened();
    await this.#turn.during(() => thread.request({ kind: 'migrate', now: this.#options.now() }));
  }

  async receive(records: readonly IntakeRecord[], account: string): Promise<readonly IntakeOutcome[]> {
    const thread = await this.#opened();
    return this.#turn.during(() => thread.receive(account, records));
  }

  async transaction<T>(body: (session: Session) => Promise<T>): Promise<T> {
    const thread = await this.#opened();
    return this.#turn.during(async () => {
      await thread.request({ kind: 'begin' });
      try {
        const result = await body(threadSession(thread));
        await thread.request({ kind: 'commit' });
        return result;
      } catch (error) {
        await thread.request({ kind: 'rollback' });
        throw error;
      }
    });
  }

  expect(
    expectation: StoredExpectation,
    stamp: Stamp,
    tx: SqliteTransaction | undefined,
  ): Promise<ExpectOutcome> {
    if (tx !== undefined) return keepExpectation(joined(tx), expectation, stamp);
    return this.transaction((session) => keepExpectation(session, expectation, stamp));
  }

  expectIn(session: Session, expectation: StoredExpectation, stamp: Stamp): Promise<ExpectOutcome> {
    return keepExpectation(session, expectation, stamp);
  }

  checkCaller(): void {
    if (handlerScope.getStore() === undefined) return;
    throw new ConfigurationError(
      'tx',
      'SQLite has one writer, and it is the transaction of the running handler. Inside a handler, call expect() with ' +
        '{ tx }, and nothing else that writes to the inbox.',
    );
  }

  /** One writer, one handler at a time. */
  laneCount(): number {
    return 1;
  }

  async openLane(): Promise<Lane<SqliteTransaction>> {
    return new SqliteLane(await this.#thread(), this.#turn);
  }

  async close(): Promise<void> {
    const thread = await this.#intake;
    await thread?.close();
  }

  async #opened(): Promise<SqliteThread> {
    if (this.#intake !== undefined && !(await this.#intake).isOver) return this.#intake;
    const opening = this.#thread();
    this.#intake = opening;
    opening.catch(() => {
      if (this.#intake === opening) this.#intake = undefined;
    });
    return opening;
  }

  async #thread(): Promise<SqliteThread> {
    const thread = new SqliteThread();
    try {
      await thread.request({ kind: 'open', path: this.#path, waitMs: this.#options.storeTimeoutMs });
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }
}

/** The inbox's statements in the merchant's transaction. */
function joined(tx: SqliteTransaction): Session {
  return {
    async query(text, values = []): Promise<Rows> {
      const { rows, rowCount } = await tx.query(text, numbered(values));
      return { rows, rowCount };
    },
  };
}
