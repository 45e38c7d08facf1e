import { ConfigurationError } from '@payment-service/core';
import type { ThreadFailure } from './thread-messages.ts';

/** What SQLite answered to a statement. `errcode` is its result code: https://sqlite.org/rescode.html. */
export class SqliteError extends Error {
  readonly code = 'ERR_SQLITE_ERROR';
  readonly errcode: number | undefined;
  /** Whether a transaction is open after it: some failures of a statement end the whole transaction. */
  readonly isInTransaction: boolean;

  constructor(message: string, errcode?: number, isInTransaction: boolean = false) {
    super(message);
    this.name = 'SqliteError';
    this.errcode = errcode;
    this.isInTransaction = isInTransaction;
  }
}

export function errorFrom({ message, errcode, option, isInTransaction }: ThreadFailure): Error {
  if (option !== undefined) return new ConfigurationError(option, message);
  return new SqliteError(message, errcode, isInTransaction);
}
