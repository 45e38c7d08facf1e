/** Handlers run at the isolation level that the merchant's connections default to, and a conflict is no failure. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { type Inbox, postgres } from '../../src/index.ts';
import { Statements } from '../../src/store/statements.ts';
import { paid } from '../support/callbacks.ts';
import { type PoolShop, poolShop } from '../support/pool-shop.ts';
import { order } from '../support/shop.ts';
import { startWork, until } from '../support/until.ts';

const LEVELS = ['read committed', 'repeatable read', 'serializable'] as const;
const REFERENCES = Array.from({ length: 6 }, (_, index) => `ORD-${index}`);

function shopAt(level: string): PoolShop & { readonly attempts: number[]; readonly table: string } {
  const table = `balance_${process.hrtime.bigint()}`;
  const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
  const shop = poolShop({ pool: { max: 12, options } });
  return { ...shop, attempts: [], table };
}

async function settleAll(inbox: Inbox<pg.PoolClient>): Promise<void> {
  await order(inbox, ...REFERENCES);
  const stop = startWork(inbox, { concurrency: 6 });
  await until(async () => (await inbox.stats()).states.settled === REFERENCES.length);
  await stop();
}

const all = async (pool: pg.Pool, text: string): Promise<Record<string, unknown>[]> =>
  (await pool.query(text)).rows;

describe.each(LEVELS)('handlers on connections that default to %s', (level) => {
  test('that read a sum and write it back lose no update, unless the level allows that', async () => {
    const { inbox, pool, attempts, table } = shopAt(level);
    await pool.query(`create table ${table} (total integer)`);
    await pool.query(`insert into ${table} values (0)`);
    inbox.handle(async ({ tx, attempt }) => {
      const { rows } = await tx.query<{ total: number }>(`select total from ${table}`);
      await tx.query('select pg_sleep(0.05)');
      await tx.query(`update ${table} set total = ${Number(rows[0]?.total) + 1}`);
      attempts.push(attempt);
    });
    await settleAll(inbox);
    const [row] = await all(pool, `select total from ${table}`);
    // Control: at READ COMMITTED, which a merchant can have chosen, the later one overwrites the earlier one.
    if (level === 'read committed') expect(row?.['total']).toBeLessThan(REFERENCES.length);
    else expect(row?.['total']).toBe(REFERENCES.length);
    expect(new Set(attempts)).toEqual(new Set([1]));
    expect((await inbox.list({ state: 'settled' })).map((each) => each.attempts)).toEqual(
      REFERENCES.map(() => 1),
    );
  });

  test('that lock two rows in opposite orders are settled in their first attempt', async () => {
    const { inbox, pool, attempts, table } = shopAt(level);
    await pool.query(`create table ${table} (id integer, total integer)`);
    await pool.query(`insert into ${table} values (0, 0), (1, 0)`);
    let turn = 0;
    inbox.handle(async ({ tx, attempt }) => {
      const first = turn++ % 2;
      for (const id of [first, 1 - first]) {
        await tx.query(`update ${table} set total = total + 1 where id = ${id}`);
        await tx.query('select pg_sleep(0.02)');
      }
      attempts.push(attempt);
    });
    await settleAll(inbox);
    expect(await all(pool, `select total from ${table}`)).toEqual([{ total: 6 }, { total: 6 }]);
    expect(new Set(attempts)).toEqual(new Set([1]));
  });

  test('and transaction() run at that level, and the transactions of the inbox do not', async () => {
    const { inbox, pool } = shopAt(level);
    const seen: unknown[] = [];
    const levelOf = async (tx: pg.PoolClient): Promise<void> => {
      seen.push(...(await tx.query('show transaction_isolation')).rows);
    };
    inbox.handle(async ({ tx }) => levelOf(tx));
    await inbox.transaction(levelOf);
    await settleAll(inbox);
    expect(new Set(seen.map((row) => JSON.stringify(row)))).toEqual(
      new Set([JSON.stringify({ transaction_isolation: level })]),
    );
    expect(pool.totalCount).toBeGreaterThan(0);
  });
});

test('a handler whose transaction conflicts every time has failed, and says so', async () => {
  const failures: unknown[] = [];
  const { inbox } = poolShop({
    pool: { max: 4 },
    inbox: { retry: { attempts: 1 }, onError: (error) => failures.push(error) },
  });
  let runs = 0;
  inbox.handle(async ({ tx }) => {
    runs += 1;
    await tx.query("do $$ begin raise 'always' using errcode = '40001'; end $$");
  });
  await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
  await inbox.receive(paid('ORD-1', 500));
  const stop = startWork(inbox);
  await until(async () => (await inbox.stats()).states.dead === 1);
  await stop();
  expect(runs).toBe(21);
  expect(failures).toMatchObject([{ code: '40001' }]);
});

test('every call of an operator succeeds while handlers run at SERIALIZABLE', async () => {
  const { inbox } = shopAt('serializable');
  inbox.handle(async ({ tx }) => void (await tx.query('select count(*) from pg_class')));
  await order(inbox, ...Array.from({ length: 60 }, (_, index) => `ORD-${index}`));
  const stop = startWork(inbox, { concurrency: 6 });
  const period = { from: new Date(0), to: new Date() };
  let calls = 0;
  await until(async () => {
    calls += 1;
    await Promise.all([inbox.list(), inbox.overdue(), inbox.totals(period), inbox.expectations('ORD-1')]);
    return (await inbox.stats()).states.settled === 60;
  });
  await stop();
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
