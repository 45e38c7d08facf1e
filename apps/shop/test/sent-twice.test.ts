import { describe, expect, test } from 'vitest';
import { newFormId } from '../src/books/order-store.ts';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import type { Engine } from './new-keeping.ts';
import { openShop, STAGES } from './open-shop.ts';
import { openServiceProxy } from './service-proxy.ts';

/** The hidden fields of the form that the customer sees. */
function hiddenIn(page: string): Record<string, string> {
  const fields = page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name, value]));
}

describe.each(STAGES)('a checkout form that is submitted twice on $framework and $engine', (stage) => {
  test('at the same time places one order and starts one payment, and both responses lead to it', async () => {
    const shop = await openShop(stage);
    const customer = new Customer(shop);
    const form = hiddenIn((await customer.get('/checkout?product=coffee')).body);
    const answers = await Promise.all(Array.from({ length: 5 }, () => customer.checkOut(form)));
    const [order, ...others] = await shop.orders.list();
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

  test('while the payment is being started leads to the order, which says so and then links to the payment page', async () => {
    let answer: () => void = () => undefined;
    const mayAnswer = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const service = await openServiceProxy(() => mayAnswer.then(() => 'answer'));
    const shop = await openShop({ ...stage, baseUrl: service.baseUrl });
    service.leadTo(shop.sandboxOrigin);
    const customer = new Customer(shop);
    const form = { form_id: newFormId() };
    const first = customer.checkOut(form);
    await expect.poll(() => service.started).toHaveLength(1);

    const { location } = await customer.checkOut(form);
    expect((await customer.get(location)).body).toContain('Your payment is being started');
    answer();
    const [page] = service.started;
    expect((await first).location).toBe(page);
    expect((await customer.get(location)).body).toContain(`href="${page}">Go to the payment page</a>`);
    expect(service.started).toHaveLength(1);
  });

  test('after going back leads to the placed order, paid or not, even without the service', async () => {
    const shop = await openShop(stage);
    const customer = new Customer(shop);
    const form = { form_id: newFormId() };
    const { reference } = await customer.placeOrder(form);
    expect((await customer.checkOut({ ...form, quantity: '3' })).location).toBe(`/orders/${reference}`);
    expect((await customer.orderPage(reference)).body).toContain('1 × Coffee beans');
    expect((await customer.checkOut({ ...form, quantity: '0' })).location).toBe(`/orders/${reference}`);
    await shop.sendCallback(genuine(reference));
    expect(await shop.stateOf(reference)).toBe('paid');
    await shop.sandbox.close();
    expect((await customer.checkOut(form)).location).toBe(`/orders/${reference}`);
    expect(await shop.orders.list()).toHaveLength(1);
  });

  test('after a refusal has a new form, and the old one leads to the refused order', async () => {
    const shop = await openShop(stage);
    const customer = new Customer(shop);
    const tooMuch = { product: 'lamp', quantity: '41' };
    for (let times = 0; times < 4; times += 1) await customer.placeOrder(tooMuch);
    const form = { ...tooMuch, form_id: newFormId() };
    const refused = await customer.checkOut(form);
    expect([refused.status, refused.body]).toEqual([422, expect.stringContaining('refused this payment')]);
    const { location } = await customer.checkOut(form);
    const page = (await customer.get(location)).body;
    expect(page).toContain('The payment was not started');
    expect(page).toContain(`href="${location}/again">Try again</a>`);

    const fixed = await customer.checkOut({
      ...hiddenIn(refused.body),
      quantity: '1',
      provider: 'example_bank',
    });
    expect([fixed.status, fixed.location]).toEqual([303, expect.stringMatching('/sandbox/pay/')]);
    expect(await shop.orders.list()).toHaveLength(6);
  });

  test('without an id that the shop issued orders nothing, and a new form is returned', async () => {
    const shop = await openShop(stage);
    const customer = new Customer(shop);
    for (const formId of ['', 'f'.repeat(31), `${'f'.repeat(31)}'`, 'F'.repeat(32)]) {
      const { status, body } = await customer.checkOut({ form_id: formId });
      expect([formId, status]).toEqual([formId, 422]);
      expect(body).toContain('Nothing was ordered');
      expect(hiddenIn(body)['form_id']).toMatch(/^[0-9a-f]{32}$/);
    }
    expect(await shop.orders.list()).toEqual([]);
  });
});

describe.each<Engine>(['sqlite', 'postgres'])('the orders on %s', (engine) => {
  test('keep the first order of a form and the expectation of its payment when several are added at the same time', async () => {
    const shop = await openShop({ engine, now: () => Date.now() - 2 * 60 * 60 * 1000 });
    const { reference } = await new Customer(shop).placeOrder();
    const order = await shop.orders.find(reference);
    if (order === undefined) throw new Error('The order is gone.');
    const formId = newFormId();
    const added = await Promise.all(
      ['ORD-A', 'ORD-B', 'ORD-C'].map((other) => shop.orders.add({ ...order, reference: other }, formId)),
    );
    const [kept = ''] = added;
    expect(added).toEqual([kept, kept, kept]);
    expect(await shop.orders.placedWith(formId)).toBe(kept);
    const references = [kept, reference].sort();
    expect((await shop.orders.list()).map((one) => one.reference).sort()).toEqual(references);
    const expected = await shop.inbox.overdue();
    expect(expected.map(({ merchant_reference }) => merchant_reference).sort()).toEqual(references);
  });
});

test('two forms of one customer are two orders', async () => {
  const shop = await openShop();
  const customer = new Customer(shop);
  for (let times = 0; times < 2; times += 1) {
    const { body } = await customer.get('/checkout?product=coffee');
    await customer.placeOrder(hiddenIn(body));
  }
  expect(await shop.orders.list()).toHaveLength(2);
});
