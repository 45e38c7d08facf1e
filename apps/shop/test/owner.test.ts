import { expect, test } from 'vitest';
import { Customer } from './support/customer.ts';
import { amounts, type OpenShop, openOrder, openShop } from './support/open-shop.ts';

async function newestIn(shop: OpenShop): Promise<string> {
  const [newest] = await shop.transitions();
  if (newest === undefined) throw new Error('The inbox is empty.');
  return newest.transitionId;
}

test('the owner’s page leads from an order to its callbacks in the console, without personal data', async () => {
  const shop = await openShop({ framework: 'koa' });
  const owner = new Customer(shop);
  expect(await owner.read('/owner/inbox')).toContain('Nothing waits for an operator.');
  const person = { customer_name: 'Secret Name', transaction_account: '256770000987' };
  for (const [state, payload] of [
    ['settled', person],
    ['quarantined', { ...person, internal_reference: 'INT-2', transaction_amount: 1 }],
  ] as const) {
    const { reference } = await owner.placeOrder();
    await shop.sendCallback(reference, payload);
    const story = `/owner/inbox/transitions/${await newestIn(shop)}`;
    const list = `/owner/inbox/transitions?reference=${reference}`;
    expect(await owner.read('/owner/orders')).toContain(`href="${list}">1 callback<`);
    expect(await owner.read(list)).toContain(`href="${story}"`);
    const body = await owner.read(story);
    expect(body).toContain(`<h1>${reference}</h1>`);
    expect(body).toContain(`<code>${state}</code>`);
    expect(body).not.toMatch(/Secret Name|256770000987/);
  }
});

test('the owner closes a callback with a note, and reopens it', async () => {
  const { shop, customer: owner, reference } = await openOrder({ framework: 'fastify' });
  await owner.placeOrder();
  // A control: nothing waits.
  expect(await owner.read('/owner/orders')).not.toContain('needs attention');
  await shop.sendCallback(reference, { transaction_amount: 1 });
  const id = await newestIn(shop);
  expect((await owner.read('/owner/orders')).match(/needs attention/g)).toHaveLength(1);
  expect((await owner.act(id, 'resolve', { note: 'A customer played with it.' })).status).toBe(303);
  expect(await owner.read('/owner/orders')).not.toContain('needs attention');
  expect((await owner.act(id, 'reopen', { note: 'No, a real one.' })).status).toBe(303);
  expect(await shop.stateOf(reference)).toBe('open');
  expect(await shop.inbox.show(id)).toMatchObject({
    state: 'quarantined',
    actions: [
      { action: 'resolve', by: 'owner', note: 'A customer played with it.' },
      { action: 'reopen', by: 'owner', note: 'No, a real one.' },
    ],
  });
});

test('an amount that an operator accepts without an order is on the books once', async () => {
  const shop = await openShop();
  const owner = new Customer(shop);
  for (const amount of [700, 900]) await shop.sendCallback('ORD-LOST', amounts(amount));
  const id = await newestIn(shop);
  const story = await owner.read(`/owner/inbox/transitions/${id}`);
  const [, body = ''] = /<option value="([0-9a-f]{64}:both)"[^>]*>UGX 900,/.exec(story) ?? [];
  expect((await owner.act(id, 'accept', { note: 'The receipt says 900.', body })).status).toBe(303);
  await shop.transitions();
  await owner.act(id, 'reopen', { note: 'Was it written?' });
  expect(await shop.transitions()).toMatchObject([{ state: 'settled' }]);
  const paid = [{ reference: 'ORD-LOST', amount: '900' }];
  expect(shop.execute('select reference, amount from shop_payment')).toEqual(paid);
});

test('an operator accepts an amount other than that of an order, and the orders show both', async () => {
  const { shop, customer: owner, reference } = await openOrder();
  await shop.sendCallback(reference, { transaction_amount: 17_000 });
  const id = await newestIn(shop);
  const story = await owner.read(`/owner/inbox/transitions/${id}`);
  const [, body = ''] = /<option value="([0-9a-f]{64}:transaction)"[^>]*>UGX 17,000,/.exec(story) ?? [];
  await owner.act(id, 'accept', { note: 'The service says that 17,000 were paid.', body });
  expect(await shop.stateOf(reference)).toBe('paid');
  expect(await owner.read('/owner/orders')).toMatch(/UGX\u00a018,000\s+<[^>]*>Paid UGX\u00a017,000</);
});

test('the console shows overdue payments, but not refused or paid ones', async () => {
  let now = Date.now();
  const { shop, customer: owner } = await openOrder({ now: () => now });
  expect(await owner.read('/owner/inbox/overdue')).toContain('Nothing is overdue.');
  now -= 2 * 60 * 60 * 1000;
  const forgotten = await owner.placeOrder();
  // Above the provider's daily limit.
  for (let times = 0; times < 4; times += 1) {
    const { reference } = await owner.placeOrder({ product: 'lamp', quantity: '41' });
    await shop.sendCallback(reference, { ...amounts(4_920_000), internal_reference: `INT-L${times}` });
  }
  expect((await owner.checkOut({ product: 'lamp', quantity: '41' })).status).toBe(422);
  await shop.transitions();
  const body = await owner.read('/owner/inbox/overdue');
  expect(body.match(/ORD-[0-9A-F]{12}</g)).toEqual([`${forgotten.reference}<`]);
  expect(body).toContain('UGX 18,000');
});

test('the owner’s orders are a table of the last 50, the newest first', async () => {
  const { shop, customer: owner, reference } = await openOrder();
  const order = shop.orders.find(reference);
  if (order === undefined) throw new Error('The order is gone.');
  const added = Array.from({ length: 51 }, (_, number) => `ORD-${number}`);
  for (const other of added) await shop.orders.add({ ...order, reference: other }, `form of ${other}`);
  const body = await owner.read('/owner/orders');
  const rows = [...body.matchAll(/<tr id="orders-([^"]+)"/g)].map(([, id = '']) => id);
  expect(rows).toEqual(added.reverse().slice(0, 50));
  expect(body).toContain('<caption');
});

test('the health check counts what waits for an operator, and stays 200', async () => {
  const { shop, reference } = await openOrder();
  const health = async (): Promise<unknown> => {
    const response = await fetch(`${shop.origin}/healthz`);
    return [response.status, await response.json()];
  };
  const empty = { quarantined: 0, conflict: 0, dead: 0 };
  expect(await health()).toMatchObject([200, { ok: true, problems: [], needsPerson: empty }]);
  await shop.sendCallback(reference, { transaction_amount: 1 });
  for (const amount of [700, 900])
    await shop.sendCallback('ORD-LOST', { ...amounts(amount), internal_reference: 'INT-2' });
  await shop.transitions();
  const needsPerson = { quarantined: 1, conflict: 1, dead: 0 };
  expect(await health()).toMatchObject([200, { ok: true, problems: [], needsPerson }]);
});
