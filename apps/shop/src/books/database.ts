import type { Store } from '@payment-service/inbox';

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
