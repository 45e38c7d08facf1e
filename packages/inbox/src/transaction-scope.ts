import { AsyncLocalStorage } from 'node:async_hooks';
import { ConfigurationError } from '@payment-service/core';
import type { TransactionGuard } from './transaction-guard.ts';

/** Tells, in whatever a handler or the body of `transaction()` calls, that its transaction is running. */
export const transactionScope: AsyncLocalStorage<TransactionGuard> = new AsyncLocalStorage();

/**
 * For what has a transaction of its own, and could wait for a lock that the running one holds; and for what waits for
 * the running one to end.
 *
 * @param why what the error says, and what to do instead.
 * @throws {ConfigurationError} inside a handler or the body of `transaction()`, until its transaction ends: what was
 * started there and goes on later waits for nothing of it.
 */
export function refuseInTransaction(why: string = MAY_WAIT): void {
  const guard = transactionScope.getStore();
  if (guard === undefined || guard.isOver) return;
  throw new ConfigurationError('tx', why);
}

const MAY_WAIT =
  'Inside a handler or transaction() this call could wait for the very transaction that waits for it. Use the tx ' +
  'that you have: expect() takes it as { tx }. Other calls that write to the inbox come after it.';
