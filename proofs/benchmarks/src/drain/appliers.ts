import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openBacklog } from '@payment-service/durability/load/backlog.ts';
import { postgresEngine, sqliteEngine } from '@payment-service/durability/load/engines.ts';
import { inConcert } from '@payment-service/durability/load/in-concert.ts';
import { createDatabase, databaseUrl, EFFECT_TABLE } from '@payment-service/durability/load/postgres.ts';
import { insertJobs, openGraphile, startPgBoss } from '@payment-service/durability/load/queues.ts';
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

/** One for each of 32 handlers, and four more. */
const CONNECTIONS = 36;
export const EFFECT = 'insert into merchant_effect values ($1, $2)';

/** All ways. */
export async function openAppliers(serverUrl: string): Promise<readonly Applier[]> {
  return [
    await inboxApplier(serverUrl),
    await floorApplier(serverUrl),
    await graphileApplier(serverUrl),
    await graphileApplier(serverUrl, 50),
    await pgBossApplier(serverUrl, 2),
    await pgBossApplier(serverUrl, 10),
  ];
}

async function inboxApplier(serverUrl: string): Promise<Applier> {
  const engine = await postgresEngine(serverUrl, 'apply_inbox', CONNECTIONS);
  const backlog = openBacklog(engine, 0);
  await backlog.fill();
  return {
    name: 'inbox',
    fill: async (count) => backlog.fill(count),
    apply: async (count, concurrency) => count / (await backlog.drain(count, { concurrency })),
    effects: () => engine.ask(COUNT_EFFECTS),
    close: backlog.close,
  };
}

/** The one writer of a file, with a message to the inbox's thread for each step. */
export async function sqliteAppliers(folder: string): Promise<readonly Applier[]> {
  const engine = await sqliteEngine(folder, 'apply_inbox');
  const backlog = openBacklog(engine, 0);
  await backlog.fill();
  const inbox: Applier = {
    name: 'inbox, SQLite',
    fill: async (count) => backlog.fill(count),
    apply: async (count) => count / (await backlog.drain(count)),
    effects: () => engine.ask(COUNT_EFFECTS),
    close: backlog.close,
  };
  return [inbox, sqliteFloor(join(folder, 'apply_floor.db'))];
}

/** As the floor on PostgreSQL, in one thread, with a sync for each of the two commits. */
function sqliteFloor(path: string): Applier {
  const file = new DatabaseSync(path);
  file.exec(`pragma journal_mode = wal; pragma synchronous = full; ${EFFECT_TABLE};
    create table payment (id integer primary key, reference text not null unique, content text not null, amount text not null,
      attempts integer not null default 0, next_at integer) strict;
    create index due on payment (next_at, id) where next_at is not null`);
  const run = (text: string) => file.prepare(text);
  const insert = run(`insert into payment (reference, content, amount, next_at) values (?, ?, '500', 1)`);
  const find = run('select id from payment where next_at is not null order by next_at, id limit 50');
  const start = run('update payment set attempts = attempts + 1, next_at = ? where id = ? returning content');
  const settle = run('update payment set next_at = null where id = ? and next_at is not null');
  const effect = run('insert into merchant_effect values (?, ?)');
  const [begin, commit] = [run('begin immediate'), run('commit')];
  return {
    name: 'floor, SQLite',
    async fill(count) {
      begin.run();
      for (let n = 0; n < count; n++) insert.run(randomUUID(), 'x'.repeat(500));
      commit.run();
    },
    async apply(count) {
      const started = performance.now();
      for (let done = 0; done < count; )
        for (const { id = 0 } of find.all()) {
          start.get(Date.now() + 30_000, id);
          begin.run();
          effect.run(String(id), '500');
          settle.run(id);
          commit.run();
          done += 1;
        }
      return (performance.now() - started) / 1000;
    },
    effects: async () => Number(file.prepare(COUNT_EFFECTS).get()?.['n']),
    close: async () => file.close(),
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
        const client = await pool.connect();
        await applyWith(client, id, { name: 'settle', text: settle, values: [id] });
        client.release();
      });
      return (performance.now() - started) / 1000;
    },
    ...ends(pool),
  };
}

/**
 * The job is completed in its own transaction, after the effect: a crash between the two repeats the effect.
 *
 * @param batch how many jobs one statement fetches; then jobs are also completed together.
 */
async function graphileApplier(serverUrl: string, batch?: number): Promise<Applier> {
  const pool = await createDatabase(serverUrl, `apply_graphile_${batch ?? 1}`, CONNECTIONS);
  const graphile = await openGraphile(pool);
  return {
    name: batch ? `graphile-worker, batches of ${batch}` : 'graphile-worker',
    fill: async (count) => void (await graphile.addJobs(count)),
    async apply(count, concurrency) {
      const started = performance.now();
      const { promise, resolve } = Promise.withResolvers<void>();
      const runner = await graphile.work(concurrency, 'id', (client, id) => applyWith(client, id), batch);
      let left = count;
      runner.events.on('job:complete', () => --left === 0 && resolve());
      await promise;
      const took = performance.now() - started;
      await runner.stop();
      return took / 1000;
    },
    ...ends(pool),
  };
}

/**
 * The effects of a batch and the completion of its jobs are one transaction, so one that fails takes the others of its batch back.
 * Two jobs are the fewest that it fetches without a pause.
 */
async function pgBossApplier(serverUrl: string, batchSize: number): Promise<Applier> {
  const name = `apply_boss_${batchSize}`;
  const pool = await createDatabase(serverUrl, name, 2);
  const boss = await startPgBoss(databaseUrl(serverUrl, name), 'apply', CONNECTIONS);
  return {
    name: `pg-boss, ${batchSize} in a batch`,
    fill: async (count) => {
      await insertJobs(boss, 'apply', count);
      await pool.query('analyze');
    },
    async apply(count, localConcurrency) {
      const started = performance.now();
      const { promise, resolve } = Promise.withResolvers<void>();
      let left = count;
      const options = { batchSize, localConcurrency, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
      await boss.work('apply', { ...options, transactional: true }, async (jobs, tx) => {
        for (const { id } of jobs) await tx.executeSql(EFFECT, [id, '500']);
        left -= jobs.length;
        if (left === 0) resolve();
      });
      await promise;
      await boss.offWork('apply', { wait: true });
      return (performance.now() - started) / 1000;
    },
    effects: ends(pool).effects,
    close: async () => {
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}

function ends(pool: pg.Pool): Pick<Applier, 'effects' | 'close'> {
  return {
    effects: async () => Number((await pool.query<{ n: string }>(COUNT_EFFECTS)).rows[0]?.n),
    close: () => pool.end(),
  };
}

/** The effect, and the rest of its transaction. */
export async function applyWith(client: pg.PoolClient, id: unknown, more?: pg.QueryConfig): Promise<void> {
  await client.query('begin');
  await client.query({ name: 'effect', text: EFFECT, values: [id, '500'] });
  if (more !== undefined) await client.query(more);
  await client.query('commit');
}
