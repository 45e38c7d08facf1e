import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { deliveryKey } from './acknowledgement-record.ts';
import { EFFECT_COLUMNS, EFFECT_TABLE, effectOf } from './database.ts';
import { OPEN, type TestDatabase } from './test-database.ts';

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

  const text = async (statement: string): Promise<Record<string, string>[]> =>
    (await pool.query<Record<string, string>>(statement)).rows;
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
    async states() {
      const rows = await text(
        `select concat_ws(': ', state, reason) as state, count(*)::text as n from payment_inbox.transition
         group by 1 order by 1`,
      );
      return Object.fromEntries(rows.map(({ state = '', n }) => [state, Number(n)]));
    },
    async stored() {
      const rows = await text(
        `select c.transition_id as id, encode(sha256(convert_to(b.content, 'UTF8')), 'hex') as digest
         from payment_inbox.body b join payment_inbox.callback c on c.id = b.transition`,
      );
      return new Set(rows.map(({ id = '', digest = '' }) => deliveryKey({ transitionId: id, digest })));
    },
    effects: async () => (await text(`select ${EFFECT_COLUMNS} from merchant_effect`)).map(effectOf),
    async stop() {
      // A session that lost its server without a word is never given back to the pool.
      await Promise.race([pool.end(), wait(ANSWER_MS)]);
      await server.stop();
    },
  };
}
