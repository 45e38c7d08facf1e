import {
  createInbox,
  type Inbox,
  type InboxOptions,
  postgres,
  type Store,
  sqlite,
} from '@payment-service/inbox';
import pg from 'pg';
import type { Database } from '../topology/topology.ts';

/** What a handler needs from a transaction of either engine. */
export interface Transaction {
  query(text: string, values: (string | number)[]): Promise<unknown>;
}

/** Opens the merchant's inbox. Retries are quick, so that a run does not wait for them. */
export function openInbox(
  database: Database,
  options: Omit<InboxOptions<Transaction>, 'store'> = {},
): Inbox<Transaction> {
  const store: Store<Transaction> =
    database.store === 'sqlite' ? sqlite(database.path) : postgres(openPool(database.url));
  return createInbox({
    statuses: { FAILED: 'failed' },
    retry: { firstDelayMs: 50, longestDelayMs: 1000 },
    ...options,
    store,
  });
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 12, connectionTimeoutMillis: 5000 });
  // Once the inbox is closed nothing else listens for errors, and the server is stopped while connections are idle.
  pool.on('error', () => undefined);
  return pool;
}
