import { ConfigurationError } from '@payment-service/core';
import { codesOf } from '../reporting/failure-text.ts';
import type { Statements } from './statements.ts';

/**
 * Refuses what is not an open transaction, such as a pool or a transaction that has ended: the expectation would be kept
 * although the order is rolled back.
 *
 * @throws {ConfigurationError}
 */
export async function mustBeOpen<Tx>(statements: Statements<Tx>, tx: Tx): Promise<void> {
  let isOpen = false;
  try {
    const [row] = await statements.run('is_in_transaction', [], tx);
    isOpen = Boolean(row?.['is_open']);
  } catch (cause) {
    if (codesOf(cause).includes('25P02')) throw new ConfigurationError('tx', FAILED, { cause });
    // Another library's object lacks the methods of this one's.
    if (!(cause instanceof TypeError)) throw cause;
    throw new ConfigurationError('tx', `${WHAT} It is an object of another kind.`, { cause });
  }
  if (!isOpen)
    throw new ConfigurationError('tx', `${WHAT} It is a database, a pool, or a transaction that has ended.`);
}

const FAILED =
  'expect(): this transaction is aborted, so nothing was kept: an earlier statement in it failed, and its error was caught. ' +
  'Let that error leave the function.';
const WHAT =
  "expect(): tx is not an open transaction of the store's library, so nothing was kept. Pass the transaction " +
  'that your library gives to its callback.';
