import { type Browser, startBrowser } from '@payment-service/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { ENGINES, type OpenShop, openShop } from './open-shop.ts';

const LATE = 'We have not received a confirmation yet';
const CONTACT = 'help@shop.example';

/** A shop whose clock the test moves. */
async function shopWithClock(
  options: Parameters<typeof openShop>[0],
): Promise<OpenShop & { wait(ms: number): void }> {
  let ahead = 0;
  const shop = await openShop({
    ...options,
    confirmWithinMs: 60_000,
    contact: CONTACT,
    now: () => Date.now() + ahead,
  });
  return {
    ...shop,
    wait(ms) {
      ahead += ms;
    },
  };
}

type Waiting = (shop: OpenShop, reference: string) => Promise<unknown>;
const setStart =
  (state: 'starting' | 'unknown'): Waiting =>
  async ({ orders }, reference) => {
    const order = await orders.find(reference);
    if (order === undefined) throw new Error('There is no such order.');
    await orders.start(order, state === 'starting' ? { state } : { state, why: 'it did not answer' });
  };
/** Every way to wait, and what the page says about it within the limit. */
const WAITS: readonly (readonly [name: string, prepare: Waiting, heading: string])[] = [
  ['nothing', async () => undefined, 'We are waiting for your payment'],
  ['a response to the start', setStart('starting'), 'Your payment is being started'],
  [
    'a start with an unknown result',
    setStart('unknown'),
    'We do not know yet whether your payment was started',
  ],
  [
    'a redirect that says COMPLETED',
    ({ orders }, reference) => orders.hint(reference, { status: 'COMPLETED', completed: true }),
    'Your payment is being confirmed',
  ],
  [
    'a redirect that says PENDING',
    ({ orders }, reference) => orders.hint(reference, { status: 'PENDING', completed: false }),
    'Your payment does not seem to be complete',
  ],
  [
    'a callback that is refused',
    async (shop, reference) => {
      expect(
        await shop.sendCallback(genuine(reference), 'SANDBOX-another-key-of-a-stranger-0000000000'),
      ).toBe(401);
    },
    'We are waiting for your payment',
  ],
  [
    'a status without a handler',
    (shop, reference) => shop.sendCallback(genuine(reference, { transaction_status: 'PENDING' })),
    'We are waiting for your payment',
  ],
];

describe.each(ENGINES)('an order on $framework and $engine that is not confirmed in time', (stage) => {
  test.each(WAITS)(
    'offers other options after %s, and can still become paid',
    async (_name, prepare, heading) => {
      const shop = await shopWithClock(stage);
      const customer = new Customer(shop);
      const { reference } = await customer.placeOrder();
      await prepare(shop, reference);
      await shop.workedOff();
      const page = async (): Promise<string> => (await customer.orderPage(reference)).body;
      // A control: within the limit it waits, and loads itself again without a script.
      expect(await page()).toContain(`<h2>${heading}</h2>`);
      expect(await page()).toContain('<noscript><meta http-equiv="refresh"');
      expect(await page()).not.toContain(LATE);

      shop.wait(60_000);
      const late = await page();
      expect(late).toContain(`<h2>${LATE}</h2>`);
      expect(late).not.toContain('http-equiv="refresh"');
      for (const way of [
        `/orders/${reference}/again`,
        `mailto:${CONTACT}?subject=Order%20${reference}`,
        '/',
      ]) {
        expect(late).toContain(`href="${way}"`);
      }
      // Another attempt is an order with a reference of its own; the first one can still be paid.
      const again = (await customer.get(`/orders/${reference}/again`)).body;
      const form_id = /name="form_id" value="([0-9a-f]{32})"/.exec(again)?.[1] ?? '';
      const second = await customer.placeOrder({ form_id, instead: reference });
      expect(second.reference).not.toBe(reference);
      await shop.sendCallback(genuine(reference));
      expect([await shop.stateOf(reference), await shop.stateOf(second.reference)]).toEqual(['paid', 'open']);
      expect(await page()).toContain('Paid. Thank you!');
    },
  );

  test('counts the time from the first return of the customer, not from each', async () => {
    const shop = await shopWithClock(stage);
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder();
    const page = async (): Promise<string> => (await customer.orderPage(reference)).body;
    shop.wait(60_000);
    expect(await page()).toContain(LATE);
    await shop.orders.hint(reference, { status: 'COMPLETED', completed: true });
    expect(await page()).not.toContain(LATE);
    shop.wait(59_000);
    await shop.orders.hint(reference, { status: 'COMPLETED', completed: true });
    shop.wait(1000);
    expect(await page()).toContain(LATE);
  });
});

describe('in the browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test.each([true, false])(
    'a customer whose callback is refused is not kept waiting, and can pay again (scripts: %s)',
    async (javaScriptEnabled) => {
      const shop = await shopWithClock({ sandbox: { misbehave: { bad_signature: true } } });
      const context = await browser.newContext({ javaScriptEnabled });
      const page = await context.newPage();
      const pay = async (): Promise<string> => {
        await page.getByRole('button', { name: 'Pay' }).click();
        await page.getByRole('button', { name: /^Pay/ }).click();
        await page.getByRole('heading', { name: 'Your payment is being confirmed' }).waitFor();
        return page.url();
      };
      await page.goto(`${shop.origin}/checkout?product=coffee`);
      await page.getByLabel('Your name').fill('Example Customer');
      await page.getByLabel('Phone or account number').fill('256770000001');
      await page.getByRole('radio', { name: /Example Mobile Money/ }).check();
      const first = await pay();
      // The page that is open changes without the customer's doing.
      shop.wait(60_000);
      await page.getByRole('heading', { name: LATE }).waitFor();
      await page.getByRole('link', { name: 'Try again' }).click();
      expect(await page.getByLabel('Your name').inputValue()).toBe('Example Customer');
      expect(await pay()).not.toBe(first);
      expect((await shop.orders.list()).map(({ payment }) => payment)).toEqual([undefined, undefined]);
      await context.close();
    },
  );
});
