import type { Evidence, VerifiedCallback, VerifiedRedirect } from './verify/verified.ts';

/**
 * Whether the signed fields say that the transaction completed (protocol §6: event `transaction.completed` with
 * status `COMPLETED`). Other events and statuses are not shown in the specification: they verify, and are not this.
 *
 * @example
 * if (!isTransactionCompleted(callback)) return; // another outcome: keep it, and credit nothing
 */
export function isTransactionCompleted(verified: VerifiedCallback | VerifiedRedirect | Evidence): boolean {
  return (
    verified.signed.event === 'transaction.completed' && verified.signed.transaction_status === 'COMPLETED'
  );
}
