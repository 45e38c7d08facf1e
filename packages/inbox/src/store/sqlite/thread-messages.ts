/** What the store and the thread of a database file say to each other. */

/** What SQLite stores and returns: integers beyond 2^53 only as bigint, and only as bound values. */
export type SqliteValue = string | number | bigint | Uint8Array | null;

/** By position for `?`, by name for `$name`, `:name` and `@name`. */
export type SqliteValues = readonly SqliteValue[] | Readonly<Record<string, SqliteValue>>;

export interface SqliteResult {
  readonly rows: readonly Readonly<Record<string, SqliteValue>>[];
  /** Rows returned or changed. */
  readonly rowCount: number;
}

/**
 * One part of a statement of the inbox: its placeholders are `?`, and `binds` names the value of each, by its place or, of a
 * record, by its name.
 */
export interface SqlitePart {
  readonly text: string;
  readonly binds: readonly (number | string)[];
}

/** A statement of the merchant; or one of the inbox, in parts. */
export type Question =
  | { text: string; values: SqliteValues }
  | { parts: readonly SqlitePart[]; values: readonly SqliteValue[]; isForEach: boolean };

/**
 * `first` begins a transaction with a statement, `next` is another one in it, and `last` commits it if it returns a row.
 * `write` is a transaction of its own, and so is `unsynced`, whose commit does not wait for the disk: the next one that does
 * takes it along. `read` has a connection of its own, which does not see what an open transaction has not committed.
 * `last read` reads the file that is open even if its path no longer names it.
 */
export type ThreadRequest =
  | ({ kind: 'first' | 'next' | 'last' | 'write' | 'unsynced' | 'read' | 'last read' } & Question)
  | { kind: 'commit' | 'rollback' | 'close' };

export type ThreadReply = { id: number; result?: SqliteResult | undefined; failure?: ThreadFailure };

/**
 * An error in a form that can be sent between threads: `errcode` is SQLite's, such as 5; `option` names the misconfigured one.
 */
export type ThreadFailure = { message: string; errcode?: number; code?: string; option?: string };

/** What the thread is started with. */
export interface ThreadData {
  readonly path: string;
  readonly lockTimeoutMs: number;
}
