import { expect, it, onTestFinished } from 'vitest';
import { Connections } from '../src/postgres/connections.ts';
import { StartCounter } from '../src/postgres/start-counter.ts';
import { paid } from './support/callbacks.ts';
import { poolShop } from './support/pool-shop.ts';
import { ORDER } from './support/shop.ts';
import { until, untilDone } from './support/until.ts';
import { startWork } from './support/working.ts';

it('counts a start and takes one back in the same group', async () => {
  const { inbox, pool, schema } = poolShop();
  await inbox.ready();
  const counter = new StartCounter(new Connections(pool), `${schema}.start`, 3000);
  onTestFinished(() => counter.close());
  const one = new Uint8Array(32).fill(1);
  const other = new Uint8Array(32).fill(2);
  await counter.add(one, 1);
  // The first goes alone; these wait for it, and go together.
  await Promise.all([
    counter.add(other, 1),
    counter.add(one, -1),
    counter.add(one, 1),
    counter.add(other, 1),
  ]);
  const { rows } = await pool.query(
    `select get_byte(transition_id, 0) as id, starts from ${schema}.start order by 1`,
  );
  expect(rows).toEqual([
    { id: 1, starts: 1 },
    { id: 2, starts: 2 },
  ]);
});

it('a start that was given up is not counted later: no handler that never ran makes a crash loop', async () => {
  const { inbox, events, lock } = poolShop({}, { storeTimeoutMs: 200 });
  let runs = 0;
  inbox.handle(() => {
    runs += 1;
  });
  await inbox.expect(ORDER);
  await untilDone(() => inbox.receive(paid('ORD-1', 500)));
  const unlock = await lock('start', 'share');
  const stop = startWork(inbox, { concurrency: 1 });
  await until(() => events.filter(({ name }) => name === 'store.unavailable').length >= 3);
  await unlock();
  await until(() => events.some(({ name }) => name.startsWith('transition.')));
  await stop();
  expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  expect(runs).toBe(1);
});
