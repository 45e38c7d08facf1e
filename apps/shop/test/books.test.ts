import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { Customer } from './support/customer.ts';
import { execute, newKeeping } from './support/new-keeping.ts';
import { amounts, ENGINES, openOrder, openShop } from './support/open-shop.ts';

const newReference = (): string => 'ORD-1';

describe.each(ENGINES)('the books on $engine', (stage) => {
  test('keep an order together with the expectation of its payment, or neither', async () => {
    const shop = await openShop({ ...stage, newReference });
    for (const amount of [700, 900]) await shop.sendCallback('ORD-1', amounts(amount));
    const [conflict] = await shop.transitions();
    const { bodies = [] } = (await shop.inbox.show(conflict?.transitionId ?? '')) ?? {};
    const accepted = { by: 'Ann', note: 'Paid at the door.', body: bodies[0]?.digest };
    await shop.inbox.resolve(conflict?.transitionId ?? '', accepted);
    await shop.transitions();
    // The reference is settled with another amount: the inbox refuses the expectation, and with it the order.
    expect((await new Customer(shop).checkOut()).status).toBe(500);
    expect(await shop.orders.list()).toEqual([]);
  });

  test('keep the expectation of an order when its reference is generated again', async () => {
    const { shop, customer } = await openOrder({ ...stage, newReference });
    expect((await customer.checkOut({ product: 'basket' })).status).toBe(500);
    await shop.sendCallback('ORD-1', amounts(45_000));
    expect(await shop.stateOf('ORD-1')).toBe('open');
    await shop.sendCallback('ORD-1');
    expect(await shop.stateOf('ORD-1')).toBe('paid');
  });

  test('show the charge that the confirmed body claims, not that of a forged one', async () => {
    const { shop, customer, reference } = await openOrder(stage);
    expect(await shop.stateAfter(reference, { transaction_amount: 1, transaction_charge: 9 })).toBe('open');
    expect(await shop.stateAfter(reference, { transaction_charge: 12.5 })).toBe('paid');
    expect((await shop.orders.find(reference))?.payment?.charge).toBe('12.5');
    expect(await customer.read('/owner/orders')).toContain('UGX\u00a012.5, as its callback claims');
    const other = await customer.placeOrder();
    await shop.sendCallback(other.reference, { internal_reference: 'INT-2', transaction_charge: 'much' });
    expect(await shop.stateOf(other.reference)).toBe('paid');
    expect((await shop.orders.find(other.reference))?.payment?.charge).toBeUndefined();
  });

  test('accept orders and payments at the same time, and no writer waits permanently for another', async () => {
    const shop = await openShop(stage);
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
    expect(await shop.orders.list()).toHaveLength(12);
  });

  test('refuse control characters in a name or an account, which PostgreSQL could not store', async () => {
    const shop = await openShop(stage);
    expect((await new Customer(shop).checkOut({ name: 'Ann\0Lee' })).status).toBe(422);
    expect((await new Customer(shop).checkOut({ account: '2567700\u000000001' })).status).toBe(422);
    expect(await shop.sendCallback('ORD-\0', { transaction_status: 'FAILED' })).toBe(200);
    expect(await shop.transitions()).toMatchObject([{ state: 'settled' }]);
  });

  test('list each order once, however many payments its reference has: the first payment counts', async () => {
    const keeping = await newKeeping(stage.engine);
    const { shop, customer, reference } = await openOrder({ keeping });
    await customer.placeOrder();
    for (const [id, paidAt] of Object.entries({ later: 3, first: 1, second: 2 })) {
      const values = `'${id}', '${reference}', 'UGX', '1', '15', ${paidAt}`;
      await execute(keeping, `insert into shop_payment values (${values})`);
    }
    const orders = await shop.orders.list();
    expect(orders).toHaveLength(2);
    expect(orders.find((order) => order.reference === reference)?.payment).toEqual({
      ...{ transitionId: 'first', charge: '15', at: 1 },
      settled: { currency: 'UGX', amount: '1' },
    });
    expect((await shop.orders.find(reference))?.payment?.transitionId).toBe('first');
  });

  test('contain no payment of an order by a payout, whatever an operator accepts', async () => {
    const { shop, customer, reference } = await openOrder(stage);
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
    expect(await shop.orders.list()).toHaveLength(1);
  });
});

test('the books on postgres keep no expectation of an order whose commit fails', async () => {
  const keeping = await newKeeping('postgres');
  const shop = await openShop({ keeping, newReference });
  await execute(
    keeping,
    `create function broken() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
     create constraint trigger broken after insert on shop_order
     deferrable initially deferred for each row execute function broken()`,
  );
  expect((await new Customer(shop).checkOut()).status).toBe(500);
  expect(await shop.orders.list()).toEqual([]);
  expect(await shop.sendCallback('ORD-1')).toBe(200);
  expect(await shop.transitions()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
});

test('a shop that cannot write to its books retries automatically or when the owner requests it, and pays once', async () => {
  const keeping = await newKeeping('sqlite');
  const { shop, customer: owner, reference } = await openOrder({ keeping });
  await execute(
    keeping,
    `create trigger broken before insert on shop_payment begin select raise(abort, 'No such year.'); end`,
  );
  expect(await shop.stateAfter(reference)).toBe('open');
  const id = (await shop.transitions())[0]?.transitionId ?? '';
  const failing = await owner.read(`/owner/inbox/transitions/${id}`);
  expect(failing).toContain('<code>retrying</code>');
  // Its message may quote what was written (decision D64), so the page has the code only.
  expect(failing).toMatch(/SqliteError.*SQLITE_/);
  expect(failing).not.toContain('No such year.');
  await execute(keeping, 'drop trigger broken');
  // Refused if an automatic attempt is faster.
  expect([303, 409]).toContain((await owner.act(id, 'retry', { note: 'Fixed.' })).status);
  expect(await shop.stateOf(reference)).toBe('paid');
});

test('a shop whose database accepts no writes keeps the callback next to the database, and the order is paid once it accepts writes again', async () => {
  const keeping = await newKeeping('sqlite');
  const { shop, reference } = await openOrder({ keeping });
  const file = new DatabaseSync('file' in keeping ? keeping.file : '', { timeout: 10_000 });
  file.exec('begin immediate');
  expect(await shop.sendCallback(reference)).toBe(200);
  expect(await shop.inbox.list()).toEqual([]);
  expect(await shop.inbox.stats()).toMatchObject({ spooled: 1 });
  file.exec('rollback');
  file.close();
  expect(await shop.stateOf(reference)).toBe('paid');
  expect(await shop.inbox.stats()).toMatchObject({ spooled: 0 });
});
