import type pg from 'pg';
import { expect, it } from 'vitest';
import { postgres, type Store } from '../src/index.ts';
import { callback } from './support/callbacks.ts';
import { poolShop } from './support/pool-shop.ts';

const WORKERS = 4;
const DUE = 800;

it('workers on one backlog settle each transition once, and seldom try what another one has taken', async () => {
  const { pool, schema, inbox, open } = poolShop({ max: 40 });
  await inbox.ready();
  await Promise.all(
    Array.from({ length: DUE }, (_, index) =>
      inbox.receive(callback({ internal_reference: `INT-${index}`, transaction_status: 'FAILED' })),
    ),
  );

  const own = postgres<pg.PoolClient>(pool, { schema });
  let overtaken = 0;
  const store: Store<pg.PoolClient> = {
    ...own,
    async query(text, values, tx) {
      const rows = await own.query(text, values, tx);
      if (text.includes('unfinished = unfinished + 1') && rows.length === 0) overtaken += 1;
      return rows;
    },
  };
  const stop = new AbortController();
  const handled: string[] = [];
  const workers = Array.from({ length: WORKERS }, () => {
    const worker = open({ store, random: Math.random });
    worker.handle(({ transitionId }) => handled.push(transitionId), { status: '*' });
    return worker.work({ signal: stop.signal });
  });
  await expect.poll(() => handled.length, { timeout: 60_000 }).toBe(DUE);
  await expect.poll(async () => (await inbox.stats()).states.settled, { timeout: 60_000 }).toBe(DUE);
  stop.abort();
  await Promise.all(workers);
  expect(new Set(handled).size).toBe(DUE);
  // Each would try each of them: twice as many and more.
  expect(overtaken).toBeLessThan(DUE);
});
