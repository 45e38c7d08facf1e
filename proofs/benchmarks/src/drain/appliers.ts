import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openBacklog } from '@payment-service/durability/load/backlog.ts';
import { type DrainEngine, postgresEngine, sqliteEngine } from '@payment-service/durability/load/engines.ts';
import { inConcert } from '@payment-service/durability/load/in-concert.ts';
import { createDatabase, databaseUrl, EFFECT_TABLE } from '@payment-service/durability/load/postgres.ts';
import { openGraphile, startPgBoss } from '@payment-service/durability/load/queues.ts';
import type pg from 'pg';

/**
 * One way to apply due payments. All have the same effect: one row in a table of the merchant's, in the transaction that marks
 * the payment as done.
 */
export interface Applier {
  readonly name: string;
  /** Adds payments that are due; then ANALYZE. */
  fill(count: number): Promise<void>;
  /**
   * Applies a number of them.
   *
   * @returns how long it took, in seconds.
   */
  apply(count: number, concurrency: number): Promise<number>;
  /** How many effects there are. */
  effects(): Promise<number>;
  close(): Promise<void>;
}

const COUNT_EFFECTS = 'select count(*) as n from merchant_effect';

/** The ten of pg's default pool, which ten workers need, and two more. */
const CONNECTIONS = 12;
const EFFECT = 'insert into merchant_effect values ($1, $2)';

/** All ways. Those on SQLite, which has one writer, apply one payment at a time. */
export async function openAppliers(serverUrl: string, folder: string): Promise<readonly Applier[]> {
  return [
    await engineApplier('inbox', await postgresEngine(serverUrl, 'apply_inbox', CONNECTIONS)),
    await floorApplier(serverUrl),
    await graphileApplier(serverUrl),
    await pgBossApplier(serverUrl),
    await engineApplier('inbox, SQLite', await sqliteEngine(folder, 'apply-inbox')),
    await floorSqliteApplier(folder),
  ];
}

/** The inbox on either engine. */
async function engineApplier<Tx>(name: string, engine: DrainEngine<Tx>): Promise<Applier> {
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
 * The minimum for any program that commits the start of an attempt, so that crashes are counted, and then commits the effect
 * and its record in one transaction.
 */
async function floorApplier(serverUrl: string): Promise<Applier> {
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
      const { rows: due } = await pool.query<{ id: string }>(first, [count]);
      await inConcert(due, concurrency, async ({ id }) => {
        await pool.query({ name: 'start', text: start, values: [id] });
        await applyIn(pool, id, { name: 'settle', text: settle, values: [id] });
      });
      return (performance.now() - started) / 1000;
    },
    ...ends(pool),
  };
}

/** The job is completed in its own transaction, after the effect: a crash between the two repeats the effect. */
async function graphileApplier(serverUrl: string): Promise<Applier> {
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

/** Batches of 50: each job runs in its own transaction, and the batch is completed afterwards. */
async function pgBossApplier(serverUrl: string): Promise<Applier> {
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
        await inConcert(jobs, concurrency, async (job) => {
          await applyIn(pool, job.id);
          call();
        });
      });
      const took = await seconds;
      await boss.offWork('payments', { id, wait: true });
      return took;
    },
    ...ends(pool, () => boss.stop({ graceful: false })),
  };
}

/** Runs in the calling thread, which it blocks: a committed start, then one transaction, both with a full sync. */
async function floorSqliteApplier(folder: string): Promise<Applier> {
  const path = join(folder, 'apply-floor.db');
  const file = new DatabaseSync(path);
  file.exec(
    `pragma journal_mode = wal; pragma synchronous = full; ${EFFECT_TABLE};
     create table payment (id integer primary key, reference text not null unique, content text not null, amount text not null,
       attempts integer not null default 0, next_at integer default 0);
     create index due on payment (next_at, id) where next_at is not null`,
  );
  const due = file.prepare('select id from payment where next_at is not null order by next_at, id limit ?');
  const start = file.prepare(
    'update payment set attempts = attempts + 1, next_at = 1 where id = ? returning content, amount',
  );
  const effect = file.prepare('insert into merchant_effect values (?, ?)');
  const settle = file.prepare('update payment set next_at = null where id = ? and next_at is not null');
  return {
    name: 'floor, SQLite',
    async fill(count) {
      const insert = file.prepare('insert into payment (reference, content, amount) values (?, ?, ?)');
      file.exec('begin');
      for (let n = 0; n < count; n++) insert.run(randomUUID(), 'x'.repeat(500), '500');
      file.exec('commit; analyze');
    },
    async apply(count) {
      const started = performance.now();
      for (const row of due.all(count)) {
        const id = Number(row['id']);
        start.get(id);
        file.exec('begin immediate');
        effect.run(String(id), '500');
        settle.run(id);
        file.exec('commit');
      }
      return (performance.now() - started) / 1000;
    },
    effects: async () => Number(file.prepare(COUNT_EFFECTS).get()?.['n']),
    async close() {
      file.close();
      await rm(path);
    },
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

/** The effect, and the rest of its transaction. */
async function applyWith(client: pg.PoolClient, id: unknown, more?: pg.QueryConfig): Promise<void> {
  await client.query('begin');
  await client.query({ name: 'effect', text: EFFECT, values: [id, '500'] });
  if (more !== undefined) await client.query(more);
  await client.query('commit');
}

/** The seconds until `call` has been called `count` times. */
function countdown(count: number): { readonly call: () => void; readonly seconds: Promise<number> } {
  const started = performance.now();
  const { promise: seconds, resolve } = Promise.withResolvers<number>();
  let left = count;
  const call = (): void => {
    left -= 1;
    if (left === 0) resolve((performance.now() - started) / 1000);
  };
  return { call, seconds };
}
