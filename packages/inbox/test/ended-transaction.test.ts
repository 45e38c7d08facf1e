import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { postgres } from '../src/index.ts';
import { paid } from './support/callbacks.ts';
import { newMerchant } from './support/merchant.ts';
import { ORDER } from './support/shop.ts';
import { workOff } from './support/working.ts';

// The guard lets no COMMIT through that we know of. Here the driver commits by itself, as if one had got past it.
const LEAVE = 'select 1 as leave';

function poolThatCommits(schema: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), options: `-c search_path=${schema}` });
  pool.on('connect', (client) => {
    const query = client.query.bind(client);
    const commitsBefore = (...values: unknown[]): unknown =>
      Object(values[0]).text === LEAVE ? query('commit') : Reflect.apply(query, client, values);
    Object.assign(client, { query: commitsBefore });
  });
  onTestFinished(() => pool.end());
  return pool;
}

it.each([
  ['returns', () => undefined],
  [
    'throws',
    () => {
      throw new Error('and then it failed');
    },
  ],
])('a handler that has ended its transaction and %s is not run again by itself', async (_name, end) => {
  const merchant = await newMerchant('postgres');
  const [schema = ''] = merchant.table('x').split('.');
  const pool = poolThatCommits(schema.replace(/_inbox$/, ''));
  const inbox = merchant.open({ store: postgres(pool, { schema }) });
  let runs = 0;
  inbox.handle(async ({ tx, signed, settled }) => {
    runs += 1;
    await merchant.credit(tx, signed.merchant_reference, settled.amount);
    await tx.query(LEAVE);
    end();
  });
  await inbox.expect(ORDER);
  await inbox.receive(paid('ORD-1', 500));
  for (let round = 0; round < 3; round += 1) {
    await workOff(inbox);
    await merchant.clock.advance(86_400_000);
  }
  expect(runs).toBe(1);
  expect(await merchant.credits()).toHaveLength(1);
  expect(await inbox.list()).toMatchObject([
    { state: 'dead', reason: 'transaction_ended', lastError: expect.stringContaining('may be committed') },
  ]);
});
