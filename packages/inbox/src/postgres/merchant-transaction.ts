import type { TransactionGuard } from '../transaction-guard.ts';
import type { PostgresClient, PostgresTransaction } from './postgres-pool.ts';

/** What a handler and the body of `transaction()` get on PostgreSQL. */
export function merchantTransaction(client: PostgresClient, guard: TransactionGuard): PostgresTransaction {
  return {
    query: (text, values = []) =>
      // The extended protocol takes one statement at a time: no COMMIT can hide behind another statement.
      guard.run(text, 'postgres', () => client.query({ text, values, queryMode: 'extended' })),
  };
}

/**
 * Begins a transaction for the merchant's code. The server's own limits hold even when this process has ended or
 * hangs, so that nothing stays locked.
 */
export function beginFor(timeoutMs: number): string {
  return (
    `begin isolation level read committed; set local statement_timeout = ${timeoutMs}; ` +
    `set local idle_in_transaction_session_timeout = ${3 * timeoutMs + 10_000}`
  );
}
