import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { EFFECT_TABLE } from '../history/effects.ts';
import { OPEN, readRemains } from '../history/postgres-remains.ts';
import type { TestDatabase } from './test-database.ts';

/** A session whose server was killed may take longer than this to say so. */
const ANSWER_MS = 3000;

/** A PostgreSQL server of its own, as it comes: every commit is on disk before it is answered. */
export async function postgresDatabase(): Promise<TestDatabase> {
  const server = await startPostgres();
  const pool = new pg.Pool({
    connectionString: server.url,
    max: 2,
    // A session of a killed server may never answer.
    connectionTimeoutMillis: 5000,
    query_timeout: 60_000,
  });
  pool.on('error', () => undefined);
  await pool.query(EFFECT_TABLE);

  const count = async (condition: string): Promise<number | undefined> => {
    const counted = pool
      .query<{ n: number }>(`select count(*)::int as n from payment_inbox.transition where ${condition}`)
      .then(
        ({ rows }) => rows[0]?.n,
        () => undefined,
      );
    return Promise.race([counted, wait(ANSWER_MS, undefined)]);
  };
  return {
    database: { store: 'postgres', url: server.url },
    kill: (what) => server.kill(what),
    restart: () => server.restart(),
    due: () => count(`${OPEN} and next_at <= extract(epoch from clock_timestamp()) * 1000`),
    open: () => count(OPEN),
    remains: () => readRemains(pool),
    async stop() {
      // A session that lost its server without a word is never given back to the pool.
      await Promise.race([pool.end(), wait(ANSWER_MS)]);
      await server.stop();
    },
  };
}
