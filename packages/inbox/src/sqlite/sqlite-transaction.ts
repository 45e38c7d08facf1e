import type { SqliteResult, SqliteValues } from './thread-messages.ts';

/** The transaction of a handler, or of `transaction()`, on SQLite: the merchant's own tables, in the same file. */
export interface SqliteTransaction {
  /**
   * Runs one statement. Values by position for `?`, by name for `$name`.
   *
   * @throws an error with SQLite's `errcode` when the statement fails; a ConfigurationError for transaction control,
   * ATTACH and a PRAGMA whose effect outlives the transaction, for several statements in one text, and after the
   * transaction has ended.
   *
   * @example
   * await tx.query('update orders set state = ? where reference = ?', ['paid', signed.merchant_reference]);
   */
  query(text: string, values?: SqliteValues): Promise<SqliteResult>;
}
