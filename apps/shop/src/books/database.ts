import { DatabaseSync } from 'node:sqlite';
import { postgres, type SqliteTransaction, type Store, sqlite } from '@payment-service/inbox';
import pg from 'pg';

export type Value = string | number | null;

export interface Rows {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number;
}

/** Runs one statement, with `$1`, `$2`, … for values on both engines. */
export interface Statements {
  query(text: string, values?: readonly Value[]): Promise<Rows>;
}

/** A transaction of a handler or of `inbox.transaction()`: the client of `pg`, or that of SQLite. See `Database.within()`. */
export interface Transaction {
  query(
    text: string,
    values?: (string | number | null)[],
  ): Promise<{
    readonly rows: readonly Readonly<Record<string, unknown>>[];
    readonly rowCount: number | null;
  }>;
}

/** The only database of the shop: it contains orders and inbox, so that one transaction changes both. */
export interface Database {
  /** Its description, for people to read. */
  readonly title: string;
  /** The same database for `createInbox()`. */
  readonly store: Store<Transaction>;
  /** Creates the shop's missing tables. */
  prepare(tx: Transaction, statements: readonly string[]): Promise<void>;
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
      const rows = reader.prepare(text).all(named(values));
      return { rows, rowCount: rows.length };
    },
  };
  const within = (tx: SqliteTransaction): Statements => ({
    query: (text, values = []) => tx.query(text, named(values)),
  });

  return {
    title: file,
    store,
    reading,
    within,
    async prepare(tx, statements) {
      for (const statement of statements) await tx.query(statement);
    },
    async close() {
      reader?.close();
    },
  };
}

/** `$1` is a name to SQLite. */
function named(values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
}

/** Any number that nothing else in this database locks. */
const LOCK = 7_402_113;
const CONNECT_MS = 5000;

/** A PostgreSQL database for orders and inbox: any number of shops may share it. */
export function openPostgresDatabase(
  databaseUrl: string,
  { log }: { readonly log: (line: string) => void },
): Database {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    connectionTimeoutMillis: CONNECT_MS,
    allowExitOnIdle: true,
  });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', (error) => log(`A connection to the database was lost: ${error.message}`));

  const within = (tx: Transaction): Statements => ({
    async query(text, values = []) {
      const { rows, rowCount } = await tx.query(text, [...values]);
      return { rows, rowCount: rowCount ?? 0 };
    },
  });

  return {
    title: 'PostgreSQL',
    store: postgres(pool),
    reading: within(pool),
    within,
    async prepare(tx, statements) {
      // Several shops that start at the same time would create the same table twice.
      await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
      for (const statement of statements) await tx.query(statement);
    },
    close: () => pool.end(),
  };
}
