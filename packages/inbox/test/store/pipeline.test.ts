import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { postgres } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type PoolShop, poolShop } from '../support/pool-shop.ts';
import { LATER, order } from '../support/shop.ts';
import { until, workUntilSettled } from '../support/until.ts';

function newStore(connections = 3, options: object = {}) {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: connections, ...options });
  onTestFinished(() => pool.end());
  return { pool, store: postgres(pool) };
}

test('values arrive unchanged in a message of several statements, prepared or not', async () => {
  const { pool, store } = newStore(1);
  const text = 'select cast($2 as text) as second, cast($1 as text) as first';
  const texts = ["it's", '\\', "\\'; select 1; --", '$2', '"', 'ü€😀', ''];
  for (const isPrepared of [true, false])
    for (const setting of ['on', 'off']) {
      await pool.query(`set standard_conforming_strings = ${setting}`);
      for (const given of [...texts, null, -1.5, 2 ** 53 - 1]) {
        const call = { statement: { text, isPrepared }, values: [given, 'two'] };
        const entered = await store.transaction(async (_, rows) => rows, { entry: [call, call] });
        const row = { first: given === null ? null : String(given), second: 'two' };
        expect(entered).toEqual([[row], [row]]);
      }
    }
});

test('a statement behind a lock, in the same message, sees what was committed while it waited', async () => {
  const { pool, store } = newStore();
  const table = `message_${process.hrtime.bigint()}`;
  await pool.query(`create table ${table} (n integer)`);
  const holder = await pool.connect();
  await holder.query(`begin; select pg_advisory_xact_lock(hashtext('${table}'))`);
  const lock = { text: `select pg_advisory_xact_lock(hashtext('${table}'))` };
  const read = { text: `select count(*)::int as n from ${table}`, isPrepared: true };
  const entry = [lock, read].map((statement) => ({ statement, values: [] }));
  const entering = store.transaction(async (_, rows) => rows[1], { entry });
  const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
  while ((await pool.query(waiting)).rows.length === 0);
  await holder.query(`insert into ${table} values (1); commit`);
  holder.release();
  expect(await entering).toEqual([{ n: '1' }]);
});

/** No start that was taken back has counted. */
async function expectOneAttemptEach({ direct, schema, events }: PoolShop): Promise<void> {
  expect(events.filter(({ name }) => name === 'transition.retrying')).toEqual([]);
  const { rows } = await direct.query(`select distinct attempts, unfinished from ${schema}.transition`);
  expect(rows).toEqual([{ attempts: 1, unfinished: 0 }]);
}

test('behind a pooler that forgets prepared statements, starts are taken back and no attempt is counted', async () => {
  const shop = poolShop({ inbox: LATER, pool: { max: 4 } });
  const { inbox, pool, direct, schema, newLedger } = shop;
  const { credit, credits } = await newLedger();
  inbox.handle(credit);
  await order(inbox, 'A', 'B', 'C');
  await workUntilSettled(inbox, 3);
  // From now on, no borrowed connection knows a statement.
  pool.on('acquire', (client) => void client.query('deallocate all'));
  await order(inbox, 'D', 'E', 'F');
  await direct.query(`update ${schema}.transition set next_at = 0 where next_at is not null`);
  await workUntilSettled(inbox, 6);
  expect(await credits()).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
  await expectOneAttemptEach(shop);
  expect(await inbox.show(paid('F', 500).transitionId)).toMatchObject({ state: 'settled' });
});

async function newTable(options: object) {
  const { pool, store } = newStore(1, options);
  const table = `after_${process.hrtime.bigint()}`;
  await pool.query(`create table ${table} (n integer)`);
  const text = `insert into ${table} values (6 / cast($1 as integer)) returning n::text`;
  const insert = (by: number) => ({ statement: { text, isPrepared: true }, values: [by] });
  return {
    pool,
    run: (by: number, after: number) =>
      store.query(insert(by).statement, [by], undefined, undefined, insert(after)),
    rows: async () => (await pool.query(`select n, xmin::text from ${table} order by n`)).rows,
  };
}

test.each([
  ['in the same message', {}],
  ['on a pool with a pipeline of its own', { pipeline: true }],
])('what runs after a statement is a transaction of its own, %s', async (_, options) => {
  const { run, rows } = await newTable(options);
  for (const by of [6, 2]) expect(await run(by, by / 2)).toEqual([{ n: String(6 / by) }]);
  await until(async () => (await rows()).length === 4);
  expect((await rows()).map(({ n }) => n)).toEqual([1, 2, 3, 6]);
  expect(new Set((await rows()).map(({ xmin }) => xmin)).size).toBe(4);
});
