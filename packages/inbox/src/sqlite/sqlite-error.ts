import { ConfigurationError } from '@payment-service/core';
import type { ThreadFailure } from './thread-messages.ts';

/** What SQLite answered to a statement. `errcode` is its result code: https://sqlite.org/rescode.html. */
export class SqliteError extends Error {
  readonly code = 'ERR_SQLITE_ERROR';
  readonly errcode: number | undefined;

  constructor(message: string, errcode: number | undefined) {
    super(message);
    this.name = 'SqliteError';
    this.errcode = errcode;
  }
}

export function errorFrom({ message, errcode, option }: ThreadFailure): Error {
  return option === undefined ? new SqliteError(message, errcode) : new ConfigurationError(option, message);
}
