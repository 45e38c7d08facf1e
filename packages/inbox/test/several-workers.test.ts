import { describe, expect, test } from 'vitest';
import { postgres } from '../src/index.ts';
import { callback, paid } from './support/callbacks.ts';
import { startChild } from './support/child-process.ts';
import { ENGINES, newMerchant } from './support/merchant.ts';
import { poolShop } from './support/pool-shop.ts';
import { money } from './support/shop.ts';
import { watchedStore } from './support/store.ts';
import { startWork, until } from './support/until.ts';

describe.each(ENGINES)('several worker processes on %s', (engine) => {
  test('settle every payment once, and mistake none for one that ends its process', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const references = Array.from({ length: 30 }, (_, index) => `ORD-${index}`);
    for (const reference of references) await inbox.expect(money(reference));
    const workers = [1, 2, 3].map(() => startChild('poisoned-worker.ts', merchant.programArguments));
    for (const reference of references) await inbox.receive(paid(reference, 500));
    await until(async () => {
      const { states } = await inbox.stats();
      return states.settled + states.quarantined === references.length;
    });
    for (const worker of workers) worker.kill('SIGTERM');
    for (const { ended } of workers) expect(await ended).toMatchObject({ code: 0 });
    expect((await inbox.stats()).states).toMatchObject({ settled: 30, quarantined: 0 });
    expect(await merchant.credits()).toEqual(references.map((reference) => `${reference} 500`).sort());
    const unfinished = `select id from ${merchant.table('transition')} where unfinished > 0`;
    expect(await merchant.query(unfinished)).toEqual([]);
  });
});

test('workers on one backlog settle each transition once, and seldom try one that another has locked', async () => {
  const count = 200;
  const { pool, schema, inbox, open } = poolShop({ pool: { max: 40 } });
  const due = Array.from({ length: count }, (_, index) =>
    callback({ internal_reference: `INT-${index}`, transaction_status: 'FAILED' }),
  );
  await Promise.all(due.map((each) => inbox.receive(each)));
  let overtaken = 0;
  const store = watchedStore(postgres(pool, { schema }), async (text, run) => {
    const rows = await run();
    if (text.includes('unfinished = unfinished + 1') && rows.length === 0) overtaken += 1;
    return rows;
  });
  const handled: string[] = [];
  const stops = [1, 2, 3, 4].map(() => {
    const worker = open({ store, random: Math.random });
    worker.handle(({ transitionId }) => handled.push(transitionId), { status: '*' });
    return startWork(worker, { pollMs: 1000 });
  });
  await until(async () => (await inbox.stats()).states.settled === count);
  for (const stop of stops) await stop();
  expect(handled).toHaveLength(count);
  expect(new Set(handled).size).toBe(count);
  // 110 to 220, depending on the load. If all continued at the same place, they would try 370 to 390.
  expect(overtaken).toBeLessThan(1.5 * count);
});
