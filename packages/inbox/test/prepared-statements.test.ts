import { InvalidStateError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from './support/callbacks.ts';
import { poolShop } from './support/pool-shop.ts';
import { ORDER } from './support/shop.ts';

describe.each(['discard all', 'deallocate all'])('%s on a connection of the pool', (statement) => {
  it('fails no call, and the connection is not used again', async () => {
    const { inbox, pool } = poolShop({ max: 1 });
    const id = paid('ORD-1', 500).transitionId;
    const calls = [
      () => inbox.receive(paid('ORD-1', 500)),
      () => inbox.expect(ORDER),
      () => inbox.list(),
      () => inbox.resolve(id, { note: 'seen' }),
      () => inbox.reopen(id),
    ];
    for (const call of calls) {
      await call();
      const { rows } = await pool.query('select pg_backend_pid() as id');
      await pool.query(statement);
      // Resolved or reopened already: the database was asked, and has answered.
      await call().catch((error: unknown) => expect(error).toBeInstanceOf(InvalidStateError));
      expect((await pool.query('select pg_backend_pid() as id')).rows).not.toEqual(rows);
    }
    expect(await inbox.list()).toMatchObject([{ state: 'pending', deliveries: 2 }]);
  });
});

it('another session behind a connection, which has statements of these names already', async () => {
  const { inbox, pool } = poolShop({ max: 1 });
  await inbox.receive(paid('ORD-1', 500));
  const { rows } = await pool.query<{ name: string }>(
    "select name from pg_prepared_statements where statement like '%receive%'",
  );
  const client = await pool.connect();
  client.release(true);
  await pool.query(`prepare ${rows[0]?.name} as select 1`);
  await inbox.receive(paid('ORD-1', 500));
  expect(await inbox.list()).toMatchObject([{ deliveries: 2 }]);
});

it('a table that has changed since its statement was prepared', async () => {
  const { inbox, pool, schema } = poolShop({ max: 1 });
  await inbox.receive(paid('ORD-1', 500));
  await inbox.list();
  await pool.query(`alter table ${schema}.transition alter column attempts type bigint`);
  expect(await inbox.list()).toMatchObject([{ attempts: 0 }]);
});
