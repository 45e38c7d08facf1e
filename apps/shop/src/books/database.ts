import { DatabaseSync } from 'node:sqlite';
import { postgres, type SqliteTransaction, type Store, sqlite } from '@payment-service/inbox';
import pg from 'pg';

export type Value = string | number | null;

/** Runs one statement, with `$1`, `$2`, … for values. */
export interface Statements {
  query(
    text: string,
    values?: Value[],
  ): Promise<{
    readonly rows: readonly Readonly<Record<string, unknown>>[];
    readonly rowCount: number | null;
  }>;
}

/** A transaction of a handler or of `inbox.transaction()`: the client of `pg`, or that of SQLite. See `Database.within()`. */
export type Transaction = Statements;

/** The only database of the shop: it contains orders and inbox, so that one transaction changes both. */
export interface Database {
  /** Its description, for people to read. */
  readonly title: string;
  /** The same database for `createInbox()`. */
  readonly store: Store<Transaction>;
  /** Runs before the shop's tables are created: several shops that start at the same time would create one twice. */
  readonly lock: readonly string[];
  /** Outside a transaction, for reading. */
  readonly reading: Statements;
  /** Inside a transaction of the inbox. */
  within(tx: Transaction): Statements;
  close(): Promise<void>;
}

/**
 * One file for orders and inbox. All writes go through the inbox, whose writers take turns; a second writer in this thread
 * would wait for a handler in the same thread.
 *
 * @throws {ConfigurationError} for a file that would not keep what the inbox acknowledges.
 */
export function openSqliteDatabase(file: string): Database {
  const store = sqlite(file);
  let reader: DatabaseSync | undefined;
  /** Opened late: the inbox creates the file. */
  const reading: Statements = {
    async query(text, values = []) {
      reader ??= new DatabaseSync(file, { readOnly: true });
      return { rows: reader.prepare(text).all(named(values)), rowCount: null };
    },
  };
  const within = (tx: SqliteTransaction): Statements => ({
    query: (text, values = []) => tx.query(text, named(values)),
  });

  return {
    title: file,
    store,
    lock: [],
    reading,
    within,
    async close() {
      reader?.close();
    },
  };
}

/** `$1` is a name to SQLite. */
function named(values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
}

const CONNECT_MS = 5000;

/** A PostgreSQL database for orders and inbox: any number of shops may share it. */
export function openPostgresDatabase(databaseUrl: string, log: (line: string) => void): Database {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    connectionTimeoutMillis: CONNECT_MS,
    allowExitOnIdle: true,
  });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', (error) => log(`A connection to the database was lost: ${error.message}`));

  return {
    title: 'PostgreSQL',
    store: postgres(pool),
    // Any number that nothing else in this database locks.
    lock: ['select pg_advisory_xact_lock(7402113)'],
    reading: pool,
    within: (tx) => tx,
    close: () => pool.end(),
  };
}
