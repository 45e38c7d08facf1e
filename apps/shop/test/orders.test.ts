import { describe, expect, test } from 'vitest';
import { Customer, hiddenIn } from './support/customer.ts';
import { amounts, type OpenShop, openOrder, openShop } from './support/open-shop.ts';

const UNCONFIRMED = 'We have not received a confirmation yet';
const COMPLETED = { status: 'COMPLETED', completed: true };
const COFFEE = '/checkout?product=coffee';
const TYPED = { name: 'Ann Example', account: '256770000987', quantity: '3' };

type Waiting = (shop: OpenShop, reference: string) => Promise<unknown>;
const started =
  (start: Parameters<OpenShop['orders']['start']>[1]): Waiting =>
  async ({ orders }, reference) => {
    const order = orders.find(reference);
    if (order === undefined) throw new Error('There is no such order.');
    await orders.start(order, start);
  };
const hinted =
  (hint: Parameters<OpenShop['orders']['hint']>[1]): Waiting =>
  ({ orders }, reference) =>
    orders.hint(reference, hint);
const sent =
  (...given: [payload: object, signingKey?: string]): Waiting =>
  (shop, reference) =>
    shop.sendCallback(reference, ...given);
const UNKNOWN = { state: 'unknown', why: 'it did not answer' } as const;
const PENDING = { status: 'PENDING', completed: false };
const WAITING = 'We are waiting for your payment';
/** Every way of waiting, and what the page says about it within the limit. */
const WAITS: readonly (readonly [name: string, heading: string, prepare: Waiting])[] = [
  ['nothing', WAITING, async () => undefined],
  ['a response to the start', 'Your payment is being started', started({ state: 'starting' })],
  ['an unknown start', 'We do not know yet whether your payment was started', started(UNKNOWN)],
  ['a redirect that says COMPLETED', 'Your payment is being confirmed', hinted(COMPLETED)],
  ['a redirect that says PENDING', 'Your payment does not seem to be complete', hinted(PENDING)],
  ['a callback that is refused', WAITING, sent({}, 'SANDBOX-another-key-of-a-stranger-0000000000')],
  ['a status without a handler', WAITING, sent({ transaction_status: 'PENDING' })],
];

describe('an order that is not confirmed in time', () => {
  test.each(WAITS)(
    'offers other options after %s, and can still become paid',
    async (_name, heading, prepare) => {
      let ahead = 0;
      const { shop, customer, reference } = await openOrder({ now: () => Date.now() + ahead });
      await prepare(shop, reference);
      await shop.transitions();
      // A control: within the limit it waits, and reloads itself without a script.
      const early = await customer.orderPage(reference);
      expect(early).toContain(`<h2>${heading}</h2>`);
      expect(early).toContain('<noscript><meta http-equiv="refresh"');
      expect(early).not.toContain(UNCONFIRMED);

      ahead = 120_000;
      const late = await customer.orderPage(reference);
      expect(late).toContain(`<h2>${UNCONFIRMED}</h2>`);
      expect(late).not.toContain('http-equiv="refresh"');
      const mail = `mailto:help@shop.example?subject=Order%20${reference}`;
      for (const way of [`/orders/${reference}/again`, mail, '/']) expect(late).toContain(`href="${way}"`);
      // Another attempt is an order with its own reference; the first one can still be paid.
      const second = await customer.placeOrder(hiddenIn(await customer.read(`/orders/${reference}/again`)));
      expect(second.reference).not.toBe(reference);
      await shop.sendCallback(reference);
      expect([await shop.stateOf(reference), await shop.stateOf(second.reference)]).toEqual(['paid', 'open']);
      expect(await customer.orderPage(reference)).toContain('Paid. Thank you!');
    },
  );

  test('counts the time from the first return of the customer, not from each', async () => {
    let ahead = 0;
    const { shop, customer, reference } = await openOrder({ now: () => Date.now() + ahead });
    ahead = 120_000;
    expect(await customer.orderPage(reference)).toContain(UNCONFIRMED);
    await shop.orders.hint(reference, COMPLETED);
    expect(await customer.orderPage(reference)).not.toContain(UNCONFIRMED);
    ahead += 119_000;
    await shop.orders.hint(reference, COMPLETED);
    ahead += 1000;
    expect(await customer.orderPage(reference)).toContain(UNCONFIRMED);
  });
});

describe('a payment that failed', () => {
  test('is shown as failed everywhere, and nowhere in green', async () => {
    const { shop, customer, reference, paymentUrl } = await openOrder();
    const { location } = await customer.get(await customer.decide(paymentUrl, 'decline'));
    expect(await shop.stateOf(reference)).toBe('failed');
    for (const path of [location, '/owner/orders']) {
      const body = await customer.read(path);
      expect([path, body]).toEqual([path, expect.stringMatching(/The payment failed|Reported FAILED/)]);
      expect([path, body]).toEqual([path, expect.not.stringMatching(/state good|<div class="note good/)]);
    }
    // A control: what the same pages mark green.
    expect(await shop.stateAfter(reference, { internal_reference: 'INT-2' })).toBe('paid');
    expect(await customer.orderPage(reference)).toContain('<div class="note good');
    expect(await customer.read('/owner/orders')).toContain('state good');
  });

  test('is retried with the form as it was typed, and places a new order', async () => {
    const { shop, customer, reference } = await openOrder({}, TYPED);
    expect(await shop.stateAfter(reference, { transaction_status: 'FAILED', ...amounts(54_000) })).toBe(
      'failed',
    );
    const again = /href="([^"]+)">Try again</.exec(await customer.orderPage(reference))?.[1] ?? '';
    const body = await customer.read(again);
    for (const value of Object.values(TYPED)) expect(body).toContain(`value="${value}"`);
    expect(body).toContain('value="example_mobile_money" checked');
    expect(body).toContain('<strong>UGX\u00a054,000</strong>');
    const second = await customer.placeOrder({ ...TYPED, ...hiddenIn(body) });
    expect(second.reference).not.toBe(reference);
    expect(await shop.stateOf(reference)).toBe('failed');
  });
});

describe('the form for another attempt', () => {
  test('shows nothing of the customer to another browser', async () => {
    const { shop, reference } = await openOrder({}, TYPED);
    const { status, body } = await new Customer(shop).get(`/orders/${reference}/again`);
    expect(status).toBe(200);
    expect(body).not.toMatch(/Ann Example|256770000987|checked/);
    expect((await new Customer(shop).get('/orders/ORD-UNKNOWN/again')).status).toBe(404);
  });

  test('keeps the provider that the customer chose, even with a number that would select another', async () => {
    const { customer, reference } = await openOrder({}, { ...TYPED, provider: 'example_card_ugx' });
    const body = await customer.read(`/orders/${reference}/again`);
    expect(body).toContain('value="example_card_ugx" checked');
    expect(hiddenIn(body)['byPrefix']).toBe('');
  });
});

describe('an order whose callbacks are all held back', () => {
  test('does not promise that its page changes, before or after the redirect, and is paid by the genuine one', async () => {
    const { shop, customer, reference, paymentUrl } = await openOrder();
    expect(await customer.orderPage(reference)).toContain('This page updates automatically');
    await shop.sendCallback(reference, { transaction_amount: 1 });
    await shop.transitions();
    const held = await customer.orderPage(reference);
    expect(held).toContain('The shop must check your payment');
    expect(held).toContain(paymentUrl);
    // Its script notices the change nevertheless.
    expect(held).toContain('/live.js');
    await shop.orders.hint(reference, COMPLETED);
    const hinted = await customer.orderPage(reference);
    expect(hinted).toContain('please do not pay a second time');
    expect(hinted).not.toContain(paymentUrl);
    for (const page of [held, hinted])
      expect(page).not.toMatch(/updates automatically|this page shows it|waiting/);
    expect(await shop.stateAfter(reference)).toBe('paid');
    expect(await customer.orderPage(reference)).toContain('Paid. Thank you!');
  });

  test('still waits while only a transaction of another type is held back', async () => {
    const { shop, customer, reference } = await openOrder();
    await shop.sendCallback(reference, { transaction_type: 'PAYOUT', internal_reference: '' });
    expect(await shop.transitions()).toMatchObject([{ state: 'quarantined' }]);
    expect(await customer.orderPage(reference)).toContain(WAITING);
  });
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

describe('a customer who goes back', () => {
  test('reads the state of the order at the checkout, and finds no form', async () => {
    const shop = await openShop();
    const customer = new Customer(shop);
    // A control: before the order, for another product and for another customer it shows the form.
    const expectForm = async (address: string, browser = customer): Promise<void> =>
      expect(await browser.read(address)).toContain('<h1>Checkout</h1>');
    await expectForm(COFFEE);
    const { reference } = await customer.placeOrder();
    const [open, paid] = ['You have already placed this order', 'This order is paid'];
    const expectPage = async (address: string, title: string): Promise<string> => {
      const body = await customer.read(address);
      expect(body).toContain(`<h1>${title}</h1>`);
      expect(body).not.toContain('<form');
      expect(body).toContain(`href="/orders/${reference}"`);
      return body;
    };
    await expectPage(COFFEE, open);
    await expectForm(`/orders/${reference}/again`);
    await shop.sendCallback(reference);
    await shop.transitions();
    for (const address of [COFFEE, `${COFFEE}&after=ORD-OTHER`, `/orders/${reference}/again`]) {
      await expectPage(address, paid);
    }
    await expectForm('/checkout?product=tea');
    await expectForm(COFFEE, new Customer(shop));
    expect(await new Customer(shop).read(`/orders/${reference}/again`)).toContain(paid);

    // The product can be bought again, from that page and from the catalogue.
    const another = `${COFFEE}&amp;after=${reference}`;
    expect(await expectPage(COFFEE, paid)).toContain(`href="${another}"`);
    expect(await customer.read('/')).toContain(`href="${another}"`);
    await expectForm(another.replace('&amp;', '&'));
    const second = await customer.placeOrder();
    for (const address of [COFFEE, another.replace('&amp;', '&')]) {
      expect(await customer.read(address)).toContain(`href="/orders/${second.reference}"`);
    }
  });

  test.each(['COMPLETED', 'FAILED'])(
    'pays once, whichever form of the order is submitted after it was reported as %s',
    async (transaction_status) => {
      const shop = await openShop();
      const customer = new Customer(shop);
      const first = hiddenIn(await customer.read(COFFEE));
      const { reference } = await customer.placeOrder(first);
      const again = hiddenIn(await customer.read(`/orders/${reference}/again`));
      await shop.sendCallback(reference, { transaction_status });
      await shop.transitions();
      const answers = [];
      for (const form of [first, again])
        answers.push((await customer.checkOut(form)).location === `/orders/${reference}`);
      // A control: if the payment failed, another attempt is a separate order.
      const isPaid = transaction_status === 'COMPLETED';
      expect(answers).toEqual([true, isPaid]);
      expect(shop.orders.list()).toHaveLength(isPaid ? 1 : 2);
    },
  );
});
