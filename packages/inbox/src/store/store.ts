/**
 * The parameters and results of the inbox's statements. Numbers up to 2^53; some libraries return large ones as bigint or
 * string.
 */
export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

/** A statement of the inbox, in the dialect of its store. */
export interface Statement {
  /**
   * With `$1`, `$2`, … for values. On SQLite it may be several statements, separated by `;`, of which the last one returns the
   * rows.
   */
  readonly text: string;
  /** It runs for every callback or payment, so the store prepares it if it can. */
  readonly isPrepared?: boolean | undefined;
  /**
   * SQLite only: it runs for each record of the JSON array `$1`, with the record's members as `$name`. What follows `;` runs
   * for records for which the first statement returned a row.
   */
  readonly isForEach?: boolean | undefined;
  /** SQLite only: its commit does not wait for the disk. A crash of the process loses nothing of it, one of the machine may. */
  readonly isUnsynced?: boolean | undefined;
  /** The last one of its transaction: the store commits together with it if it can, unless it returns no row or fails. */
  readonly isLast?: boolean | undefined;
}

/** A statement and its values. */
export interface Call {
  readonly statement: Statement;
  readonly values: readonly SqlValue[];
}

/** What is known about a transaction before it begins. */
export interface TransactionParts {
  /** The first statements in it, whose rows the body gets: they are sent with BEGIN if the store can do that. */
  readonly entry?: readonly Call[];
  /**
   * The body is the merchant's, so it runs at the isolation level that the connection defaults to. The inbox's own transactions
   * are READ COMMITTED.
   */
  readonly isMerchants?: boolean;
}

/**
 * A prepared statement is unknown on its connection, since a pooler lent a different one. It had no effect, and the transaction
 * can only be rolled back; from then on the store prepares nothing.
 */
export class NotPrepared extends Error {
  readonly code = 'STATEMENT_NOT_PREPARED';

  constructor(options: ErrorOptions) {
    super(
      'A pooler in front of PostgreSQL does not keep prepared statements. The inbox no longer uses them.',
      options,
    );
    this.name = 'NotPrepared';
  }
}

/** Where the tables are. */
export type Place = Pick<Store<never>, 'dialect' | 'prefix'>;

/**
 * Where the inbox keeps its transitions, and the library that opens the merchant's transactions: `postgres(pool)`,
 * `sqlite(path)`, or one of the entries for an ORM. All SQL is in the inbox; a store only runs it.
 *
 * @typeParam Tx What a handler gets and `expect({ tx })` accepts: the library's own transaction.
 */
export interface Store<Tx> {
  readonly dialect: 'postgres' | 'sqlite';
  /** The prefix of the tables' names: `payment_inbox.` or `payment_inbox_`. */
  readonly prefix: string;
  /**
   * Runs one statement and returns its rows.
   *
   * @param tx The transaction to run it in. Without it, the statement is a transaction of its own.
   * @param limitMs How long to wait for a statement without `tx`, in milliseconds. @default chosen by the store
   * @param after Runs after a statement without `tx` is committed, in a transaction of its own, and may fail. Only for a store
   * with `runsAfter`.
   */
  query(
    statement: Statement,
    values: readonly SqlValue[],
    tx?: Tx,
    limitMs?: number,
    after?: Call,
  ): Promise<readonly Row[]>;
  /** It sends what runs after a statement in the same message if it can. */
  readonly runsAfter?: boolean;
  /**
   * Commits when `body` resolves, and rolls back when it rejects. Rejects with the error of `body` or of the commit, and not
   * before `body` has ended. If `body` has ended the transaction by a call of the library, the `code` of the error is
   * `TRANSACTION_ENDED`.
   */
  transaction<T>(
    body: (tx: Tx, entered: readonly (readonly Row[])[]) => Promise<T>,
    parts?: TransactionParts,
  ): Promise<T>;
  /** The library ends a transaction that takes longer, so `handlerTimeoutMs` must be shorter. @default no limit */
  readonly maxTransactionMs?: number;
  /** How many handlers can run at the same time. @default no limit */
  readonly maxConcurrency?: number;
  /** The path of the spool that is used without the option `spool`. @default none */
  readonly spool?: string;
  /** Files on this machine that hold bodies, so that only their owner may read them (threat A65). @default none */
  readonly files?: readonly string[];
  /**
   * Calls `onWake` when another process has kept a callback of the account, until the signal is aborted or the listening
   * connection fails.
   */
  listen?(account: string, onWake: () => void, signal: AbortSignal): Promise<void>;
  /** @throws {ConfigurationError} If the database would not keep what it acknowledges. */
  check?(): Promise<void>;
  /** Closes what the store opened. */
  close?(): Promise<void>;
}

export function textOf(row: Row, name: string): string {
  const value = row[name];
  if (typeof value !== 'string') throw unexpected(row, name, 'a string');
  return value;
}

export function optionalText(row: Row, name: string): string | undefined {
  return row[name] === null ? undefined : textOf(row, name);
}

export function choiceOf<T extends string>(row: Row, name: string, choices: readonly T[]): T {
  const chosen = choices.find((choice) => choice === row[name]);
  if (chosen === undefined) throw unexpected(row, name, `one of ${choices.join(', ')}`);
  return chosen;
}

export function numberOf(row: Row, name: string): number {
  const value = Number(row[name] ?? Number.NaN);
  if (!Number.isSafeInteger(value)) throw unexpected(row, name, 'a whole number');
  return value;
}

export function dateOf(row: Row, name: string): Date {
  return new Date(numberOf(row, name));
}

/** Without the value, which may belong to a customer. */
export function unexpected(row: Row, name: string, wanted: string): TypeError {
  const id = row['transition_id'];
  const where = typeof id === 'string' ? ` of the transition ${id}` : '';
  return new TypeError(
    `The column "${name}"${where} in the inbox's tables must hold ${wanted}. It does not, so nothing is applied from it. ` +
      'Another program or an operator has probably changed it: restore its value.',
  );
}

/** The body of a transaction has ended it, so its effects may be committed even though the body or the transaction failed. */
export class TransactionEnded extends Error {
  override readonly name = 'TransactionEnded';
  readonly code = 'TRANSACTION_ENDED';

  constructor(options?: ErrorOptions) {
    const message =
      'This transaction was ended by the handler that runs in it, so its effects may be committed. Leave COMMIT and ROLLBACK ' +
      'to the inbox: to roll back, throw.';
    super(message, options);
  }
}

/** COMMIT was answered with a rollback, or was not sent: what ran in the transaction has had no effect. */
export class NotCommitted extends Error {
  override readonly name = 'NotCommitted';
  readonly code = 'NOT_COMMITTED';

  constructor() {
    super(
      'PostgreSQL has not committed this transaction, so nothing in it has happened: a statement or a nested transaction was still ' +
        'running when its body returned, or had failed unnoticed. Await every call that uses tx, one nested transaction after the other.',
    );
  }
}
