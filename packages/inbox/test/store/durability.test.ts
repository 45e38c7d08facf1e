import { startPostgres } from '@payment-service/postgres-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callback, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { type PoolShop, poolShop } from '../support/pool-shop.ts';
import { order } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

describe('postgres is refused', () => {
  async function expectRefusal({ inbox }: PoolShop, setting: string): Promise<void> {
    const refusal = { name: 'ConfigurationError', message: expect.stringContaining(`${setting} = off`) };
    await expect(inbox.ready()).rejects.toMatchObject(refusal);
    await expect(inbox.receive(callback())).rejects.toMatchObject(refusal);
  }

  it.each(['fsync', 'full_page_writes'])('with %s = off', async (setting) => {
    const server = await startPostgres({ [setting]: 'off' });
    onTestFinished(() => server.stop());
    await expectRefusal(poolShop({ server: server.url }), setting);
  });

  it('with synchronous_commit = off, for the server, the role or the connection', async () => {
    await expectRefusal(poolShop({ pool: { options: '-c synchronous_commit=off' } }), 'synchronous_commit');
  });
});

it.each(['repeatable read', 'serializable'])(
  'postgres works with %s as its isolation: a handler runs at read committed',
  async (level) => {
    const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
    const { inbox, pool } = poolShop({ pool: { options } });
    const show = 'show transaction_isolation';
    expect((await pool.query(show)).rows).toEqual([{ transaction_isolation: level }]);
    let seen: unknown;
    inbox.handle(async ({ tx }) => {
      seen = (await tx.query(show)).rows;
    });
    await order(inbox, 'ORD-1');
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
    expect(seen).toEqual([{ transaction_isolation: 'read committed' }]);
  },
);

it('no error of the inbox holds a body, a header or a key', async () => {
  const { inbox, direct, schema } = poolShop();
  await inbox.ready();
  // PostgreSQL's own error for this quotes the whole row.
  await direct.query(`alter table ${schema}.body add constraint never check (length(content) < 3)`);
  const error = await inbox.receive(callback({ customer_name: 'SECRET' })).catch((thrown: unknown) => thrown);
  const inspected = JSON.stringify([String(error), Object(error).stack, Object(error).cause, error]);
  expect(inspected).toContain('23514');
  const hex = Buffer.from('SECRET').toString('hex');
  for (const secret of ['SECRET', hex, SIGNING_KEY, signedText().signature, 'ORD-1001']) {
    expect(inspected).not.toContain(secret);
  }
});
