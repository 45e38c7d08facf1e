import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { formatMoney, multiply, sums } from '../src/books/order.ts';
import { newFormId } from '../src/books/orders.ts';
import { Customer, hiddenIn } from './support/customer.ts';
import { type OpenShop, openShop } from './support/open-shop.ts';

const QUANTITY = ['id="quantity-problem">Enter a quantity from 1 to 999.', '<a href="#quantity">'];
const ACCOUNT = [/id="account-problem">[^<]*Enter the phone number that you pay from/];
const PROVIDER = ['id="provider-problem">Choose how you want to pay.', '<a href="#provider">'];

let shop: OpenShop;
beforeAll(async () => {
  shop = await openShop({ closing: afterAll });
});

test.each<[form: Record<string, string>, shown: (string | RegExp)[]]>([
  [{ product: 'sticker' }, ['<li>Example Mobile Money accepts at least UGX\u00a0500 per transaction.</li>']],
  [{ product: 'lamp', quantity: '999' }, ['accepts at most UGX\u00a050,000,000 per transaction.']],
  [
    { product: 'tea', provider: 'savanna_mobile_money' },
    [
      'No provider can accept KES\u00a0450 from this account.',
      'accounts that start with 25470, 25471, 25472.',
    ],
  ],
  [{ quantity: '0', name: '' }, QUANTITY],
  [{ quantity: '1.5' }, QUANTITY],
  [{ name: '  ' }, [/id="name-problem">[^<]*Enter your name/]],
  [{ name: 'n'.repeat(81) }, ['at most 80 characters']],
  [{ account: '+' }, ACCOUNT],
  [{ account: '2'.repeat(35) }, ACCOUNT],
  [{ provider: '' }, PROVIDER],
  [{ provider: 'an_unknown_provider' }, PROVIDER],
  [{ form_id: 'F'.repeat(32) }, ['Nothing was ordered', /name="form_id" value="[0-9a-f]{32}"/]],
  [
    { account: '256700000001', name: 'Ann <3' },
    [
      /These can accept UGX\u00a018,000 from this account: Lake Mobile Money, Example Bank Transfer, /,
      'value="256700000001"',
      'value="Ann &lt;3"',
    ],
  ],
])('a checkout with %o is refused with the reason, and orders nothing', async (form, shown) => {
  const { status, body } = await new Customer(shop).checkOut(form);
  expect([status, shop.orders.list()]).toEqual([422, []]);
  for (const one of ['role="alert" tabindex="-1" autofocus', '<title>Error: Buy', ...shown])
    expect(body).toMatch(one);
  expect(body.match(/ autofocus/g)).toHaveLength(1);
});

test('a payment that the service itself refuses has a new form, and the old one leads to the refused order', async () => {
  const own = await openShop();
  const customer = new Customer(own);
  const much = { product: 'lamp', quantity: '41' };
  for (let times = 0; times < 4; times += 1) await customer.placeOrder(much);
  const form = { ...much, form_id: newFormId() };
  const refused = await customer.checkOut(form);
  expect(refused.body).toMatch(/Your payment was not started<[\s\S]*at most UGX\u00a020,000,000 a day/);
  expect(own.orders.list()[0]?.start.state).toBe('refused');
  expect(await customer.read('/owner/orders')).toContain('Not started');
  const { location } = await customer.checkOut(form);
  expect(await customer.read(location)).toContain(`href="${location}/again">Try again</a>`);
  const fixed = { ...hiddenIn(refused.body), quantity: '1', provider: 'example_bank' };
  expect((await customer.checkOut(fixed)).location).toMatch('/sandbox/pay/');
});

test('a phone number is sent as the digits that the service takes, however the customer typed it', async () => {
  const customer = new Customer(await openShop());
  for (const account of ['+256 770 000 001', '0770 000-001', '\u202a00256.770.000.001\u202c']) {
    const { paymentUrl } = await customer.placeOrder({ account });
    expect(await customer.read(paymentUrl), account).toContain('<dd>256770000001</dd>');
  }
});

test('a form that is submitted several times places one order and starts one payment, and every response leads to it', async () => {
  const own = await openShop();
  const customer = new Customer(own);
  const form = hiddenIn(await customer.read('/checkout?product=coffee'));
  const answers = await Promise.all(Array.from({ length: 5 }, () => customer.checkOut(form)));
  const [order, ...others] = own.orders.list();
  const reference = order?.reference ?? '';
  expect(others).toEqual([]);
  const ways = answers.map(({ location }) => location).sort();
  expect(ways).toEqual([...Array(4).fill(`/orders/${reference}`), expect.stringMatching('/sandbox/pay/')]);
  await customer.decide(ways.at(-1) ?? '', 'pay');
  expect(await own.stateOf(reference)).toBe('paid');
  expect(await own.transitions()).toHaveLength(1);
  // Later too, with other words, and without the service.
  await own.sandbox.close();
  expect((await customer.checkOut({ ...form, quantity: '3' })).location).toBe(`/orders/${reference}`);
});

test('a start whose response is lost leads to the order, says that the start is unconfirmed, and shows the payment when it arrives', async () => {
  let page = '';
  const losing = createServer(async (asked, response) => {
    const { host: _, connection: __, ...headers } = asked.headers as Record<string, string>;
    const body = asked.method === 'POST' ? await text(asked) : null;
    const answer = await fetch(own.sandboxOrigin + asked.url, { method: asked.method ?? '', headers, body });
    const content = await answer.text();
    page = /"payment_page_url":\s*"([^"]+)"/.exec(content)?.[1] ?? '';
    if (page === '') response.writeHead(answer.status, { 'content-type': 'application/json' }).end(content);
    else asked.socket.destroy();
  });
  onTestFinished(() => void losing.close());
  await new Promise<void>((resolve) => losing.listen(0, '127.0.0.1', resolve));
  const own = await openShop({ baseUrl: `http://127.0.0.1:${(losing.address() as AddressInfo).port}` });
  const customer = new Customer(own);
  const { location } = await customer.checkOut();
  const [order] = own.orders.list();
  expect(location).toBe(`/orders/${order?.reference}`);
  const waiting = await customer.read(location);
  expect(waiting).toContain('We do not know yet whether your payment was started');
  expect(waiting).not.toMatch(/Nothing was paid|Try again|Go to the payment page/);
  expect(own.log.join('\n')).toContain('the payment may have been started');
  expect((await customer.get(await customer.decide(page, 'pay'))).location).toBe(location);
  expect(await own.stateOf(order?.reference ?? '')).toBe('paid');
});

test('a start that the shop cannot store still leads to the payment page, and the order becomes paid', async () => {
  const own = await openShop();
  own.execute(`create trigger broken before update on shop_order begin select raise(abort, 'Full.'); end`);
  const customer = new Customer(own);
  const { reference, paymentUrl } = await customer.placeOrder();
  expect(own.log.join('\n')).toContain(`${reference}: the start of the payment could not be stored`);
  await customer.decide(paymentUrl, 'pay');
  expect(await own.stateOf(reference)).toBe('paid');
});

const CARD = { product: 'cookbook', provider: 'example_card_usd', account: '' };

test.each([
  ['example_mobile_money', {}, 'Phone number', 'for example 256770000001'],
  ['example_bank', {}, 'Bank account number', 'Never a card number.'],
  ['example_card_usd', CARD, undefined, 'You enter the card on the next page, not here.'],
] as const)(
  'after the choice of %s, the form has its words, and the total beside Pay',
  async (provider, own, label, hint) => {
    const customer = new Customer(shop);
    const chosen = { product: 'coffee', quantity: '2', provider, step: 'choose', ...own };
    const { status, body } = await customer.post('/checkout', chosen);
    expect([status, body]).toEqual([200, expect.stringContaining(hint)]);
    expect(/<label for="account">([^<]*)/.exec(body)?.[1]).toBe(label);
    expect(body).toContain(
      `Pay ${provider === 'example_card_usd' ? 'USD\u00a025.00' : 'UGX\u00a036,000'}</button>`,
    );
    expect(shop.orders.list()).toEqual([]);
  },
);

test('the first step asks for a quantity and a provider only, and keeps what was typed when the customer changes them', async () => {
  const customer = new Customer(shop);
  const typed = {
    product: 'coffee',
    quantity: '2',
    name: 'Ann',
    account: '+256 770',
    provider: 'example_bank',
  };
  const { status, body } = await customer.post('/checkout', { ...typed, step: 'change' });
  expect(status).toBe(200);
  expect(hiddenIn(body)).toMatchObject({ name: 'Ann', account: '+256 770' });
  expect(body).toContain('value="example_bank" checked');
  expect(body).not.toContain('<label for="account">');
  for (const wrong of [{ quantity: '0' }, { provider: '' }, { provider: 'example_card_usd' }]) {
    const refused = await customer.post('/checkout', { ...typed, ...wrong, step: 'choose' });
    expect([refused.status, refused.body]).toEqual([422, expect.stringContaining('>Continue</button>')]);
  }
});

test('an order by card is placed and paid without an account, and its pages name none', async () => {
  const own = await openShop();
  const customer = new Customer(own);
  const { reference, paymentUrl } = await customer.placeOrder(CARD);
  await customer.decide(paymentUrl, 'pay');
  expect(await own.stateOf(reference)).toBe('paid');
  for (const path of [`/orders/${reference}`, `/orders/${reference}/receipt`])
    expect(await customer.read(path)).toContain('<dt>Paid with</dt><dd>Example Card (USD)</dd>');
});

test('amounts are added exactly, in each currency', () => {
  const amounts = [
    { currency: 'USD', amount: '12.50' },
    { currency: 'UGX', amount: '9007199254740993' },
    { currency: 'USD', amount: '0.005' },
    { currency: 'UGX', amount: '1' },
  ];
  expect(sums(amounts)).toEqual([
    { currency: 'USD', amount: '12.505' },
    { currency: 'UGX', amount: '9007199254740994' },
  ]);
  expect(sums([])).toEqual([]);
});

test('money is multiplied exactly, and shown with the decimals and separators of its currency', () => {
  for (const [amount, quantity, product] of [
    ['12.50', 3, '37.50'],
    ['9007199254740993', 3, '27021597764222979'],
  ] as const) {
    expect(multiply({ currency: 'USD', amount }, quantity)).toEqual({ currency: 'USD', amount: product });
  }
  expect(formatMoney({ currency: 'USD', amount: '1234567.50' })).toBe('USD\u00a01,234,567.50');
  expect(formatMoney({ currency: 'UGX', amount: 52_380 })).toBe('UGX\u00a052,380');
});
