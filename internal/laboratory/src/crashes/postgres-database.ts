import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { EFFECT_TABLE } from '../history/effects.ts';
import { ANSWER_MS, type TestDatabase, testDatabase } from './test-database.ts';

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
  return testDatabase({
    database: { store: 'postgres', url: server.url },
    prefix: 'payment_inbox.',
    read: async (statement) => (await pool.query(statement)).rows,
    kill: server.kill,
    restart: server.restart,
    async stop() {
      // A session that lost its server without a word is never given back to the pool.
      await Promise.race([pool.end(), wait(ANSWER_MS, undefined, { ref: false })]);
      await server.stop();
    },
  });
}
