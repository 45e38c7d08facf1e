import { ConfigurationError } from '@payment-service/core';
import { expect, it } from 'vitest';
import type { Inbox, PostgresTransaction } from '../src/index.ts';
import { paid } from './support/callbacks.ts';
import { poolShop } from './support/pool-shop.ts';
import { until } from './support/until.ts';
import { startWork } from './support/working.ts';

it('the workers of two inboxes together leave a connection of their pool for callbacks', async () => {
  const { inbox, events, open } = poolShop({ max: 10 }, { account: 'A' });
  const other = open({ account: 'B' });
  for (const each of [inbox, other]) each.handle(() => undefined);
  const stop = startWork(inbox);
  await expect(endless(other)).rejects.toThrow(/other inboxes keeps 5\. Give the pool a max of 11 or more/);
  const stopOther = startWork(other, { concurrency: 3 });
  await until(() => events.filter(({ name }) => name === 'worker.started').length === 2);
  for (const [each, account] of [
    [inbox, 'A'],
    [other, 'B'],
  ] as const) {
    await each.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: 500 });
    await each.receive(paid('ORD-1', 500, {}, { account }));
    await until(async () => (await each.stats()).states.settled === 1);
  }
  await stop();
  await stopOther();
});

it('a worker that has ended leaves its connections to the next one', async () => {
  const { inbox, pool, open } = poolShop({ max: 6 }, { account: 'A' });
  const other = open({ account: 'B' });
  for (const [each, account] of [
    [inbox, 'A'],
    [other, 'B'],
  ] as const) {
    each.handle(() => undefined);
    await each.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: 500 });
    await each.receive(paid('ORD-1', 500, {}, { account }));
    const stop = startWork(each);
    await until(async () => (await each.stats()).states.settled === 1);
    await expect(endless(each === inbox ? other : inbox)).rejects.toThrow(ConfigurationError);
    await stop();
    expect(pool.idleCount).toBe(pool.totalCount);
  }
});

it('a worker that a misconfiguration ends leaves its connections as well', async () => {
  const { inbox, pool, schema, open } = poolShop({ max: 6 }, { account: 'A' });
  await open().ready();
  await pool.query(`insert into ${schema}.migration values (999, 0)`);
  inbox.handle(() => undefined);
  await expect(endless(inbox)).rejects.toThrow(/newer version/);
  await pool.query(`delete from ${schema}.migration where version = 999`);
  await startWork(inbox)();
});

function endless(inbox: Inbox<PostgresTransaction>): Promise<void> {
  return inbox.work({ signal: new AbortController().signal });
}
