import { DatabaseSync } from 'node:sqlite';
import { createInbox, type Inbox, type InboxOptions, postgres, sqlite } from '@payment-service/inbox';
import pg from 'pg';
import { type EffectValues, INSERT_EFFECT } from '../history/remains.ts';
import type { Database } from './databases.ts';

/** Writes an effect within the handler's transaction. */
export type InsertEffect<Tx> = (tx: Tx, effect: EffectValues) => Promise<unknown>;

type Options = Omit<InboxOptions<unknown>, 'store'>;

/** Retries are quick, so that a run does not wait for them; otherwise the inbox is as merchants use it. */
const OPTIONS: Options = { retry: { firstDelayMs: 50, longestDelayMs: 1000 } };

/**
 * Opens the merchant's inbox on either engine.
 *
 * @param use what to do with it; generic, since the engines' transactions have different types.
 */
export function withInbox<R>(
  database: Database,
  options: Options,
  use: <Tx>(inbox: Inbox<Tx>, insertEffect: InsertEffect<Tx>) => R,
): R {
  if (database.store === 'postgres') {
    const pool = new pg.Pool({ connectionString: database.url, max: 12, connectionTimeoutMillis: 5000 });
    // Once the inbox is closed nothing else listens for errors, and the server is stopped while connections are idle.
    pool.on('error', () => undefined);
    return use(createInbox({ ...OPTIONS, ...options, store: postgres(pool) }), (tx, effect) =>
      tx.query(INSERT_EFFECT.postgres, [...effect]),
    );
  }
  return use(createInbox({ ...OPTIONS, ...options, store: sqlite(database.path) }), (tx, effect) =>
    tx.query(INSERT_EFFECT.sqlite, [...effect]),
  );
}

/**
 * The control: writes an effect in its own transaction, which commits before the inbox marks the transition as done. A process
 * that dies between the two repeats the effect.
 */
export function outsideEffects(database: Database): (effect: EffectValues) => Promise<unknown> {
  if (database.store === 'postgres') {
    const pool = new pg.Pool({ connectionString: database.url, max: 4 });
    pool.on('error', () => undefined);
    return (effect) => pool.query(INSERT_EFFECT.postgres, [...effect]);
  }
  const file = new DatabaseSync(database.outsidePath, { timeout: 5000 });
  file.exec('pragma journal_mode = wal; pragma synchronous = full');
  const insert = file.prepare(INSERT_EFFECT.sqlite);
  return async (effect) => insert.run(...effect);
}
