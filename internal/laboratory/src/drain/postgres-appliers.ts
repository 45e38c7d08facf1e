import { Logger, run, runMigrations } from 'graphile-worker';
import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import { openBacklog } from '../load/backlog.ts';
import { postgresEngine } from '../load/engines.ts';
import { createDatabase, databaseUrl } from '../load/postgres.ts';
import { type Applier, Countdown } from './applier.ts';

/** As a pool of `pg` has by default, and two more than ten workers need. */
const CONNECTIONS = 12;
const EFFECT = 'insert into merchant_effect values ($1, $2)';
const QUIET = new Logger(() => () => undefined);

export async function inboxApplier(serverUrl: string): Promise<Applier> {
  const engine = await postgresEngine(serverUrl, 'apply_inbox', CONNECTIONS);
  const backlog = openBacklog(engine, 0);
  await backlog.fill();
  return {
    name: 'inbox',
    fill: async (count) => backlog.fill(count),
    apply: async (count, concurrency) => count / (await backlog.drain(count, { concurrency })),
    effects: () => engine.ask('select count(*) as n from merchant_effect'),
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
  return {
    name: 'floor',
    fill: async (count) => {
      await pool.query(
        `insert into payment (reference, content, amount) select gen_random_uuid(), repeat('x', 500), '500' from generate_series(1, $1)`,
        [count],
      );
      await pool.query('vacuum analyze payment');
    },
    async apply(count, concurrency) {
      const countdown = new Countdown(count);
      const first = 'select id from payment where next_at is not null order by next_at, id limit $1';
      const due = (await pool.query<{ id: string }>(first, [count])).rows.values();
      const workers = Array.from({ length: concurrency }, async () => {
        for (const { id } of due) {
          await pool.query({
            name: 'start',
            text: "update payment set attempts = attempts + 1, next_at = now() + interval '30 s' where id = $1 returning content, amount",
            values: [id],
          });
          const client = await pool.connect();
          await applyIn(client, id, {
            name: 'settle',
            text: 'update payment set next_at = null where id = $1 and next_at is not null',
            values: [id],
          });
          client.release();
          countdown.count();
        }
      });
      await Promise.all(workers);
      return countdown.seconds;
    },
    effects: () => countEffects(pool),
    close: () => pool.end(),
  };
}

/** The job is completed in a transaction of its own, after the effect: a crash between the two repeats the effect. */
export async function graphileApplier(serverUrl: string): Promise<Applier> {
  const pool = await createDatabase(serverUrl, 'apply_graphile', CONNECTIONS);
  await runMigrations({ pgPool: pool, logger: QUIET });
  return {
    name: 'graphile-worker',
    fill: async (count) => {
      await pool.query(
        `select graphile_worker.add_jobs(array(select row('apply', json_build_object('id', n, 'content', repeat('x', 500)),
          null, null, null, null, null, null)::graphile_worker.job_spec from generate_series(1, $1) n))`,
        [count],
      );
      await pool.query('analyze');
    },
    async apply(count, concurrency) {
      const countdown = new Countdown(count);
      const runner = await run({
        pgPool: pool,
        concurrency,
        noHandleSignals: true,
        logger: QUIET,
        taskList: {
          apply: (payload, { withPgClient }) =>
            withPgClient((client) => applyIn(client, Reflect.get(Object(payload), 'id'))),
        },
      });
      runner.events.on('job:complete', countdown.count);
      const seconds = await countdown.seconds;
      await runner.stop();
      return seconds;
    },
    effects: () => countEffects(pool),
    close: () => pool.end(),
  };
}

/** Batches of 50: each job runs in a transaction of its own, and the batch is completed after it. */
export async function pgBossApplier(serverUrl: string): Promise<Applier> {
  const pool = await createDatabase(serverUrl, 'apply_pgboss', CONNECTIONS);
  const boss = new PgBoss({
    connectionString: databaseUrl(serverUrl, 'apply_pgboss'),
    max: CONNECTIONS,
    supervise: false,
    schedule: false,
  });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue('payments');
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
      const countdown = new Countdown(count);
      const apply = async (id: string): Promise<void> => {
        const client = await pool.connect();
        await applyIn(client, id);
        client.release();
        countdown.count();
      };
      const work = await boss.work(
        'payments',
        { batchSize: 50, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
        async (jobs) => {
          const rest = jobs.values();
          const worker = async (): Promise<void> => {
            for (const { id } of rest) await apply(id);
          };
          await Promise.all(Array.from({ length: concurrency }, worker));
        },
      );
      const seconds = await countdown.seconds;
      await boss.offWork('payments', { id: work, wait: true });
      return seconds;
    },
    effects: () => countEffects(pool),
    close: async () => {
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}

/** The effect, and what else belongs to its transaction. */
async function applyIn(client: pg.PoolClient, id: unknown, more?: pg.QueryConfig): Promise<void> {
  await client.query('begin');
  await client.query({ name: 'effect', text: EFFECT, values: [id, '500'] });
  if (more !== undefined) await client.query(more);
  await client.query('commit');
}

async function countEffects(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ n: string }>('select count(*) as n from merchant_effect');
  return Number(rows[0]?.n);
}
