import { expect, test } from 'vitest';
import { amounts, openOrder } from './support/open-shop.ts';

test('the owner’s page leads to a payment in the console, without personal data, where the owner closes a report and applies it after all', async () => {
  const { shop, customer: owner, reference } = await openOrder({ framework: 'fastify' });
  expect(await owner.read('/owner/inbox')).toContain('Nothing needs a person.');
  expect(await owner.read('/owner/orders')).not.toContain('Needs attention');
  const person = { customer_name: 'Secret Name', transaction_account: '256770000987' };
  await shop.sendCallback(reference, { ...person, transaction_amount: 1 });
  await shop.transitions();
  const page = `/owner/inbox/payment?reference=${reference}`;
  const orders = await owner.read('/owner/orders');
  expect(orders).toContain(`href="${page}">1 callback<`);
  expect(orders).toContain('Needs attention');
  const story = await owner.read(page);
  expect(story).toContain('quarantined, amount_mismatch');
  expect(story).not.toMatch(/Secret Name|256770000987/);
  const health = await (await fetch(`${shop.origin}/healthz`)).json();
  expect(health).toMatchObject({ ok: true, problems: [] });

  expect((await owner.act(reference, 'close', { note: 'A customer played with it.' })).status).toBe(303);
  expect(await owner.read('/owner/orders')).not.toContain('Needs attention');
  expect((await owner.act(reference, 'apply', { note: 'No, a real one.' })).status).toBe(303);
  expect(await shop.stateOf(reference)).toBe('open');
  const actions = [{ action: 'close', by: 'owner' }, { action: 'apply' }];
  expect(await shop.inbox.payment(reference)).toMatchObject({ state: 'held', actions });
});

test('an operator accepts an amount other than that of an order, once, and the orders show both', async () => {
  const { shop, customer: owner, reference } = await openOrder();
  await shop.sendCallback(reference, { transaction_amount: 17_000, transaction_charge: 12.5 });
  await shop.transitions();
  const page = `/owner/inbox/payment?reference=${reference}`;
  expect(await owner.read(page)).toContain('Credits UGX 17,000 in place of UGX 18,000.');
  await owner.act(reference, 'accept', { note: 'The service says that 17,000 were paid.' });
  expect(await shop.stateOf(reference)).toBe('paid');
  const orders = await owner.read('/owner/orders');
  expect(orders).toMatch(/UGX\u00a018,000<[^>]*>Paid UGX\u00a017,000</);
  expect(orders).toContain('data-label="Charge, as claimed">UGX\u00a012.5<');
  // The shop writes a payment once, so its owner may not apply one again.
  expect(await owner.read(page)).not.toContain('id="applyAgain"');
  expect(await shop.transitions()).toMatchObject([{ state: 'settled' }]);
  // The command of the inbox may: it changes nothing here.
  const { acts = [] } = (await shop.inbox.payment(reference)) ?? {};
  const again = acts.find(({ name }) => name === 'applyAgain') ?? expect.fail('It cannot be applied again.');
  await shop.inbox.act(again, { by: 'owner', note: 'By the command.' });
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
  const body = await owner.read('/owner/inbox/payments?state=overdue');
  expect(body.match(/ORD-[0-9A-F]{12}</g)).toEqual([`${reference}<`]);
  expect(body).toContain('UGX 18,000');
});

test('the owner finds orders by reference, customer and state, with the sums of what is listed', async () => {
  const { shop, customer: owner, reference } = await openOrder({}, { name: "Ann O'Neill" });
  const { reference: tea } = await owner.placeOrder({
    product: 'tea',
    name: 'Zoë',
    account: '254700000001',
    provider: 'savanna_mobile_money',
  });
  const { reference: basket } = await owner.placeOrder({ product: 'basket', name: 'Zoë' });
  await shop.stateAfter(reference);
  const listed = async (query: string) => {
    const body = await owner.read(`/owner/orders?${query}`);
    const sums = [...body.matchAll(/<dd>([^<]* paid)<\/dd>/g)].map(([, sum]) =>
      sum?.replaceAll('\u00a0', ' '),
    );
    return [[...body.matchAll(/<tr id="orders-(ORD-\w+)"/g)].map(([, id]) => id), sums] as const;
  };
  const [both, kes] = ['UGX 63,000 ordered, UGX 18,000 paid', 'KES 450 ordered, KES 0 paid'];
  expect(await listed('')).toEqual([
    [basket, tea, reference],
    [both, kes],
  ]);
  expect(await listed(`q=${reference.toLowerCase()}`)).toEqual([
    [reference],
    ['UGX 18,000 ordered, UGX 18,000 paid'],
  ]);
  expect(await listed('q=o%27neill')).toEqual([[reference], ['UGX 18,000 ordered, UGX 18,000 paid']]);
  expect(await listed('q=zo%C3%AB&state=open')).toEqual([
    [basket, tea],
    ['UGX 45,000 ordered, UGX 0 paid', kes],
  ]);
  expect(await listed('q=25470')).toEqual([[tea], [kes]]);
  expect(await listed('state=paid')).toEqual([[reference], ['UGX 18,000 ordered, UGX 18,000 paid']]);
  for (const none of ['state=failed', 'state=__proto__', 'q=%25']) {
    expect(await listed(none)).toEqual([[], []]);
    expect(await owner.read(`/owner/orders?${none}`)).toContain('No order matches this search.');
  }
});

test('an order whose callback was lost says that the service has not reported it, and what to do', async () => {
  let now = Date.now() - 2 * 60 * 60 * 1000;
  const { shop, customer: owner, reference } = await openOrder({ now: () => now });
  now = Date.now();
  const { reference: fresh } = await owner.placeOrder();
  const rowOf = async (id: string): Promise<string> =>
    new RegExp(`<tr id="orders-${id}">.*?</tr>`, 's').exec(await owner.read('/owner/orders'))?.[0] ?? '';
  const LOST = 'The service has not reported this payment. Ask the service what became of it.';
  expect(await rowOf(reference)).toContain(LOST);
  expect(await rowOf(fresh)).not.toContain('has not reported');
  // Late, but not lost.
  await shop.stateAfter(reference);
  expect(await rowOf(reference)).not.toContain('has not reported');
});

test('a receipt has date, reference, amount and provider of a paid order, and an unpaid one leads to its page', async () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5);
  const { shop, customer, reference } = await openOrder({ now: () => at }, { quantity: '2' });
  const path = `/orders/${reference}/receipt`;
  expect(await customer.get(path)).toMatchObject({ status: 303, location: `/orders/${reference}` });
  await shop.stateAfter(reference, amounts(36_000));
  expect(await customer.orderPage(reference)).toContain(`href="${path}">Receipt<`);
  const receipt = await customer.read(path);
  for (const fact of [
    '2026-01-02 03:04:05',
    reference,
    '2 × Coffee beans, 500 g',
    'UGX\u00a036,000',
    'Example Mobile Money, account ending in 001',
    'Hillside Market',
  ])
    expect(receipt).toContain(fact);
  expect((await customer.get('/orders/ORD-0/receipt')).status).toBe(404);
});
