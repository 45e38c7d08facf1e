import { expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, newShop, order } from '../support/shop.ts';
import { pause, startWork, until } from '../support/until.ts';

const NONE = { settled: 0, parked: 0, retrying: 0, left: 0 };

test('drain(): a pass attempts everything that is due and returns the outcome, or rejects without a database', async () => {
  const merchant = await newMerchant('sqlite');
  const store = merchant.newStore();
  let isGone = false;
  const query: typeof store.query = (...given) =>
    isGone ? Promise.reject(new Error('the database is unavailable')) : store.query(...given);
  const inbox = merchant.open({ ...LATER, store: { ...store, query } });
  inbox.handle('paid', async (transition) => {
    if (transition.signed.merchant_reference === 'FAILS') throw new Error('the ledger is unavailable');
    await creditIn(merchant)(transition);
  });
  await order(inbox, 'ORD-1', 'ORD-2', 'FAILS');
  await inbox.route.onCallback(paid('UNEXPECTED', 500));
  isGone = true;
  await expect(inbox.drain()).rejects.toThrow('the database is unavailable');
  isGone = false;
  expect(await inbox.drain()).toEqual({ settled: 2, parked: 1, retrying: 1, left: 0 });
  expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 500']);
  expect(await inbox.drain()).toEqual(NONE);
});

test('drain(): a pass ends exactly at its limit, and starts nothing beyond it', async () => {
  const { merchant, inbox } = await newShop('sqlite', LATER, ({ signed }) => {
    if (signed.merchant_reference === '1') throw new Error('counts as well');
  });
  await order(inbox, '1', '2', '3', '4', '5');
  expect(await inbox.drain({ limit: 2 })).toEqual({ ...NONE, settled: 1, retrying: 1, left: 3 });
  const begun = `select id from ${merchant.table('transition')} where unfinished > 0 and last_error is null`;
  expect(await merchant.query(begun)).toEqual([]);
  expect(await inbox.drain({ limit: 10 })).toEqual({ ...NONE, settled: 3 });
});

test('drain(): after the deadline no handler starts, and a running one is still settled', async () => {
  const { merchant, inbox } = await newShop('sqlite', {}, async (transition) => {
    await pause(40);
    await creditIn(merchant)(transition);
  });
  await order(inbox, '1', '2', '3');
  // How many are started depends on the machine, but it is never all of them: two take longer than the deadline.
  const { settled, left } = await inbox.drain({ deadlineMs: 40, concurrency: 1 });
  expect(settled).toBeLessThan(3);
  expect(left).toBe(3 - settled);
  expect(await merchant.credits()).toHaveLength(settled);
  expect(await inbox.drain({ deadlineMs: 60_000, concurrency: 1 })).toMatchObject({ left: 0 });
  expect(await merchant.credits()).toHaveLength(3);
});

test('drain(): after its signal no handler starts, and a running one is still settled', async () => {
  const ending = new AbortController();
  const { merchant, inbox } = await newShop('sqlite', {}, async (transition) => {
    ending.abort(new Error('the function must end'));
    await creditIn(merchant)(transition);
  });
  await order(inbox, '1', '2', '3');
  expect(await inbox.drain({ signal: ending.signal })).toEqual({ ...NONE, settled: 1, left: 2 });
  expect(await inbox.drain({ signal: AbortSignal.abort() })).toEqual({ ...NONE, left: 2 });
  expect(await merchant.credits()).toHaveLength(1);
});

test('drain(): what becomes due during a pass, its own retries included, is left for the next one', async () => {
  const { inbox } = await newShop('sqlite', { retry: { firstDelayMs: 1, longestDelayMs: 1 } }, () => {
    throw new Error('tried again after a millisecond');
  });
  // More than one window: a pass looks again after its first failures.
  const references = Array.from({ length: 53 }, (_, index) => `ORD-${index}`);
  await Promise.all(references.map((reference) => order(inbox, reference)));
  expect(await inbox.drain()).toMatchObject({ settled: 0, parked: 0, retrying: 53 });
  const listed = await inbox.reports({ limit: 100 });
  expect(listed.map(({ attempts }) => attempts)).toEqual(references.map(() => 1));
});

test.each(ENGINES)(
  'concurrent passes and a worker apply each payment once, on %s (threat A57)',
  async (engine) => {
    const merchant = await newMerchant(engine);
    const [worker, ...others] = [merchant.open(), merchant.open(), merchant.open()] as const;
    for (const inbox of [worker, ...others]) inbox.handle('paid', creditIn(merchant));
    const references = Array.from({ length: 40 }, (_, index) => `ORD-${index}`);
    await Promise.all(references.map((reference) => order(worker, reference)));
    const stop = startWork(worker);
    const passes = [...others, ...others].map((inbox) => inbox.drain());
    const settled = (await Promise.all(passes)).reduce((sum, pass) => sum + pass.settled, 0);
    await until(async () => (await merchant.credits()).length >= references.length);
    await stop();
    expect(await merchant.credits()).toEqual(references.map((reference) => `${reference} 500`).sort());
    expect(settled).toBeLessThanOrEqual(references.length);
  },
);
