/** Handlers run at the isolation level that the merchant's connections default to, and a conflict is no failure. */

import type pg from 'pg';
import { expect, test } from 'vitest';
import { type PoolShop, poolShop } from '../support/pool-shop.ts';
import { order } from '../support/shop.ts';
import { statesOf, workUntil, workUntilSettled } from '../support/until.ts';

const REFERENCES = ['A', 'B', 'C', 'D'];

function shopAt(level: string, schema?: string): PoolShop {
  // A deadlock is looked for after a second by default.
  const isolation = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
  const options = `${isolation} -c deadlock_timeout=20`;
  return poolShop({ pool: { max: 12, options }, inbox: { random: Math.random }, ...(schema && { schema }) });
}

test('handlers lose no update unless the level of their connections allows that, may lock rows in opposite orders, and run at that level like transaction()', async () => {
  const { schema, direct, inbox: first } = poolShop();
  await first.ready();
  const table = `${schema}.own`;
  await direct.query(`create table ${table} as select id, 0 as total from generate_series(0, 2) as id`);
  const readAndWrite = async (tx: pg.PoolClient): Promise<void> => {
    const { rows } = await tx.query<{ total: number }>(`select total from ${table} where id = 2`);
    await tx.query('select pg_sleep(0.05)');
    await tx.query(`update ${table} set total = ${Number(rows[0]?.total) + 1} where id = 2`);
  };
  let turn = 0;
  const lockBoth = async (tx: pg.PoolClient): Promise<void> => {
    const one = turn++ % 2;
    for (const id of [one, 1 - one]) {
      await tx.query(`update ${table} set total = total + 1 where id = ${id}`);
      await tx.query('select pg_sleep(0.02)');
    }
  };
  for (const [index, level] of ['read committed', 'repeatable read', 'serializable'].entries()) {
    await direct.query(`update ${table} set total = 0`);
    const { inbox } = shopAt(level, schema);
    const [seen, attempts] = [new Set<unknown>(), new Set<number>()];
    const see = async (tx: pg.PoolClient): Promise<void> => {
      for (const row of (await tx.query('show transaction_isolation')).rows)
        seen.add(row.transaction_isolation);
    };
    await inbox.transaction(see);
    let run = readAndWrite;
    inbox.handle('paid', async ({ tx, attempt }) => {
      await see(tx);
      await run(tx);
      attempts.add(attempt);
    });
    for (const [round, act] of [readAndWrite, lockBoth].entries()) {
      run = act;
      const settled = 8 * index + 4 * round + 4;
      await Promise.all(REFERENCES.map((reference) => order(inbox, reference + settled)));
      await workUntilSettled(inbox, settled, { concurrency: 4 });
    }
    const { rows } = await direct.query<{ total: number }>(`select total from ${table} order by id`);
    const [one, other, written] = rows.map(({ total }) => total);
    expect([one, other]).toEqual([4, 4]);
    // Control: at READ COMMITTED, which a merchant can have chosen, the later one overwrites the earlier one.
    if (level === 'read committed') expect(written).toBeLessThan(4);
    else expect(written).toBe(4);
    expect([[...seen], [...attempts]]).toEqual([[level], [1]]);
  }
  expect(new Set((await first.reports({ limit: 100 })).map(({ attempts }) => attempts))).toEqual(
    new Set([1]),
  );
});

test('a handler whose transaction conflicts every time has failed, and says so', async () => {
  const failures: unknown[] = [];
  const onError = (error: unknown): unknown => failures.push(error);
  const { inbox } = poolShop({ inbox: { retry: { attempts: 1 }, random: () => 0, onError } });
  let runs = 0;
  inbox.handle('paid', async ({ tx }) => {
    runs += 1;
    await tx.query("do $$ begin raise 'always' using errcode = '40001'; end $$");
  });
  await order(inbox, 'ORD-1');
  await workUntil(inbox, async () => (await statesOf(inbox)).dead === 1);
  expect(runs).toBe(21);
  expect(failures).toMatchObject([{ code: '40001' }]);
});
