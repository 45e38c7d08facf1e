import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type PostgresClient,
  postgres,
  type SqliteTransaction,
  type Store,
  sqlite,
} from '@payment-service/inbox';
import { createDatabase, EFFECT_TABLE } from './postgres.ts';

/** A database with an inbox and the merchant's own table. */
export interface DrainEngine<Tx> {
  readonly store: Store<Tx>;
  /** The effect of a payment, in the handler's transaction. */
  readonly apply: (tx: Tx, transitionId: string, amount: string) => Promise<unknown>;
  /** Runs one statement without the inbox, which returns a number or nothing. */
  readonly ask: (statement: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** In its own database, so that an open snapshot in one does not hold back the others. */
export async function postgresEngine(
  serverUrl: string,
  name: string,
  connections = 10,
): Promise<DrainEngine<PostgresClient>> {
  const pool = await createDatabase(serverUrl, name, connections);
  return {
    store: postgres(pool),
    // A named statement, as in the other contenders: parsing it each time would be a cost of the handler and not of the inbox.
    apply: (tx, ...values) =>
      tx.query({ name: 'effect', text: 'insert into merchant_effect values ($1, $2)', values }),
    ask: async (statement) => Number((await pool.query<{ n?: string }>(statement)).rows[0]?.n ?? Number.NaN),
    close: () => pool.end(),
  };
}

export async function sqliteEngine(folder: string, name: string): Promise<DrainEngine<SqliteTransaction>> {
  const path = join(folder, `${name}.db`);
  const file = new DatabaseSync(path, { timeout: 10_000 });
  file.exec(`pragma journal_mode = wal; ${EFFECT_TABLE}`);
  const store = sqlite(path);
  return {
    store,
    apply: (tx, ...values) => tx.query('insert into merchant_effect values (?, ?)', values),
    ask: async (statement) => Number(file.prepare(statement).get()?.['n'] ?? Number.NaN),
    async close() {
      await store.close?.();
      file.close();
      await rm(path);
    },
  };
}
