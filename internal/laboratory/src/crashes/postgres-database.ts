import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { EFFECT_TABLE } from '../history/effects.ts';
import { OPEN, readRemains } from '../history/postgres-remains.ts';
import type { TestDatabase } from './test-database.ts';

/** A session whose server was killed may take longer than this to say so. */
const ANSWER_MS = 3000;

/** Found before the server's own by connections whose search_path begins with its schema. */
const CLOCK = `create schema if not exists stepped;
  create table if not exists stepped.clock (ms bigint not null);
  insert into stepped.clock select 0 where not exists (select from stepped.clock);
  create or replace function stepped.statement_timestamp() returns timestamptz language sql stable as
    $$ select pg_catalog.statement_timestamp() + (select ms from stepped.clock) * interval '1 millisecond' $$`;
const FILLER = `create table if not exists filler (content text);
  insert into filler select repeat('x', 1000) from generate_series(1, 1000)`;
const REVIVE_MS = 10_000;

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
    async fillUp() {
      const code = await pool.query(FILLER).then(
        () => undefined,
        (error: unknown) => Reflect.get(Object(error), 'code') ?? 'gone',
      );
      if (code === undefined) return 'room';
      return code === '53100' ? 'full' : 'gone';
    },
    async revive() {
      const end = performance.now() + REVIVE_MS;
      const drop = (): Promise<boolean> =>
        pool.query('drop table if exists filler').then(
          () => true,
          () => false,
        );
      while (!(await drop())) {
        await wait(200);
        if (performance.now() < end) continue;
        await server.kill('everything');
        await server.restart();
      }
    },
    setClock: async (ms) => {
      await pool.query(CLOCK);
      await pool.query('update stepped.clock set ms = $1', [ms]);
    },
    async keptAt() {
      const { rows } = await pool.query<{ at: string }>(
        'select first_at as at from payment_inbox.callback order by id',
      );
      return rows.map(({ at }) => Number(at));
    },
    async seenAt() {
      const { rows } = await pool.query<{ at: string }>('select max(seen_at) as at from payment_inbox.pulse');
      return Number(rows[0]?.at);
    },
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
