import { ConfigurationError } from '@payment-service/core';
import type { ExpectOutcome, StoredExpectation } from '../expectation.ts';
import type { IntakeRecord } from '../intake-record.ts';
import type { Rows, Session } from '../session.ts';
import type { IntakeOutcome, Lane, Reservation, Stamp, Store, StoreEngine, StoreOptions } from '../store.ts';
import type { Tables } from '../tables.ts';
import { runBody } from '../transaction-body.ts';
import { TransactionGuard } from '../transaction-guard.ts';
import { refuseInTransaction } from '../transaction-scope.ts';
import { type Patience, Turn } from '../turn.ts';
import { databasePath } from './database-path.ts';
import { keepExpectation } from './expect.ts';
import { inTransaction } from './in-transaction.ts';
import { LastingThread } from './lasting-thread.ts';
import { merchantTransaction } from './merchant-transaction.ts';
import { SqliteLane } from './sqlite-lane.ts';
import { tables } from './sqlite-tables.ts';
import { SqliteThread } from './sqlite-thread.ts';
import type { SqliteTransaction } from './sqlite-transaction.ts';
import { numbered, threadSession } from './thread-session.ts';

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
  const open = (options: StoreOptions): SqliteEngine => {
    if (options.spool === file) throw sameFile();
    return new SqliteEngine(file, options);
  };
  return Object.freeze({ name: 'sqlite', open });
}

class SqliteEngine implements StoreEngine<SqliteTransaction> {
  readonly tables: Tables = tables;
  readonly intakeLanes = 1;
  readonly session: Session;
  /** Apart from what people read: a long list makes no health check wait. */
  readonly briefSession: Session;
  readonly #path: string;
  readonly #options: StoreOptions;
  /** SQLite has one writer. Those of this process take turns, instead of polling for the lock of the file. */
  readonly #turn = new Turn();
  readonly #thread: LastingThread;
  /** A connection of its own: what a transaction of the merchant has not committed is seen by no list() and no stats(). */
  readonly #merchantThread: LastingThread;
  /** And one for what people look at: a long list keeps no delivery waiting. */
  readonly #readingThread: LastingThread;
  /** A statement that runs cannot be interrupted: nobody waits for its end without limit. */
  readonly #patience: Patience;
  #fileIdentity: string | undefined;

  constructor(path: string, options: StoreOptions) {
    this.#path = path;
    this.#options = options;
    this.#thread = new LastingThread(() => this.#newThread());
    this.#merchantThread = new LastingThread(() => this.#newThread());
    this.#readingThread = new LastingThread(() => this.#newThread());
    this.#patience = patienceOf(options);
    this.session = sessionOn(this.#readingThread);
    this.briefSession = sessionOn(this.#thread);
  }

  /** Whoever writes holds all rows. */
  lockRows(): string {
    return '';
  }

  get identity(): readonly string[] {
    return ['sqlite', this.#path];
  }

  async prepare(): Promise<void> {
    const thread = await this.#thread.opened();
    await this.#turn.during(() => thread.request({ kind: 'migrate', now: this.#options.now() }));
  }

  async receive(records: readonly IntakeRecord[], account: string): Promise<readonly IntakeOutcome[]> {
    const thread = await this.#thread.opened();
    return this.#turn.during(() => thread.receive(account, records));
  }

  async transaction<T>(body: (session: Session) => Promise<T>): Promise<T> {
    const thread = await this.#thread.opened();
    return this.#turn.during(() => inTransaction(thread, () => body(threadSession(thread))), this.#patience);
  }

  async merchantTransaction<T>(
    body: (tx: SqliteTransaction) => T | Promise<T>,
    timeoutMs: number,
  ): Promise<T> {
    const thread = await this.#merchantThread.opened();
    const guard = new TransactionGuard();
    const tx = merchantTransaction(thread, guard);
    let fail: (error: unknown) => void = () => undefined;
    const failed = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    const run = async (): Promise<T> => {
      try {
        return await runBody(() => body(tx), { guard, timeoutMs, who: 'The body of transaction()' });
      } catch (error) {
        // A statement that still runs cannot be interrupted: the turn lasts until it has ended, the caller's wait does not.
        setTimeout(fail, this.#options.storeTimeoutMs, error).unref();
        throw error;
      }
    };
    return Promise.race([this.#turn.during(() => inTransaction(thread, run), this.#patience), failed]);
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
    refuseInTransaction();
  }

  /** One writer, one handler at a time. */
  reserveLanes(): Reservation {
    return { lanes: 1, release: () => undefined };
  }

  async openLane(): Promise<Lane<SqliteTransaction>> {
    return new SqliteLane(await this.#newThread(), this.#turn);
  }

  async close(): Promise<void> {
    for (const thread of [this.#merchantThread, this.#readingThread, this.#thread]) await thread.close();
  }

  async #newThread(): Promise<SqliteThread> {
    const thread = new SqliteThread();
    try {
      const waitMs = this.#options.storeTimeoutMs;
      this.#fileIdentity = await thread.request({
        kind: 'open',
        path: this.#path,
        waitMs,
        identity: this.#fileIdentity,
      });
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }
}

function sessionOn(thread: LastingThread): Session {
  return { query: async (text, values) => threadSession(await thread.opened()).query(text, values) };
}

function patienceOf({ storeTimeoutMs, handlerTimeoutMs }: StoreOptions): Patience {
  const mostMs = handlerTimeoutMs + storeTimeoutMs;
  const message =
    `Other transactions of this process have kept the SQLite file for ${mostMs} ms, so this one was not begun. A statement ` +
    'in SQLite cannot be interrupted: look for one that does not end.';
  return { mostMs, message };
}

function sameFile(): ConfigurationError {
  return new ConfigurationError(
    'spool',
    'The spool is the file of the store itself, and would be away with it. Give it a file of its own.',
  );
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
