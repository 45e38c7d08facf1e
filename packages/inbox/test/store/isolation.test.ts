/** Handlers run at the isolation level that the merchant's connections default to, and a conflict is no failure. */
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import type { Inbox } from '../../src/index.ts';
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

test('a report that arrives while another one of its transaction is applied is judged by what was applied', async () => {
  // The snapshot of an attempt is older than its lock: between the two, the other attempt commits.
  const options = '-c default_transaction_isolation=repeatable\\ read';
  const { inbox, pool, schema } = poolShop({ pool: { max: 6, options } });
  const applied: string[] = [];
  inbox.handle(({ signed }) => void applied.push(signed.transaction_status), { status: '*' });
  await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
  const ids = { internal_reference: 'INT-1' };
  await inbox.receive(paid('ORD-1', 500, ids));
  await inbox.receive(paid('ORD-1', 500, { ...ids, transaction_status: 'FAILED' }));
  const client = new pg.Client({ connectionString: inject('postgresUrl'), options });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query('select 1');
  await inbox.drain();
  expect(applied).toEqual(['COMPLETED']);
  // What enter_attempt adds above READ COMMITTED, in a snapshot that is too old.
  const related = `select t.id from ${schema}.callback c join ${schema}.transition t on t.id = c.id
    where c.subject_key in (select subject_key from ${schema}.callback) for no key update of t`;
  await expect(client.query(related)).rejects.toMatchObject({ code: '40001' });
  expect((await inbox.stats()).reasons).toMatchObject({ transition_not_allowed: 1 });
  expect(pool.totalCount).toBeGreaterThan(0);
});
