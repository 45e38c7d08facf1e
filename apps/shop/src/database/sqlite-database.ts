import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type SqliteResult, type SqliteTransaction, type SqliteValues, sqlite } from '@payment-service/inbox';
import type { Database, Statements, Transaction, Value } from './database.ts';

const SQLITE_BUSY = 5;
/** How long a write of the shop waits for another writer: a handler of the inbox, or another process. */
const LONGEST_WAIT_MS = 10_000;

/**
 * One file for orders and inbox.
 *
 * @throws {ConfigurationError} for a file that would not keep what the inbox acknowledges.
 */
export function openSqliteDatabase(file: string): Database {
  const store = sqlite(file);
  const connection = new DatabaseSync(file, { timeout: LONGEST_WAIT_MS });
  connection.exec('pragma journal_mode = wal; pragma synchronous = full');
  // From here on a write lock is waited for without blocking: its holder may be a handler in this very thread.
  connection.exec('pragma busy_timeout = 0');

  const totalChanges = (): number =>
    Number(connection.prepare('select total_changes() as changes').get()?.['changes']);
  const run = async (text: string, values: SqliteValues = []): Promise<SqliteResult> => {
    const statement = connection.prepare(text);
    const before = totalChanges();
    const rows = (
      Array.isArray(values) ? statement.all(...values) : statement.all(values as Record<string, Value>)
    ) as SqliteResult['rows'];
    return { rows, rowCount: rows.length > 0 ? rows.length : totalChanges() - before };
  };
  const own: SqliteTransaction = { query: run };
  const within = (tx: SqliteTransaction): Statements => ({
    query: (text, values = []) => tx.query(text, named(values)),
  });

  let last: Promise<unknown> = Promise.resolve();
  /** One connection, so one transaction after the other. */
  function inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = last.then(write);
    last = turn.catch(() => undefined);
    return turn;
  }

  const transaction = <T>(body: (tx: Transaction) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      await begin(connection);
      try {
        const result = await body(own);
        connection.exec('commit');
        return result;
      } catch (error) {
        // A full disk has ended the transaction already.
        if (connection.isTransaction) connection.exec('rollback');
        throw error;
      }
    });

  return {
    title: file,
    store,
    reading: within(own),
    within,
    transaction,
    async prepare(statements) {
      await transaction(async (tx) => {
        for (const statement of statements) await tx.query(statement);
      });
    },
    async close() {
      await last;
      connection.close();
    },
  };
}

async function begin(connection: DatabaseSync): Promise<void> {
  const until = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    try {
      return connection.exec('begin immediate');
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
    }
    await wait(1 + Math.random() * 4);
  }
}

/** The lower eight bits are the code; the others tell kinds of busy apart. */
function isBusy(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'errcode') : undefined;
  return typeof code === 'number' && (code & 0xff) === SQLITE_BUSY;
}

/** `$1` is a name to SQLite. */
function named(values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
}
