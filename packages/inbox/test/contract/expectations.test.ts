import { InvalidStateError } from '@payment-service/core';
import { expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import {
  actOnReport,
  creditIn,
  LATER,
  MINUTE_MS,
  money,
  newShop,
  ORDER,
  order,
  REPLACE,
} from '../support/shop.ts';
import { until, workOff } from '../support/until.ts';

const { transitionId } = paid('ORD-1', 500);
const OTHERS = [{ amount: '501' }, { currency: 'USD' }, { compare: 'request' }] as const;

test("decision D69: a reference with ':' is refused, unless colonIn of the inbox names it, as in the verifier", async () => {
  for (const colonIn of [undefined, 'internal_reference', 'merchant_reference'] as const) {
    const { inbox } = await newShop('sqlite', { ...LATER, colonIn });
    const expected = inbox.expect(money('A:1')).then(
      () => 'expected',
      ({ option, message }) => [option, message],
    );
    expect(await expected).toEqual(
      colonIn === 'merchant_reference'
        ? 'expected'
        : ['merchant_reference', expect.stringMatching(/^expect\(\): .* contains ':'.* createInbox\(\)/)],
    );
  }
});

test('decision D69: a currency in lower case is expected, and reported once', async () => {
  const { merchant, inbox } = await newShop('sqlite', LATER);
  for (const [index, currency] of ['UGX', 'ugx', 'ugx', 'Usd', 'gold'].entries())
    await inbox.expect({ ...ORDER, merchant_reference: `ORD-${index}`, currency });
  const told = (currency: string, meant: string) => ({
    kind: 'currency_case',
    isRepeated: false,
    error: expect.objectContaining({
      message: expect.stringMatching(
        new RegExp(`currency "${currency}"\\. .* a callback in ${meant} does not match it\\.`),
      ),
    }),
  });
  expect(merchant.problems).toEqual([told('ugx', 'UGX'), told('Usd', 'USD')]);
  expect(await inbox.payment('ORD-1')).toMatchObject({ expected: { currency: 'ugx' } });
});

test('an expectation may be repeated, and changes only with replace, which records the earlier one', async () => {
  const { merchant, inbox, pay, show } = await newShop('sqlite', LATER);
  const earlier = { ...ORDER, amount: '700' };
  for (const amount of ['700', '700.00']) await inbox.expect({ ...ORDER, amount });
  for (const other of OTHERS) {
    const refused = inbox.expect({ ...earlier, ...other });
    await expect(refused).rejects.toThrow(InvalidStateError);
    await expect(refused).rejects.toThrow('replace: { by, note }');
  }
  // A refused one does not change the deadline either, even if the merchant commits.
  await inbox.transaction(async (tx) => {
    const refused = inbox.expect({ ...earlier, amount: '1', deadline: new Date(0) }, { tx });
    await expect(refused).rejects.toThrow(InvalidStateError);
  });
  expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'open', expected: { deadline: undefined } });
  await pay('ORD-1');
  expect(await show()).toMatchObject({
    reason: 'amount_mismatch',
    expectation: { amount: '700', currency: 'UGX', compare: 'both', replaced: [] },
  });
  await inbox.expect(ORDER, REPLACE);
  await inbox.expect({ ...ORDER, amount: 500n });
  await workOff(inbox);
  expect(await show()).toMatchObject({
    state: 'settled',
    expectation: { amount: '500', replaced: [{ currency: 'UGX', amount: '700', compare: 'both' }] },
  });
  await inbox.expect({ ...ORDER, amount: '500.00' });
  for (const other of OTHERS)
    await expect(inbox.expect({ ...ORDER, ...other }, REPLACE)).rejects.toThrow(InvalidStateError);
  await workOff(inbox);
  expect(await merchant.credits()).toHaveLength(1);
});

test('threat A31: a body that equals a replaced amount keeps the payer from settling the next one himself', async () => {
  const { merchant, inbox, deliver, show } = await newShop('sqlite', LATER);
  const bodies = { 'ORD-1': [500, 5_000_000], 'ORD-2': [5_000_000, 500], CONTROL: [400, 5_000_000] };
  for (const [reference, amounts] of Object.entries(bodies)) {
    await inbox.expect(money(reference, 500));
    await inbox.expect(money(reference, 5_000_000), REPLACE);
    await deliver(...amounts.map((amount) => paid(reference, amount)));
  }
  expect(await merchant.credits()).toEqual(['CONTROL 5000000']);
  const conflicts = await inbox.reports({ state: 'conflict', reason: 'contradicting_bodies' });
  expect(conflicts.map(({ signed }) => signed.merchant_reference).sort()).toEqual(['ORD-1', 'ORD-2']);
  await actOnReport(inbox, transitionId, 'close');
  // An operator who has asked the service approves the other one.
  await actOnReport(inbox, paid('ORD-2', 500).transitionId, 'apply');
  await workOff(inbox);
  expect(await show()).toMatchObject({ state: 'resolved' });
  expect(await merchant.credits()).toEqual(['CONTROL 5000000', 'ORD-2 5000000']);
});

test("an expectation in the merchant's transaction needs ready() before it", async () => {
  const { merchant, inbox } = await newShop('sqlite', LATER);
  const early = merchant.transaction((tx) => inbox.expect(ORDER, { tx }));
  const message = 'Call ready() when the program starts, before expect({ tx }).';
  await expect(early).rejects.toMatchObject({ option: 'tx', message });
  await inbox.ready();
  await merchant.transaction((tx) => inbox.expect(ORDER, { tx }));
  expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'open' });
});

// On SQLite nothing is parked meanwhile: the transaction of expect() is the only writer.
test('decision D36: on postgres, a payment that is parked while the transaction of expect() is open is applied after its commit', async () => {
  const retry = { attempts: 2, firstDelayMs: 1, longestDelayMs: 1 };
  const { merchant, inbox, pay, show, workLater } = await newShop('postgres', { retry });
  await inbox.ready();
  await merchant.transaction(async (tx) => {
    await inbox.expect(ORDER, { tx });
    await pay('ORD-1');
    // As after a quarter of an hour.
    await merchant.query(`update ${merchant.table('transition')} set looks = 10`);
    await workLater();
    expect(await show()).toMatchObject({ reason: 'no_expectation', nextAt: expect.any(Date) });
  });
  await workLater(20 * MINUTE_MS);
  expect(await show()).toMatchObject({ state: 'settled' });
});

test.each([
  ['amount', { amount: '600' }],
  ['currency', { currency: 'KES' }],
])(
  'a handler that changes the %s of the expectation that it settles fails, and delays no other',
  async (_what, other) => {
    const retry = { ...LATER.retry, attempts: 2 };
    const { merchant, inbox, show, workLater } = await newShop('sqlite', { retry }, async (transition) => {
      await creditIn(merchant)(transition);
      const { tx, signed } = transition;
      if (signed.merchant_reference === 'ORD-1')
        await inbox.expect({ ...ORDER, ...other }, { tx, ...REPLACE });
    });
    await order(inbox, 'ORD-1', 'ORD-2');
    await workOff(inbox);
    const lastError = expect.stringContaining('changed while its handler ran');
    expect(await show()).toMatchObject({ state: 'retrying', attempts: 1, lastError });
    await workLater();
    expect(await show()).toMatchObject({ state: 'dead', attempts: 2, reason: 'attempts_used_up' });
    expect(await merchant.credits()).toEqual(['ORD-2 500']);
  },
);

test('of two transactions that pay a reference at the same time, one is credited and the other waits for an operator', async () => {
  const other = paid('ORD-1', 500, { internal_reference: 'INT-OTHER' });
  let isRunning = false;
  const { merchant, inbox, deliver, show, workLater } = await newShop(
    'postgres',
    LATER,
    async (transition) => {
      await creditIn(merchant)(transition);
      // Whichever starts first, both have read the same open expectation.
      if (transition.id !== transitionId) return until(() => isRunning);
      isRunning = true;
      // The other one settles first.
      await until(async () => (await inbox.report(other.transitionId))?.state === 'settled');
    },
  );
  await inbox.expect(ORDER);
  await deliver(paid('ORD-1', 500), other);
  expect(await show()).toMatchObject({ state: 'retrying', attempts: 1 });
  await workLater();
  expect(await show()).toMatchObject({ state: 'conflict', reason: 'already_settled' });
  expect(await merchant.credits()).toEqual(['ORD-1 500']);
});
