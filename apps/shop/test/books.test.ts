import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { type Engine, execute, newKeeping } from './new-keeping.ts';
import { openShop } from './open-shop.ts';

describe.each<Engine>(['sqlite', 'postgres'])('the books on %s', (engine) => {
  test('keep an order together with the expectation of its payment, or neither', async () => {
    const shop = await openShop({ engine, newReference: () => 'ORD-1' });
    for (const amount of [700, 900]) {
      await shop.sendCallback(genuine('ORD-1', { request_amount: amount, transaction_amount: amount }));
    }
    const [conflict] = await shop.transitions();
    const { bodies = [] } = (await shop.inbox.show(conflict?.transitionId ?? '')) ?? {};
    const body = bodies[0]?.digest;
    await shop.inbox.resolve(conflict?.transitionId ?? '', { by: 'Ann', note: 'Paid at the door.', body });
    await shop.workedOff();

    // The reference is settled with another amount: the inbox refuses the expectation, and the order goes with it.
    expect((await new Customer(shop).checkOut()).status).toBe(500);
    expect(await shop.orders.list()).toEqual([]);
  });

  test('keep the expectation of an order when its reference is generated again', async () => {
    const shop = await openShop({ engine, newReference: () => 'ORD-1' });
    const customer = new Customer(shop);
    await customer.placeOrder();
    expect((await customer.checkOut({ product: 'basket' })).status).toBe(500);
    await shop.sendCallback(genuine('ORD-1', { request_amount: 45_000, transaction_amount: 45_000 }));
    expect(await shop.stateOf('ORD-1')).toBe('open');
    await shop.sendCallback(genuine('ORD-1'));
    expect(await shop.stateOf('ORD-1')).toBe('paid');
  });

  test('show the charge that the confirmed body claims, not that of a forged one', async () => {
    const shop = await openShop({ engine });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_amount: 1, transaction_charge: 9 }));
    expect(await shop.stateOf(reference)).toBe('open');
    await shop.sendCallback(genuine(reference, { transaction_charge: 12.5 }));
    expect(await shop.stateOf(reference)).toBe('paid');
    expect((await shop.orders.find(reference))?.payment?.charge).toBe('12.5');
    expect((await customer.get('/owner/orders')).body).toContain('UGX\u00a012.5, as its callback claims');
    const other = await customer.placeOrder();
    await shop.sendCallback(
      genuine(other.reference, { internal_reference: 'INT-2', transaction_charge: 'much' }),
    );
    expect(await shop.stateOf(other.reference)).toBe('paid');
    expect((await shop.orders.find(other.reference))?.payment?.charge).toBeUndefined();
  });

  test('accept orders and payments at the same time, and no writer waits permanently for another', async () => {
    const shop = await openShop({ engine });
    const references = await Promise.all(
      Array.from({ length: 12 }, async (_, number) => {
        const { reference } = await new Customer(shop).placeOrder();
        const data = genuine(reference, { internal_reference: `INT-${number}` });
        expect(await Promise.all([shop.sendCallback(data), shop.sendCallback(data)])).toEqual([200, 200]);
        return reference;
      }),
    );
    for (const reference of references) expect(await shop.stateOf(reference)).toBe('paid');
    expect(await shop.orders.list()).toHaveLength(12);
  });

  test('remove control characters from a name, which PostgreSQL could not store', async () => {
    const shop = await openShop({ engine });
    expect((await new Customer(shop).checkOut({ name: 'Ann\0Lee' })).status).toBe(422);
    expect((await new Customer(shop).checkOut({ account: '2567700\u000000001' })).status).toBe(422);
    expect(await shop.sendCallback(genuine('ORD-\0', { transaction_status: 'FAILED' }))).toBe(200);
    expect(await shop.transitions()).toMatchObject([{ state: 'settled' }]);
  });
});

describe('the books on postgres', () => {
  test('keep no expectation of an order whose commit fails', async () => {
    const keeping = await newKeeping('postgres');
    const shop = await openShop({ keeping, newReference: () => 'ORD-1' });
    await execute(
      keeping,
      `create function broken() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
       create constraint trigger broken after insert on shop_order
       deferrable initially deferred for each row execute function broken()`,
    );
    expect((await new Customer(shop).checkOut()).status).toBe(500);
    expect(await shop.orders.list()).toEqual([]);
    expect(await shop.sendCallback(genuine('ORD-1'))).toBe(200);
    expect(await shop.transitions()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
  });
});
