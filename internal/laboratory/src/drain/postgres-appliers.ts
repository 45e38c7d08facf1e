import type pg from 'pg';
import { openBacklog } from '../load/backlog.ts';
import { type DrainEngine, postgresEngine } from '../load/engines.ts';
import { createDatabase, databaseUrl } from '../load/postgres.ts';
import { openGraphile, startPgBoss } from '../load/queues.ts';
import { type Applier, COUNT_EFFECTS, countdown } from './applier.ts';

/** As a pool of `pg` has by default, and two more than ten workers need. */
const CONNECTIONS = 12;
const EFFECT = 'insert into merchant_effect values ($1, $2)';

export async function inboxApplier(serverUrl: string): Promise<Applier> {
  return engineApplier('inbox', await postgresEngine(serverUrl, 'apply_inbox', CONNECTIONS));
}

/** The inbox on whichever engine. */
export async function engineApplier<Tx>(name: string, engine: DrainEngine<Tx>): Promise<Applier> {
  const backlog = openBacklog(engine, 0);
  await backlog.fill();
  return {
    name,
    fill: async (count) => backlog.fill(count),
    apply: async (count, concurrency) => count / (await backlog.drain(count, { concurrency })),
    effects: () => engine.ask(COUNT_EFFECTS),
    close: backlog.close,
  };
}

/**
 * What no program can do without that commits the start of an attempt, so that a crash is counted, and then has the effect
 * and the record of it in one transaction.
 */
export async function floorApplier(serverUrl: string): Promise<Applier> {
  const pool = await createDatabase(serverUrl, 'apply_floor', CONNECTIONS);
  await pool.query(
    `create table payment (id bigint generated always as identity primary key, reference text not null unique, content text not null,
      amount text not null, attempts integer not null default 0, next_at timestamptz default now());
    create index on payment (next_at, id) where next_at is not null`,
  );
  const insert = `insert into payment (reference, content, amount)
    select gen_random_uuid(), repeat('x', 500), '500' from generate_series(1, $1)`;
  const start = `update payment set attempts = attempts + 1, next_at = now() + interval '30 s' where id = $1
    returning content, amount`;
  const settle = 'update payment set next_at = null where id = $1 and next_at is not null';
  return {
    name: 'floor',
    fill: async (count) => {
      await pool.query(insert, [count]);
      await pool.query('vacuum analyze payment');
    },
    async apply(count, concurrency) {
      const started = performance.now();
      const first = 'select id from payment where next_at is not null order by next_at, id limit $1';
      const due = (await pool.query<{ id: string }>(first, [count])).rows.values();
      const work = async (): Promise<void> => {
        for (const { id } of due) {
          await pool.query({ name: 'start', text: start, values: [id] });
          await applyIn(pool, id, { name: 'settle', text: settle, values: [id] });
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      return (performance.now() - started) / 1000;
    },
    ...ends(pool),
  };
}

/** The job is completed in a transaction of its own, after the effect: a crash between the two repeats the effect. */
export async function graphileApplier(serverUrl: string): Promise<Applier> {
  const pool = await createDatabase(serverUrl, 'apply_graphile', CONNECTIONS);
  const graphile = await openGraphile(pool);
  const insert = `select graphile_worker.add_jobs(array(select row('apply', json_build_object('id', n, 'content', repeat('x', 500)),
    null, null, null, null, null, null)::graphile_worker.job_spec from generate_series(1, $1) n))`;
  return {
    name: 'graphile-worker',
    fill: async (count) => {
      await pool.query(insert, [count]);
      await pool.query('analyze');
    },
    async apply(count, concurrency) {
      const { call, seconds } = countdown(count);
      const runner = await graphile.work(concurrency, 'id', (client, id) => applyWith(client, id));
      runner.events.on('job:complete', call);
      const took = await seconds;
      await runner.stop();
      return took;
    },
    ...ends(pool),
  };
}

/** Batches of 50: each job runs in a transaction of its own, and the batch is completed after it. */
export async function pgBossApplier(serverUrl: string): Promise<Applier> {
  const pool = await createDatabase(serverUrl, 'apply_pgboss', CONNECTIONS);
  const boss = await startPgBoss(databaseUrl(serverUrl, 'apply_pgboss'), 'payments', CONNECTIONS);
  const options = { batchSize: 50, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
  return {
    name: 'pg-boss, batches of 50',
    async fill(count) {
      for (let left = count; left > 0; left -= 1000) {
        const data = (_: unknown, id: number) => ({ data: { id, content: 'x'.repeat(500) } });
        await boss.insert('payments', Array.from({ length: Math.min(left, 1000) }, data));
      }
      await pool.query('analyze');
    },
    async apply(count, concurrency) {
      const { call, seconds } = countdown(count);
      const id = await boss.work('payments', options, async (jobs) => {
        const rest = jobs.values();
        const work = async (): Promise<void> => {
          for (const job of rest) {
            await applyIn(pool, job.id);
            call();
          }
        };
        await Promise.all(Array.from({ length: concurrency }, work));
      });
      const took = await seconds;
      await boss.offWork('payments', { id, wait: true });
      return took;
    },
    ...ends(pool, () => boss.stop({ graceful: false })),
  };
}

function ends(pool: pg.Pool, stop?: () => Promise<void>): Pick<Applier, 'effects' | 'close'> {
  return {
    effects: async () => Number((await pool.query<{ n: string }>(COUNT_EFFECTS)).rows[0]?.n),
    async close() {
      await stop?.();
      await pool.end();
    },
  };
}

async function applyIn(pool: pg.Pool, id: string, more?: pg.QueryConfig): Promise<void> {
  const client = await pool.connect();
  await applyWith(client, id, more);
  client.release();
}

/** The effect, and what else belongs to its transaction. */
async function applyWith(client: pg.PoolClient, id: unknown, more?: pg.QueryConfig): Promise<void> {
  await client.query('begin');
  await client.query({ name: 'effect', text: EFFECT, values: [id, '500'] });
  if (more !== undefined) await client.query(more);
  await client.query('commit');
}
