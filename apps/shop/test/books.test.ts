import { expect, test } from 'vitest';
import { newFormId } from '../src/books/orders.ts';
import { Customer } from './support/customer.ts';
import { amounts, openOrder, openShop } from './support/open-shop.ts';

test('an order is stored together with the expectation of its payment, or neither, when its reference is generated again', async () => {
  const { shop, customer, reference } = await openOrder();
  const order = shop.orders.find(reference);
  if (order === undefined) throw new Error('The order is gone.');
  const total = { currency: 'UGX', amount: '45000' };
  await expect(shop.orders.add({ ...order, total }, newFormId())).rejects.toThrow();
  expect(await shop.stateAfter(reference, amounts(45_000))).toBe('open');
  expect(await shop.stateAfter(reference)).toBe('paid');

  // A reference without an order, settled by an operator: the inbox refuses the expectation, and with it the order.
  for (const amount of [700, 900]) await shop.sendCallback('ORD-1', amounts(amount));
  const [conflict] = await shop.transitions();
  const id = conflict?.transitionId ?? '';
  const body = (await shop.inbox.show(id))?.bodies[0]?.digest;
  await shop.inbox.resolve(id, { by: 'Ann', note: 'Paid at the door.', body });
  await shop.transitions();
  await expect(shop.orders.add({ ...order, reference: 'ORD-1' }, newFormId())).rejects.toThrow();
  expect(shop.orders.list().map((one) => one.reference)).toEqual([reference]);
  expect((await customer.get('/orders/ORD-1')).status).toBe(404);
});

test('a form is stored once, with the expectation of the first order, when several are added at the same time', async () => {
  const { shop, reference } = await openOrder({ now: () => Date.now() - 2 * 60 * 60 * 1000 });
  const order = shop.orders.find(reference);
  if (order === undefined) throw new Error('The order is gone.');
  const formId = newFormId();
  const added = await Promise.all(
    ['ORD-A', 'ORD-B', 'ORD-C'].map((other) => shop.orders.add({ ...order, reference: other }, formId)),
  );
  const [kept = ''] = added;
  expect(added).toEqual([kept, kept, kept]);
  expect(shop.orders.placedWith(formId)?.reference).toBe(kept);
  const references = [kept, reference].sort();
  expect(
    shop.orders
      .list()
      .map((one) => one.reference)
      .sort(),
  ).toEqual(references);
  const expected = await shop.inbox.overdue();
  expect(expected.map(({ merchant_reference }) => merchant_reference).sort()).toEqual(references);
});

test('the charge is the one that the confirmed body claims, not that of a forged one', async () => {
  const { shop, customer, reference } = await openOrder();
  expect(await shop.stateAfter(reference, { transaction_amount: 1, transaction_charge: 9 })).toBe('open');
  expect(await shop.stateAfter(reference, { transaction_charge: 12.5 })).toBe('paid');
  expect(shop.orders.find(reference)?.payment?.charge).toBe('12.5');
  expect(await customer.read('/owner/orders')).toContain('UGX\u00a012.5, as its callback claims');
  const other = await customer.placeOrder();
  const payload = { internal_reference: 'INT-2', transaction_charge: 'much' };
  expect(await shop.stateAfter(other.reference, payload)).toBe('paid');
  expect(shop.orders.find(other.reference)?.payment?.charge).toBeNull();
});

test('orders and payments are accepted at the same time, and no writer waits permanently for another', async () => {
  const shop = await openShop();
  const references = await Promise.all(
    Array.from({ length: 12 }, async (_, number) => {
      const { reference } = await new Customer(shop).placeOrder();
      const send = (): Promise<number> =>
        shop.sendCallback(reference, { internal_reference: `INT-${number}` });
      expect(await Promise.all([send(), send()])).toEqual([200, 200]);
      return reference;
    }),
  );
  for (const reference of references) expect(await shop.stateOf(reference)).toBe('paid');
  expect(shop.orders.list()).toHaveLength(12);
});

test('each order is listed once, however many payments its reference has: the first payment counts', async () => {
  const { shop, customer, reference } = await openOrder();
  await customer.placeOrder();
  for (const [id, paidAt] of Object.entries({ later: 3, first: 1, second: 2 })) {
    const values = `'${id}', '${reference}', 'UGX', '1', '15', ${paidAt}`;
    shop.execute(`insert into shop_payment values (${values})`);
  }
  const first = { transitionId: 'first', charge: '15', at: 1, settled: { currency: 'UGX', amount: '1' } };
  expect(shop.orders.list().map(({ payment }) => payment)).toEqual([undefined, first]);
  expect(shop.orders.find(reference)?.payment).toEqual(first);
});

test('a payout pays no order, whatever an operator accepts', async () => {
  const { shop, customer, reference } = await openOrder();
  const payout = { transaction_type: 'PAYOUT', internal_reference: 'INT-P' };
  for (const amount of [5, 18_000]) await shop.sendCallback(reference, { ...payout, ...amounts(amount) });
  const [found, ...others] = await shop.transitions();
  expect(others).toEqual([]);
  const id = found?.transitionId ?? '';
  const digest = (await shop.inbox.show(id))?.bodies[0]?.digest;
  await customer.act(id, 'accept', { note: 'The refund.', body: `${digest}:both` });
  expect((await shop.inbox.show(id))?.actions).toMatchObject([{ note: 'The refund.' }]);
  expect(await shop.stateOf(reference)).toBe('open');
  expect(await shop.transitions()).toMatchObject([{ state: 'unhandled', reason: 'no_handler' }]);
  expect(await shop.stateAfter(reference)).toBe('paid');
});

test('a payment that cannot be written leaves the order open, and is written when the owner tries it again', async () => {
  const { shop, customer: owner, reference } = await openOrder();
  shop.execute(
    `create trigger broken before insert on shop_payment begin select raise(abort, 'No such year.'); end`,
  );
  expect(await shop.stateAfter(reference)).toBe('open');
  const id = (await shop.transitions())[0]?.transitionId ?? '';
  const failing = await owner.read(`/owner/inbox/transitions/${id}`);
  expect(failing).toContain('<code>retrying</code>');
  // Its message may quote what was written (decision D64), so the page has the code only.
  expect(failing).toMatch(/SqliteError.*SQLITE_/);
  expect(failing).not.toContain('No such year.');
  shop.execute('drop trigger broken');
  // Refused if an automatic attempt is faster.
  expect([303, 409]).toContain((await owner.act(id, 'retry', { note: 'Fixed.' })).status);
  expect(await shop.stateOf(reference)).toBe('paid');
});
