/** Several payments of one order: attempts and instalments. */
import { expect, test } from 'vitest';
import { orderSentences } from '../../src/operator/payments/sums.ts';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { actOnReport, creditIn, LATER, money, newShop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const order = { id: 'ORDER-7', total: 500 };

test.each(ENGINES)(
  'on %s, a customer who tries twice and pays twice is credited once, and a person decides about the rest',
  async (engine) => {
    const { merchant, inbox, pay } = await newShop(engine, LATER);
    for (const reference of ['A', 'B', 'C']) await inbox.expect({ ...money(reference), order });
    await pay('A');
    await pay('B');
    expect(await inbox.payment('A')).toMatchObject({ state: 'paid' });
    expect(await inbox.payment('B')).toMatchObject({ state: 'held', needs: 'order_paid' });
    expect(await merchant.credits()).toEqual(['A 500']);
    await actOnReport(inbox, paid('B', 500).transitionId, 'apply');
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
    // Control: without an order, or of another one.
    await inbox.expect(money('X'));
    await inbox.expect({ ...money('Y'), order: { id: 'ORDER-8', total: '500.00' } });
    await pay('X');
    await pay('Y');
    expect(await inbox.counts()).toMatchObject({ paid: 4, held: 0, open: 1 });
  },
);

test.each(ENGINES)(
  'on %s, instalments are credited up to the total, and each knows what is paid',
  async (engine) => {
    const told: unknown[] = [];
    const { merchant, inbox, pay } = await newShop(engine, LATER, ({ tx, signed, payment }) => {
      told.push([signed.merchant_reference, payment.order]);
      return creditIn(merchant)({ tx, signed, payment } as never);
    });
    const parts = { id: 'ORDER-9', total: '1000.50' };
    for (const [reference, amount] of [
      ['P1', '500'],
      ['P2', '500.50'],
      ['P3', '0.01'],
    ] as const) {
      await inbox.expect({ ...money(reference), amount, order: parts });
      await pay(reference, Number(amount));
    }
    const of = (paid: string) => ({ id: 'ORDER-9', total: '1000.5', paid });
    expect(told).toEqual([
      ['P1', of('500')],
      ['P2', of('1000.5')],
    ]);
    expect(await inbox.payment('P3')).toMatchObject({ state: 'held', needs: 'order_paid' });
  },
);

test.each(ENGINES)(
  'on %s, what was taken back frees its part of the order, and an order keeps its total',
  async (engine) => {
    const { inbox, pay, deliver } = await newShop(engine, { ...LATER, statuses: { REVERSED: 'reversed' } });
    inbox.handle('reversed', () => undefined);
    for (const reference of ['A', 'B']) await inbox.expect({ ...money(reference), order });
    await pay('A');
    await deliver(paid('A', 500, { transaction_status: 'REVERSED' }, { event: 'transaction.reversed' }));
    await pay('B');
    expect(await inbox.payment('B')).toMatchObject({ state: 'paid' });
    for (const other of [
      { id: 'ORDER-7', total: 501 },
      { id: 'ORDER-8', total: 500 },
    ])
      await expect(inbox.expect({ ...money('A'), order: other })).rejects.toThrow('another order');
    await inbox.expect({ ...money('A'), order });
    await inbox.expect(money('A'));
    for (const wrong of [
      { id: '', total: 5 },
      { id: 'X', total: 'five' },
      { id: 'X\0', total: 5 },
    ])
      await expect(inbox.expect({ ...money('Z'), order: wrong })).rejects.toMatchObject({
        name: 'ConfigurationError',
      });
  },
);

test('on postgres, payments of one order that several workers apply at the same time are credited up to its total', async () => {
  const { merchant, inbox, deliver } = await newShop('postgres', LATER, async (handled) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return creditIn(merchant)(handled);
  });
  const references = Array.from({ length: 8 }, (_, index) => `N${index}`);
  for (const reference of references)
    await inbox.expect({ ...money(reference), order: { id: 'MANY', total: 1000 } });
  for (const reference of references) await inbox.route.onCallback(paid(reference, 500));
  await inbox.drain({ concurrency: 8 });
  await deliver();
  expect(await merchant.credits()).toHaveLength(2);
  expect(await inbox.counts()).toMatchObject({ paid: 2, held: 6 });
});

test.each(ENGINES)('on %s, the payments of an order are a list, with what is paid of it', async (engine) => {
  const { inbox, pay } = await newShop(engine, LATER);
  for (const reference of ['A', 'B', 'C']) await inbox.expect({ ...money(reference), order });
  await inbox.expect({ ...money('X'), order: { id: 'ORDER-8', total: 500 } });
  await inbox.expect(money('Y'));
  for (const reference of ['A', 'B', 'X', 'Y']) await pay(reference);
  const page = await inbox.payments({ order: 'ORDER-7' });
  const listed = page.items.map((one) => [one.merchant_reference, one.state, one.order?.total]);
  expect(listed.sort()).toEqual([
    ['A', 'paid', '500'],
    ['B', 'held', '500'],
    ['C', 'open', '500'],
  ]);
  expect(orderSentences({ order: 'ORDER-7' }, page)).toEqual([
    'UGX 500 of UGX 500 is paid for order ORDER-7.',
  ]);
  // Not of a part of its payments.
  const held = await inbox.payments({ order: 'ORDER-7', state: 'held' });
  expect(held.items.map((one) => one.merchant_reference)).toEqual(['B']);
  expect(orderSentences({ order: 'ORDER-7', state: 'held' }, held)).toEqual([]);
  const searched = await inbox.payments({ order: 'ORDER-7', search: 'x' });
  expect(searched.items).toEqual([]);
  const paged: string[] = [];
  for await (const one of inbox.payments({ order: 'ORDER-7', limit: 1 })) paged.push(one.merchant_reference);
  expect(paged.sort()).toEqual(['A', 'B', 'C']);
  expect((await inbox.payments({ order: 'ORDER-9' })).items).toEqual([]);
  expect(await inbox.payment('Y')).toMatchObject({ order: undefined });
});

test('an order with a total below the amount of its payment is refused', async () => {
  const { inbox } = await newShop('sqlite', LATER);
  const given = { ...money('A'), order: { id: 'ORDER-7', total: '499.99' } };
  await expect(inbox.expect(given)).rejects.toThrow('more than the total of its order');
});
