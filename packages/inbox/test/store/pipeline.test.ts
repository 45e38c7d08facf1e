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
  inbox.handle('paid', credit);
  await order(inbox, 'A', 'B', 'C');
  await workUntilSettled(inbox, 3);
  // From now on, no borrowed connection knows a statement.
  pool.on('acquire', (client) => void client.query('deallocate all'));
  await order(inbox, 'D', 'E', 'F');
  await direct.query(`update ${schema}.transition set next_at = 0 where next_at is not null`);
  await workUntilSettled(inbox, 6);
  expect(await credits()).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
  await expectOneAttemptEach(shop);
  expect(await inbox.report(paid('F', 500).transitionId)).toMatchObject({ state: 'settled' });
});

test('a pooler that forgets a statement while a handler runs takes the start back, and the effect is rolled back', async () => {
  const shop = poolShop({ inbox: LATER, pool: { max: 1 } });
  const { inbox, newLedger } = shop;
  const { credit, credits } = await newLedger();
  let runs = 0;
  inbox.handle('paid', async ({ tx, signed }) => {
    await credit({ tx, signed });
    runs += 1;
    if (signed.merchant_reference === 'B') await tx.query('deallocate all');
  });
  await order(inbox, 'A');
  await workUntilSettled(inbox, 1);
  await order(inbox, 'B');
  await workUntilSettled(inbox, 2);
  expect(runs).toBe(3);
  expect(await credits()).toEqual(['A', 'B']);
  await expectOneAttemptEach(shop);
});

test('a statement that failed in the message that prepared it runs in the next one on that connection', async () => {
  const { pool, store } = newStore(1);
  const divide = (by: number) => {
    const entry = [
      { statement: { text: 'select 6 / cast($1 as integer) as n', isPrepared: true }, values: [by] },
    ];
    return store.transaction(async (_, rows) => rows, { entry });
  };
  const who = 'select pg_backend_pid() as id';
  const { rows } = await pool.query(who);
  await expect(divide(0)).rejects.toThrow('division by zero');
  expect(await divide(2)).toEqual([[{ n: '3' }]]);
  await expect(divide(0)).rejects.toThrow('division by zero');
  expect(await divide(3)).toEqual([[{ n: '2' }]]);
  expect((await pool.query(who)).rows).toEqual(rows);
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

test('what runs after a statement may fail, and the statement before it is committed; if that fails, it does not run', async () => {
  const { pool, run, rows } = await newTable({});
  for (const turn of [1, 2]) {
    expect(await run(6, 0)).toEqual([{ n: '1' }]);
    await expect(run(0, 6)).rejects.toThrow('division by zero');
    expect(await rows()).toHaveLength(turn);
  }
  expect(pool.totalCount).toBe(1);
});

test('two stores on one pool execute what one of them has prepared', async () => {
  const { pool, store } = newStore(1);
  const entry = [{ statement: { text: 'select 2 as two', isPrepared: true }, values: [] }];
  for (const each of [store, postgres(pool), store])
    expect(await each.transaction(async (_, rows) => rows, { entry })).toEqual([[{ two: '2' }]]);
  const names = 'select name from pg_prepared_statements';
  // The statement that begins the transaction, and the test's own.
  expect((await pool.query(names)).rows).toEqual(Array(2).fill({ name: expect.stringMatching(/_x$/) }));
});

test('a body that fails after its last statement has committed leaves the next transaction to its own commit', async () => {
  const { pool, store } = newStore(1);
  const table = `message_${process.hrtime.bigint()}`;
  await pool.query(`create table ${table} (n integer)`);
  const last = {
    text: `insert into ${table} values (cast($1 as integer)) returning n`,
    isPrepared: true,
    isLast: true,
  };
  const failing = store.transaction(async (tx) => {
    expect(await store.query(last, [1], tx)).toEqual([{ n: '1' }]);
    throw new Error('after the commit');
  });
  await expect(failing).rejects.toThrow('after the commit');
  await store.transaction((tx) => tx.query(`insert into ${table} values (2)`));
  // Another connection would not see what is open on this one.
  await pool.query('rollback');
  expect((await pool.query(`select n from ${table} order by n`)).rows).toEqual([{ n: 1 }, { n: 2 }]);
});
