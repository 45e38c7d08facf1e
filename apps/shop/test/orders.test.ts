import { expect, test } from 'vitest';
import { newFormId } from '../src/books/orders.ts';
import { Customer, hiddenIn } from './support/customer.ts';
import { amounts, LATE, openOrder, openShop } from './support/open-shop.ts';

const UNCONFIRMED = 'We have not received a confirmation yet';
const WAITING = 'We are waiting for your payment';
const COMPLETED = { status: 'COMPLETED', completed: true };
const COFFEE = '/checkout?product=coffee';
const TYPED = { name: 'Ann Example', account: '256770000987', quantity: '3' };

test('a payment leads from the catalogue to an order that is paid when the callback arrives; the redirect is only a hint', async () => {
  const shop = await openShop({ framework: 'koa', sandbox: LATE });
  const customer = new Customer(shop);
  const catalogue = await customer.read('/');
  const checkout = await customer.read(/href="(\/checkout\?product=coffee)"/.exec(catalogue)?.[1] ?? '');
  const offered = [...checkout.matchAll(/name="provider" value="([^"]+)"/g)].map(([, code]) => code);
  expect(offered).toEqual(['example_mobile_money', 'lake_mobile_money', 'example_bank', 'example_card_ugx']);
  const form = { product: 'cookbook', quantity: '3', provider: 'example_card_usd', account: '1001' };
  const { reference, paymentUrl } = await customer.placeOrder(form);
  expect(await customer.orderPage(reference)).toContain(WAITING);
  expect(await customer.read(paymentUrl)).toContain('USD\u00a037.5');

  const { status, location, headers } = await customer.get(await customer.decide(paymentUrl, 'pay'));
  // The address that remains in the browser and its history contains no signature (threat A23).
  expect([status, location]).toEqual([303, `/orders/${reference}`]);
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(await customer.read(location)).toContain('Your payment is being confirmed');
  expect(await shop.stateOf(reference)).toBe('open');
  shop.sandbox.advance(3600);
  await shop.sandbox.idle();
  expect(await shop.stateOf(reference)).toBe('paid');
  expect(await customer.read(location)).toMatch(/Paid. Thank you![\s\S]*USD\u00a037\.50/);
  // The sandbox's charge.
  expect(await customer.read('/owner/orders')).toContain('USD\u00a01.31');
});

test('an order that is not confirmed in time offers other options, and can still become paid', async () => {
  let ahead = 0;
  const { shop, customer, reference } = await openOrder({ now: () => Date.now() + ahead });
  await shop.sendCallback(reference, {}, 'SANDBOX-another-key-of-a-stranger-0000000000');
  // Within the limit it waits, and reloads itself without a script.
  const early = await customer.orderPage(reference);
  expect(early).toMatch(`<h2>${WAITING}</h2>`);
  expect(early).toContain('<noscript><meta http-equiv="refresh"');
  ahead = 120_000;
  const late = await customer.orderPage(reference);
  expect(late).toContain(`<h2>${UNCONFIRMED}</h2>`);
  expect(late).not.toContain('http-equiv="refresh"');
  const mail = `mailto:help@shop.example?subject=Order%20${reference}`;
  for (const way of [`/orders/${reference}/again`, mail, '/']) expect(late).toContain(`href="${way}"`);
  const second = await customer.placeOrder(hiddenIn(await customer.read(`/orders/${reference}/again`)));
  expect([await shop.stateAfter(reference), await shop.stateOf(second.reference)]).toEqual(['paid', 'open']);

  // The first return of the customer starts the time again, the next one does not.
  await shop.orders.hint(second.reference, { ...COMPLETED, at: Date.now() + ahead });
  ahead += 119_000;
  await shop.orders.hint(second.reference, { ...COMPLETED, at: Date.now() + ahead });
  expect(await customer.orderPage(second.reference)).toContain('Your payment is being confirmed');
  ahead += 1000;
  expect(await customer.orderPage(second.reference)).toContain(UNCONFIRMED);
});

test('a payment that failed is shown as failed, and is retried with the form as it was typed, by the same browser', async () => {
  const { shop, customer, reference, paymentUrl } = await openOrder({}, TYPED);
  const { location } = await customer.get(await customer.decide(paymentUrl, 'decline'));
  expect(await shop.stateOf(reference)).toBe('failed');
  for (const path of [location, '/owner/orders']) {
    const body = await customer.read(path);
    expect(body).toMatch(/The payment failed|Reported FAILED/);
    expect(body).not.toMatch(/state good|<div class="note good/);
  }
  const again = /href="([^"]+)">Try again</.exec(await customer.orderPage(reference))?.[1] ?? '';
  const form = await customer.read(again);
  for (const value of Object.values(TYPED)) expect(form).toContain(`value="${value}"`);
  expect(form).toContain('value="example_mobile_money" checked');
  expect(await new Customer(shop).read(again)).not.toMatch(/Ann Example|256770000987|checked/);
  const second = await customer.placeOrder({ ...TYPED, ...hiddenIn(form) });
  expect(second.reference).not.toBe(reference);
});

test('an order whose callbacks are all held back does not ask for another payment, and is paid by the genuine one', async () => {
  const { shop, customer, reference, paymentUrl } = await openOrder();
  await shop.stateAfter(reference, { transaction_amount: 1 });
  const held = await customer.orderPage(reference);
  expect(held).toContain('The shop must check your payment');
  expect(held).toContain(paymentUrl);
  await shop.orders.hint(reference, { ...COMPLETED, at: Date.now() });
  const hinted = await customer.orderPage(reference);
  expect(hinted).toContain('please do not pay a second time');
  expect(hinted).not.toContain(paymentUrl);
  for (const page of [held, hinted]) expect(page).not.toMatch(/updates automatically|waiting/);
  expect(await shop.stateAfter(reference)).toBe('paid');
});

test('a shop that stops lets a request in flight finish, and listens no longer', async () => {
  let stop: (() => unknown) | undefined;
  const now = (): number => {
    stop?.();
    return Date.now();
  };
  const { shop, customer, reference } = await openOrder({ now });
  stop = shop.close;
  expect(await customer.orderPage(reference)).toContain(WAITING);
  await shop.close();
  await expect(fetch(shop.origin)).rejects.toThrow();
});

test('a customer who goes back finds the order and no form, pays once, and can buy the product again', async () => {
  const shop = await openShop();
  const customer = new Customer(shop);
  const first = hiddenIn(await customer.read(COFFEE));
  const { reference } = await customer.placeOrder(first);
  const [open, paid] = ['You have already placed this order', 'This order is paid'];
  const expectPage = async (address: string, title: string): Promise<string> => {
    const body = await customer.read(address);
    expect(body).toContain(`<h1>${title}</h1>`);
    expect(body.includes('<form')).toBe(title === 'Checkout');
    return body;
  };
  await expectPage(COFFEE, open);
  const again = hiddenIn(await expectPage(`/orders/${reference}/again`, 'Checkout'));
  await shop.stateAfter(reference);
  await expectPage(`/orders/${reference}/again`, paid);
  for (const form of [first, again]) {
    expect((await customer.checkOut(form)).location).toBe(`/orders/${reference}`);
  }
  const another = `${COFFEE}&amp;after=${reference}`;
  expect(await expectPage(COFFEE, paid)).toContain(`href="${another}"`);
  await expectPage(another.replace('&amp;', '&'), 'Checkout');
  expect(await new Customer(shop).read(COFFEE)).toContain('<h1>Checkout</h1>');
  expect(shop.orders.list()).toHaveLength(1);
});

test('an order is stored together with the expectation of its payment, or neither', async () => {
  const { shop, reference } = await openOrder();
  const order = shop.orders.find(reference);
  if (order === undefined) throw new Error('The order is gone.');
  const total = { currency: 'UGX', amount: '45000' };
  await expect(shop.orders.add({ ...order, total }, newFormId())).rejects.toThrow();
  expect(await shop.stateAfter(reference, amounts(45_000))).toBe('open');
  expect(await shop.stateAfter(reference)).toBe('paid');
  expect(shop.orders.list()).toHaveLength(1);
});
