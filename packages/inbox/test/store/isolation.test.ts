/** Handlers run at the isolation level that the merchant's connections default to, and a conflict is no failure. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { postgres } from '../../src/index.ts';
import { Statements } from '../../src/store/statements.ts';
import { type PoolShop, poolShop } from '../support/pool-shop.ts';
import { order } from '../support/shop.ts';
import { workUntil, workUntilSettled } from '../support/until.ts';

const LEVELS = ['read committed', 'repeatable read', 'serializable'] as const;
const REFERENCES = ['A', 'B', 'C', 'D', 'E', 'F'];

function shopAt(level: string): PoolShop {
  const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
  return poolShop({ pool: { max: 12, options }, inbox: { random: Math.random } });
}

describe.each(LEVELS)('handlers on connections that default to %s', (level) => {
  test('lose no update unless the level allows that, may lock rows in opposite orders, and run at that level like transaction()', async () => {
    const { inbox, pool, schema } = shopAt(level);
    await inbox.ready();
    const [table, seen, attempts] = [`${schema}.own`, [] as unknown[], [] as number[]];
    await pool.query(`create table ${table} as select id, 0 as total from generate_series(0, 2) as id`);
    const see = async (tx: pg.PoolClient) =>
      void seen.push(...(await tx.query('show transaction_isolation')).rows);
    const readAndWrite = async (tx: pg.PoolClient): Promise<void> => {
      const { rows } = await tx.query<{ total: number }>(`select total from ${table} where id = 2`);
      await tx.query('select pg_sleep(0.05)');
      await tx.query(`update ${table} set total = ${Number(rows[0]?.total) + 1} where id = 2`);
    };
    let turn = 0;
    const lockBoth = async (tx: pg.PoolClient): Promise<void> => {
      const first = turn++ % 2;
      for (const id of [first, 1 - first]) {
        await tx.query(`update ${table} set total = total + 1 where id = ${id}`);
        await tx.query('select pg_sleep(0.02)');
      }
    };
    await inbox.transaction(see);
    let run = readAndWrite;
    inbox.handle(async ({ tx, attempt }) => {
      await see(tx);
      await run(tx);
      attempts.push(attempt);
    });
    const settle = async (references: readonly string[], settled: number): Promise<void> => {
      await order(inbox, ...references);
      await workUntilSettled(inbox, settled, { concurrency: 6 });
    };
    await settle(REFERENCES, 6);
    run = lockBoth;
    await settle(
      REFERENCES.map((reference) => `${reference}2`),
      12,
    );
    const totals = (await pool.query(`select total from ${table} order by id`)).rows.map(
      ({ total }) => total,
    );
    expect(totals.slice(0, 2)).toEqual([6, 6]);
    // Control: at READ COMMITTED, which a merchant can have chosen, the later one overwrites the earlier one.
    if (level === 'read committed') expect(totals[2]).toBeLessThan(6);
    else expect(totals[2]).toBe(6);
    expect(new Set(attempts)).toEqual(new Set([1]));
    expect((await inbox.list({ state: 'settled' })).map((each) => each.attempts)).toEqual(Array(12).fill(1));
    expect(new Set(seen.map((row) => JSON.stringify(row)))).toEqual(
      new Set([JSON.stringify({ transaction_isolation: level })]),
    );
  });
});

test('a handler whose transaction conflicts every time has failed, and says so', async () => {
  const failures: unknown[] = [];
  const onError = (error: unknown): unknown => failures.push(error);
  const { inbox } = poolShop({ inbox: { retry: { attempts: 1 }, random: () => 0, onError } });
  let runs = 0;
  inbox.handle(async ({ tx }) => {
    runs += 1;
    await tx.query("do $$ begin raise 'always' using errcode = '40001'; end $$");
  });
  await order(inbox, 'ORD-1');
  await workUntil(inbox, async () => (await inbox.stats()).states.dead === 1);
  expect(runs).toBe(21);
  expect(failures).toMatchObject([{ code: '40001' }]);
});

test('every call of an operator succeeds while handlers run at SERIALIZABLE', async () => {
  const { inbox } = shopAt('serializable');
  inbox.handle(async ({ tx }) => void (await tx.query('select count(*) from pg_class')));
  await Promise.all(Array.from({ length: 30 }, (_, index) => order(inbox, `ORD-${index}`)));
  const period = { from: new Date(0), to: new Date() };
  let calls = 0;
  const askAll = async (): Promise<boolean> => {
    calls += 1;
    await Promise.all([inbox.list(), inbox.overdue(), inbox.totals(period), inbox.expectations('ORD-1')]);
    return (await inbox.stats()).states.settled === 30;
  };
  await workUntil(inbox, askAll, { concurrency: 6 });
  expect(calls).toBeGreaterThan(0);
});

test.each([
  ['repeatable read', '40001'],
  ['serializable', '40001'],
  ['read committed', undefined], // Control: there, what is read after the lock is never older than the lock.
] as const)('at %s, an attempt whose snapshot is older than its lock fails with %s', async (level, code) => {
  const { inbox, pool, schema } = poolShop({ pool: { max: 6 } });
  inbox.handle(() => undefined, { status: '*' });
  await order(inbox, 'ORD-1');
  const { rows } = await pool.query<{ subject_key: string }>(`select subject_key from ${schema}.callback`);
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`begin isolation level ${level}`);
  await client.query('select 1'); // The snapshot. Another attempt at the same reference now commits.
  await inbox.drain();
  const { text } = new Statements(postgres(pool, { schema })).get('enter_attempt');
  const entered = client.query(text, ['10000', '30000', randomUUID(), rows[0]?.subject_key]);
  if (code === undefined) await expect(entered).resolves.toMatchObject({ rows: [{ is_free: 1 }] });
  else await expect(entered).rejects.toMatchObject({ code });
});
