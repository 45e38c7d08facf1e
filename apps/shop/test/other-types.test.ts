import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { type Engine, execute, newKeeping } from './new-keeping.ts';
import { ENGINES, type OpenShop, openShop } from './open-shop.ts';

const LATE = { misbehave: { late_ms: 3_600_000 } };
const PAYOUT = { transaction_type: 'PAYOUT', internal_reference: 'INT-P' };

/** The one transition, and the digest of its first body. */
async function onlyOneIn(shop: OpenShop): Promise<{ id: string; digest: string }> {
  const [found, ...others] = await shop.transitions();
  if (found === undefined || others.length > 0) throw new Error('The inbox does not contain exactly one.');
  const [body] = (await shop.inbox.show(found.transitionId))?.bodies ?? [];
  return { id: found.transitionId, digest: body?.digest ?? '' };
}

describe.each(ENGINES)('a payout under the reference of an order on $framework and $engine', (stage) => {
  test.each([
    ['for another amount', [5]],
    ['for the amount of the order', [18_000]],
    ['with two amounts', [5, 18_000]],
  ])('pays nothing %s, whatever a person accepts', async (_name, amounts) => {
    const shop = await openShop({ ...stage, sandbox: LATE });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder();
    for (const amount of amounts) {
      const money = { request_amount: amount, transaction_amount: amount };
      expect(await shop.sendCallback(genuine(reference, { ...PAYOUT, ...money }))).toBe(200);
    }
    const { id, digest } = await onlyOneIn(shop);

    const note = 'The refund.';
    await customer.act(id, 'accept', { note, body: `${digest}:both` });
    expect((await shop.inbox.show(id))?.actions).toMatchObject([{ note }]);
    expect(await shop.stateOf(reference)).toBe('open');
    expect(await shop.transitions()).toMatchObject([{ state: 'unhandled', reason: 'no_handler' }]);
    expect((await customer.orderPage(reference)).body).not.toContain('Paid. Thank you!');

    await shop.sendCallback(genuine(reference));
    expect(await shop.stateOf(reference)).toBe('paid');
    expect(await shop.orders.list()).toHaveLength(1);
  });
});

describe.each<Engine>(['sqlite', 'postgres'])('the orders on %s', (engine) => {
  test('are listed once each, however many payments their reference has: the first payment counts', async () => {
    const keeping = await newKeeping(engine);
    const shop = await openShop({ keeping });
    const { reference } = await new Customer(shop).placeOrder();
    await new Customer(shop).placeOrder();
    for (const [id, paidAt] of [
      ['later', 3],
      ['first', 1],
      ['second', 2],
    ]) {
      await execute(
        keeping,
        `insert into shop_payment values ('${id}', '${reference}', 'UGX', '1', '15', ${paidAt})`,
      );
    }
    const orders = await shop.orders.list();
    expect(orders).toHaveLength(2);
    expect(orders.find((order) => order.reference === reference)?.payment).toEqual({
      transitionId: 'first',
      settled: { currency: 'UGX', amount: '1' },
      charge: '15',
      at: 1,
    });
    expect((await shop.orders.find(reference))?.payment?.transitionId).toBe('first');
  });
});
