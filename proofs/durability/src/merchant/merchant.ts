import {
  createInbox,
  type Inbox,
  type InboxOptions,
  postgres,
  type Store,
  sqlite,
} from '@payment-service/inbox';
import pg from 'pg';
import { type EffectValues, INSERT_EFFECT } from '../history/remains.ts';
import { type Database, openFile, outsidePath } from '../topology/topology.ts';

/** What a handler needs of the transaction of either engine. */
export interface Transaction {
  query(text: string, values: (string | number)[]): Promise<unknown>;
}

/** Opens the merchant's inbox. Retries are quick, so that a run does not wait for them. */
export function openInbox(
  database: Database,
  options: Omit<InboxOptions<Transaction>, 'store'> = {},
): Inbox<Transaction> {
  const store: Store<Transaction> =
    database.store === 'sqlite' ? sqlite(database.path) : postgres(openPool(database.url, 12));
  return createInbox({ retry: { firstDelayMs: 50, longestDelayMs: 1000 }, ...options, store });
}

/**
 * The control: writes an effect in its own transaction, which commits before the inbox marks the transition as done. A process
 * that dies between the two repeats the effect.
 */
export function outsideEffects(database: Database): (effect: EffectValues) => Promise<unknown> {
  if (database.store === 'postgres') {
    const pool = openPool(database.url, 4);
    return (effect) => pool.query(INSERT_EFFECT.postgres, [...effect]);
  }
  const insert = openFile(outsidePath(database.path)).prepare(INSERT_EFFECT.sqlite);
  return async (effect) => insert.run(...effect);
}

function openPool(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString, max, connectionTimeoutMillis: 5000 });
  // Once the inbox is closed nothing else listens for errors, and the server is stopped while connections are idle.
  pool.on('error', () => undefined);
  return pool;
}
