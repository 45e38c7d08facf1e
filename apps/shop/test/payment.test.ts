import { expect, test } from 'vitest';
import { Customer } from './support/customer.ts';
import { LATE, openOrder, openShop } from './support/open-shop.ts';

test('a payment leads from the catalogue through the payment page to a paid order', async () => {
  const shop = await openShop({ framework: 'koa' });
  const customer = new Customer(shop);
  const catalogue = await customer.read('/');
  expect(catalogue).toContain('Coffee beans, 500 g');
  expect(catalogue).toContain('Lake Mobile Money');
  const checkout = await customer.read(/href="(\/checkout\?product=coffee)"/.exec(catalogue)?.[1] ?? '');
  expect(checkout).toContain('UGX\u00a018,000 each');
  const offered = [...checkout.matchAll(/name="provider" value="([^"]+)"/g)].map(([, code]) => code);
  expect(offered).toEqual(['example_mobile_money', 'lake_mobile_money', 'example_bank', 'example_card_ugx']);

  const form = { quantity: '3', account: '+256 770-000 001' };
  const { reference, paymentUrl } = await customer.placeOrder(form);
  expect(paymentUrl).toMatch(`${shop.sandboxOrigin}/sandbox/pay/`);
  expect(await customer.orderPage(reference)).toContain('We are waiting for your payment');
  const paymentPage = await customer.read(paymentUrl);
  expect(paymentPage).toContain('UGX\u00a054,000');
  expect(paymentPage).toContain('256770000001');

  const redirect = await customer.decide(paymentUrl, 'pay');
  expect(redirect).toContain('hmac_signature=');
  const { status, location, headers } = await customer.get(redirect);
  // The address that remains in the browser and its history contains no signature (threat A23).
  expect([status, location]).toEqual([303, `/orders/${reference}`]);
  expect(headers.get('referrer-policy')).toBe('no-referrer');

  expect(await shop.stateOf(reference)).toBe('paid');
  const paid = await customer.read(location);
  expect(paid).toContain('Paid. Thank you!');
  expect(paid).toContain('UGX\u00a054,000');
  expect(paid).not.toContain('/live.js');
  const owners = await customer.read('/owner/orders');
  // 54,000 minus the sandbox's charge of 3 %.
  for (const text of [reference, 'UGX, collection wallet', 'UGX\u00a052,380']) expect(owners).toContain(text);
});

test('a payment keeps the decimals of a currency that has decimals', async () => {
  const form = { product: 'cookbook', quantity: '3', provider: 'example_card_usd', account: '1001' };
  const { shop, customer, reference, paymentUrl } = await openOrder({}, form);
  await customer.decide(paymentUrl, 'pay');
  expect(await shop.stateOf(reference)).toBe('paid');
  expect(await customer.orderPage(reference)).toMatch(/Paid. Thank you![\s\S]*USD\u00a037\.50/);
});

test('a payment is a hint when the redirect arrives first, and is applied when the callback has arrived', async () => {
  const { shop, customer, reference, paymentUrl } = await openOrder({ sandbox: LATE });
  const { location } = await customer.get(await customer.decide(paymentUrl, 'pay'));
  const waiting = await customer.read(location);
  expect(waiting).toContain('Your payment is being confirmed');
  expect(waiting).toContain('/live.js');
  expect(await shop.stateOf(reference)).toBe('open');
  shop.sandbox.advance(3600);
  await shop.sandbox.idle();
  expect(await shop.stateOf(reference)).toBe('paid');
  expect(await customer.read(location)).toContain('Paid. Thank you!');
});
