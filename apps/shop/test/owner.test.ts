import { expect, test } from 'vitest';
import { amounts, type OpenShop, openOrder } from './support/open-shop.ts';

async function newestIn(shop: OpenShop): Promise<string> {
  const [newest] = await shop.transitions();
  if (newest === undefined) throw new Error('The inbox is empty.');
  return newest.transitionId;
}

test('the owner’s page leads to a callback in the console, without personal data, where the owner closes and reopens it', async () => {
  const { shop, customer: owner, reference } = await openOrder({ framework: 'fastify' });
  expect(await owner.read('/owner/inbox')).toContain('Nothing waits for an operator.');
  expect(await owner.read('/owner/orders')).not.toContain('Needs attention');
  const person = { customer_name: 'Secret Name', transaction_account: '256770000987' };
  await shop.sendCallback(reference, { ...person, transaction_amount: 1 });
  const id = await newestIn(shop);
  const list = `/owner/inbox/transitions?reference=${reference}`;
  const orders = await owner.read('/owner/orders');
  expect(orders).toContain(`href="${list}">1 callback<`);
  expect(orders).toContain('Needs attention');
  expect(await owner.read(list)).toContain(`href="/owner/inbox/transitions/${id}"`);
  const story = await owner.read(`/owner/inbox/transitions/${id}`);
  expect(story).toContain('quarantined, amount_mismatch');
  expect(story).not.toMatch(/Secret Name|256770000987/);
  const health = await (await fetch(`${shop.origin}/healthz`)).json();
  expect(health).toMatchObject({ ok: true, problems: [] });

  expect((await owner.act(id, 'resolve', { note: 'A customer played with it.' })).status).toBe(303);
  expect(await owner.read('/owner/orders')).not.toContain('Needs attention');
  expect((await owner.act(id, 'reopen', { note: 'No, a real one.' })).status).toBe(303);
  expect(await shop.stateOf(reference)).toBe('open');
  const actions = [{ action: 'resolve', by: 'owner' }, { action: 'reopen' }];
  expect(await shop.inbox.show(id)).toMatchObject({ state: 'quarantined', actions });
});

test('an operator accepts an amount other than that of an order, once, and the orders show both', async () => {
  const { shop, customer: owner, reference } = await openOrder();
  await shop.sendCallback(reference, { transaction_amount: 17_000, transaction_charge: 12.5 });
  const id = await newestIn(shop);
  const story = await owner.read(`/owner/inbox/transitions/${id}`);
  const [, body = ''] = /<option value="([0-9a-f]{64}:transaction)"[^>]*>UGX 17,000,/.exec(story) ?? [];
  await owner.act(id, 'accept', { note: 'The service says that 17,000 were paid.', body });
  expect(await shop.stateOf(reference)).toBe('paid');
  const orders = await owner.read('/owner/orders');
  expect(orders).toMatch(/UGX\u00a018,000<[^>]*>Paid UGX\u00a017,000</);
  expect(orders).toContain('data-label="Charge, as claimed">UGX\u00a012.5<');
  // The shop writes a payment once, so its owner may not apply one again.
  expect(await owner.read(`/owner/inbox/transitions/${id}`)).not.toContain('id="applyAgain"');
  expect(await shop.transitions()).toMatchObject([{ state: 'settled' }]);
  expect(shop.execute('select amount from shop_payment')).toEqual([{ amount: '17000' }]);
});

test('the console shows overdue payments, but not refused or paid ones', async () => {
  let now = Date.now() - 2 * 60 * 60 * 1000;
  const { shop, customer: owner, reference } = await openOrder({ now: () => now });
  // Above the provider's daily limit.
  for (let times = 0; times < 4; times += 1) {
    const paid = await owner.placeOrder({ product: 'lamp', quantity: '41' });
    await shop.sendCallback(paid.reference, { ...amounts(4_920_000), internal_reference: `INT-${times}` });
  }
  expect((await owner.checkOut({ product: 'lamp', quantity: '41' })).status).toBe(422);
  now = Date.now();
  await owner.placeOrder();
  await shop.transitions();
  const body = await owner.read('/owner/inbox/overdue');
  expect(body.match(/ORD-[0-9A-F]{12}</g)).toEqual([`${reference}<`]);
  expect(body).toContain('UGX 18,000');
});
