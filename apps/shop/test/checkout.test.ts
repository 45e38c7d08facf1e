import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newFormId } from '../src/books/orders.ts';
import { Customer, hiddenIn } from './support/customer.ts';
import { type OpenShop, openOrder, openShop } from './support/open-shop.ts';
import { openServiceProxy } from './support/service-proxy.ts';

const TOO_MUCH = { product: 'lamp', quantity: '41' };

describe('a checkout is refused, and orders nothing,', () => {
  let shop: OpenShop;
  beforeAll(async () => {
    shop = await openShop({ closing: afterAll });
  });

  test.each([
    [
      'an amount below every minimum',
      { product: 'sticker' },
      'UGX\u00a0300',
      [
        'Example Mobile Money accepts at least UGX\u00a0500 per transaction.',
        'Example Card (UGX) accepts at least UGX\u00a02,000 per transaction.',
      ],
    ],
    [
      'an amount above every maximum',
      { product: 'lamp', quantity: '999' },
      'UGX\u00a0119,880,000',
      ['Example Bank Transfer accepts at most UGX\u00a050,000,000 per transaction.'],
    ],
    [
      'an account number that no provider serves',
      { product: 'tea', account: '256770000001', provider: 'savanna_mobile_money' },
      'KES\u00a0450',
      [
        'Savanna Mobile Money supports only accounts that start with 25470, 25471, 25472.',
        'Rift Mobile Money is not available at the moment.',
      ],
    ],
  ])('with the reasons of the providers, for %s', async (_what, form, price, reasons) => {
    const { status, body } = await new Customer(shop).checkOut(form);
    expect(status).toBe(422);
    expect(body).toContain(`No provider can accept ${price} from this account.`);
    for (const reason of reasons) expect(body).toContain(`<li>${reason}</li>`);
    expect(shop.orders.list()).toEqual([]);
  });

  test.each([
    ['quantity', { quantity: '0' }, 'Enter a quantity from 1 to 999.'],
    ['quantity', { quantity: '1.5' }, 'Enter a quantity from 1 to 999.'],
    ['quantity', { quantity: '1e3' }, 'Enter a quantity from 1 to 999.'],
    ['name', { name: '  ' }, 'Enter your name'],
    ['name', { name: 'n'.repeat(81) }, 'at most 80 characters'],
    ['account', { account: '+' }, 'Enter the phone or account number'],
    ['account', { account: '2'.repeat(35) }, 'Enter the phone or account number'],
    ['provider', { provider: '' }, 'Choose how you want to pay.'],
    ['provider', { provider: 'an_unknown_provider' }, 'Choose how you want to pay.'],
  ])('with a sentence beside an unusable %s: %o', async (field, form, reason) => {
    const { status, body } = await new Customer(shop).checkOut(form);
    expect(status).toBe(422);
    expect(body).toMatch(new RegExp(`id="${field}-problem">[^<]*${reason}`));
    expect(body).toContain('role="alert"');
    expect(shop.orders.list()).toEqual([]);
  });

  test.each([
    ['the first field that is wrong', { quantity: '0', name: '' }, 'name="quantity"'],
    ['the account', { account: '' }, 'name="account"'],
    ['the first provider', { provider: '' }, 'value="example_mobile_money"'],
    ['what no provider can accept', { product: 'lamp', quantity: '999' }, 'role="alert"'],
  ])('with the focus on %s', async (_what, wrong, focused) => {
    const { body } = await new Customer(shop).checkOut(wrong);
    expect(body).toContain('<title>Error: Buy');
    const found = body.match(/<[^>]* autofocus/g);
    expect(found).toEqual([expect.stringContaining(focused)]);
  });

  test('with a new form, without an id that the shop issued', async () => {
    for (const formId of ['', 'f'.repeat(31), `${'f'.repeat(31)}'`, 'F'.repeat(32)]) {
      const { status, body } = await new Customer(shop).checkOut({ form_id: formId });
      expect([formId, status]).toEqual([formId, 422]);
      expect(body).toContain('Nothing was ordered');
      expect(hiddenIn(body)['form_id']).toMatch(/^[0-9a-f]{32}$/);
    }
    expect(shop.orders.list()).toEqual([]);
  });
});

test('an account number that the chosen provider does not serve is refused with the providers that do', async () => {
  const shop = await openShop();
  const { status, body } = await new Customer(shop).checkOut({ account: '256700000001', name: 'Ann <3' });
  expect(status).toBe(422);
  expect(body).toMatch(
    /id="account-problem">Example Mobile Money supports only accounts that start with 25677, 25678\. These can accept UGX\u00a018,000 from this account: Lake Mobile Money, Example Bank Transfer, Example Card \(UGX\)\./,
  );
  // The input is still there, and the payment is possible.
  expect(body).toContain('value="256700000001"');
  expect(body).toContain('value="Ann &lt;3"');
  expect(body).toMatch(/value="example_mobile_money" checked/);
  expect(shop.orders.list()).toEqual([]);
  const fixed = { account: '256700000001', provider: 'lake_mobile_money' };
  expect((await new Customer(shop).checkOut(fixed)).status).toBe(303);
});

test('a payment that the payment service itself refuses has a new form, and the old one leads to the refused order', async () => {
  const { shop, customer } = await openOrder({}, TOO_MUCH);
  for (let times = 0; times < 3; times += 1) await customer.placeOrder(TOO_MUCH);
  const form = { ...TOO_MUCH, form_id: newFormId() };
  const refused = await customer.checkOut(form);
  expect(refused.status).toBe(422);
  expect(refused.body).toMatch(
    /Your payment was not started<[\s\S]*<li>Example Mobile Money \w+ at most UGX\u00a020,000,000 a day/,
  );
  const [order] = shop.orders.list();
  expect(order?.start.state).toBe('refused');
  expect(await customer.read('/owner/orders')).toContain('not started');
  const { location } = await customer.checkOut(form);
  const page = await customer.read(location);
  expect(page).toContain('The payment was not started');
  expect(page).toContain(`href="${location}/again">Try again</a>`);

  const fixed = { ...hiddenIn(refused.body), quantity: '1', provider: 'example_bank' };
  expect((await customer.checkOut(fixed)).location).toMatch('/sandbox/pay/');
  expect(shop.orders.list()).toHaveLength(6);
});

test('a form that is submitted several times at once places one order and starts one payment, and every response leads to it', async () => {
  const shop = await openShop();
  const customer = new Customer(shop);
  const form = hiddenIn(await customer.read('/checkout?product=coffee'));
  const answers = await Promise.all(Array.from({ length: 5 }, () => customer.checkOut(form)));
  const [order, ...others] = shop.orders.list();
  const reference = order?.reference ?? '';
  expect(others).toEqual([]);
  const ways = answers.map(({ location }) => location).sort();
  expect(ways).toEqual([...Array(4).fill(`/orders/${reference}`), expect.stringMatching('/sandbox/pay/')]);
  for (const { status, headers } of answers) {
    expect([status, headers.get('set-cookie')]).toEqual([303, expect.stringContaining(reference)]);
  }
  const redirect = await customer.decide(ways.at(-1) ?? '', 'pay');
  expect((await customer.get(redirect)).location).toBe(`/orders/${reference}`);
  expect(await shop.stateOf(reference)).toBe('paid');
  expect(await shop.transitions()).toHaveLength(1);
});

test('a form that is submitted again after going back leads to the placed order, paid or not, even without the service', async () => {
  const form = { form_id: newFormId() };
  const { shop, customer, reference } = await openOrder({}, form);
  expect((await customer.checkOut({ ...form, quantity: '3' })).location).toBe(`/orders/${reference}`);
  expect(await customer.orderPage(reference)).toContain('1 × Coffee beans');
  expect((await customer.checkOut({ ...form, quantity: '0' })).location).toBe(`/orders/${reference}`);
  expect(await shop.stateAfter(reference)).toBe('paid');
  await shop.sandbox.close();
  expect((await customer.checkOut(form)).location).toBe(`/orders/${reference}`);
  expect(shop.orders.list()).toHaveLength(1);
});

/** A shop whose start of a payment is answered as the test decides. */
async function openBehind(onStart: Parameters<typeof openServiceProxy>[0]) {
  const service = await openServiceProxy(onStart);
  const shop = await openShop({ baseUrl: service.baseUrl });
  service.leadTo(shop.sandboxOrigin);
  return { service, shop, customer: new Customer(shop) };
}

test('a form that is submitted again while the payment is being started leads to the order, which says so and then links to the payment page', async () => {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  const { service, customer } = await openBehind(() => mayAnswer.then(() => 'answer'));
  const form = { form_id: newFormId() };
  const first = customer.checkOut(form);
  await expect.poll(() => service.started).toHaveLength(1);

  const { location } = await customer.checkOut(form);
  expect(await customer.read(location)).toContain('Your payment is being started');
  answer();
  const [page] = service.started;
  expect((await first).location).toBe(page);
  expect(await customer.read(location)).toContain(`href="${page}">Go to the payment page</a>`);
  expect(service.started).toHaveLength(1);
});

test('a start whose response is lost leads to the order, says that the start is unconfirmed, and shows the payment when it arrives', async () => {
  const { service, shop, customer } = await openBehind(async () => 'lose');
  const { status, location, headers, body } = await customer.checkOut();
  const [order] = shop.orders.list();
  const reference = order?.reference ?? '';
  expect([status, location, body]).toEqual([303, `/orders/${reference}`, '']);
  expect(headers.get('set-cookie')).toContain(`order=${reference}; Path=/orders/${reference}; HttpOnly`);
  const waiting = await customer.read(location);
  expect(waiting).toContain('We do not know yet whether your payment was started');
  expect(waiting).not.toMatch(/Nothing was paid|Try again|Go to the payment page/);
  expect(await customer.read('/owner/orders')).toContain(
    'Start unknown: POST /sandbox/collections: the connection to',
  );
  expect(shop.log.join('\n')).toContain(`${reference}: the payment may have been started`);

  // The payment was started. The cookie makes the redirect count in the ordering browser.
  const [page = ''] = service.started;
  const redirect = await customer.decide(page.replace(service.baseUrl, shop.sandboxOrigin), 'pay');
  expect((await customer.get(redirect)).location).toBe(location);
  expect(await shop.stateOf(reference)).toBe('paid');
  expect(await customer.read(location)).toContain('Paid. Thank you!');
});

test('a start that the shop cannot store still leads to the payment page, and the order becomes paid', async () => {
  const shop = await openShop();
  shop.execute(`create trigger broken before update on shop_order begin select raise(abort, 'Full.'); end`);
  const customer = new Customer(shop);
  const { reference, paymentUrl } = await customer.placeOrder();
  expect(paymentUrl).toMatch(`${shop.sandboxOrigin}/sandbox/pay/`);
  expect(await customer.orderPage(reference)).toContain('Your payment is being started');
  expect(shop.log.join('\n')).toContain(`${reference}: the start of the payment could not be stored`);
  await customer.decide(paymentUrl, 'pay');
  expect(await shop.stateOf(reference)).toBe('paid');
});

test('the checkout sends the browser to the payment page of the configured service and to no other site', async () => {
  const { customer } = await openBehind(async () => 'lead elsewhere');
  expect((await customer.checkOut()).location).toMatch(/^\/orders\/ORD-/);
  expect(await customer.read('/owner/orders')).toContain('data.payment_page_url does not match the schema');
});
