import { type Browser, type Page, startBrowser } from '@payment-service/browser';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrderStore } from '../src/order-store.ts';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { type OpenShop, openShop } from './open-shop.ts';

const OPTIONS: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
const SCREENS = [
  { screen: 'in light', context: { colorScheme: 'light', viewport: { width: 1280, height: 900 } } },
  { screen: 'in dark', context: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } } },
  { screen: 'on a phone in light', context: { colorScheme: 'light', viewport: { width: 390, height: 844 } } },
  { screen: 'on a phone in dark', context: { colorScheme: 'dark', viewport: { width: 390, height: 844 } } },
] as const;

const AREAS = ['the shop', 'an order', 'the owner', 'a transition'] as const;
type Area = (typeof AREAS)[number];

let browser: Browser;
let shop: OpenShop;
let areas: Record<Area, State[]>;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  browser = await startBrowser();
  // Two hours behind: what is ordered is overdue.
  const now = (): number => Date.now() - 2 * 60 * 60 * 1000;
  shop = await openShop({ now, closing: (close) => closing.push(close) });
  areas = await statesOf();
});
afterAll(async () => {
  await browser?.close();
  for (const close of closing.reverse()) await close();
});

/** What axe reports of the page, one line for each element. */
async function violations(page: Page): Promise<string[]> {
  // Evaluated from outside the page, which its content security policy does not concern.
  await page.evaluate(axe.source);
  const found: AxeResults = await page.evaluate(`axe.run(document, ${JSON.stringify(OPTIONS)})`);
  expect(found.passes.length).toBeGreaterThan(5);
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

type Step = (page: Page) => Promise<unknown>;
/** A page and, where it has a state without an address, the way to it. */
type State = readonly [path: string, reach?: Step];

const typed =
  (account: string): Step =>
  async (page) => {
    await page.getByLabel('Phone or account number').fill(account);
    await page.getByRole('status').getByText('is selected: it serves your number.').waitFor();
  };
const sent =
  (button: string): Step =>
  async (page) => {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('alert').waitFor();
  };
const opened: Step = async (page) => {
  for (const summary of await page.locator('summary').all()) await summary.click();
};

const reopenedWithoutNote: Step = async (page) => {
  await page.getByLabel('Note').fill(' ');
  await sent('Reopen')(page);
};

/** Every page and every state of it. */
async function statesOf(): Promise<Record<Area, State[]>> {
  const customer = new Customer(shop);
  const place = async (): Promise<string> => (await customer.placeOrder()).reference;
  const [open, paid, failed, forged, hinted, doubtful, starting, refused, unknown] = [
    await place(),
    await place(),
    await place(),
    await place(),
    await place(),
    await place(),
    await place(),
    await place(),
    await place(),
  ];
  const start = async (reference: string, how: Parameters<OrderStore['start']>[1]): Promise<void> => {
    const order = await shop.orders.find(reference);
    if (order !== undefined) await shop.orders.start(order, how);
  };
  await start(starting, { state: 'starting' });
  await start(refused, { state: 'refused', why: 'No such account.' });
  await start(unknown, { state: 'unknown', why: 'it did not answer in time' });
  await shop.orders.hint(hinted, { status: 'COMPLETED', completed: true });
  await shop.orders.hint(doubtful, { status: 'PENDING', completed: false });
  await shop.sendCallback(genuine(paid, { transaction_amount: 1, extra: { a: 1 } }));
  await shop.sendCallback(genuine(paid));
  await shop.sendCallback(genuine(failed, { transaction_status: 'FAILED', internal_reference: 'INT-2' }));
  await shop.sendCallback(genuine(forged, { transaction_amount: 1, internal_reference: 'INT-3' }));
  for (const amount of [700, 900]) {
    const money = { request_amount: amount, transaction_amount: amount, internal_reference: 'INT-4' };
    await shop.sendCallback(genuine('ORD-LOST', money));
  }
  await shop.sendCallback(genuine(open, { transaction_status: 'PENDING', internal_reference: 'INT-5' }));
  await shop.sendCallback(genuine(open), 'SANDBOX-another-key-of-a-stranger-0000000000');
  await shop.sendCallback(genuine(unknown, { transaction_amount: 1, internal_reference: 'INT-6' }));
  const transitions = await shop.transitions();
  const closed = transitions.find(({ signed }) => signed.merchant_reference === unknown);
  await shop.inbox.resolve(closed?.transitionId ?? '', { by: 'owner', note: 'A customer played with it.' });
  return {
    'the shop': [
      ['/'],
      ['/checkout?product=coffee'],
      ['/checkout?product=coffee', typed('256770000001')],
      ['/checkout?product=tea'],
      ['/checkout?product=sticker'],
      ['/checkout?product=coffee', sent('Pay')],
      [`/orders/${failed}/again`],
      ['/payments/unconfirmed'],
      ['/nothing'],
    ],
    'an order': [open, paid, failed, forged, hinted, doubtful, starting, refused, unknown].map(
      (reference) => [`/orders/${reference}`],
    ),
    'the owner': [
      ['/owner/orders'],
      ['/owner/inbox'],
      ['/owner/inbox?state=quarantined'],
      ['/owner/inbox?reference=ORD-UNKNOWN'],
      ['/owner/wallets'],
    ],
    'a transition': [
      ...transitions.map(({ transitionId }): State => [`/owner/inbox/${transitionId}`, opened]),
      [`/owner/inbox/${closed?.transitionId}`, reopenedWithoutNote],
    ],
  };
}

describe.each(SCREENS)('$screen', ({ context: options }) => {
  const check = async (states: readonly State[], origin: string): Promise<void> => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    for (const [path, reach] of states) {
      await page.goto(origin + path);
      await reach?.(page);
      expect([path, await violations(page)]).toEqual([path, []]);
    }
    await context.close();
  };

  it.each(AREAS)('no page of %s has a violation of WCAG 2.2 AA, in any state', async (area) => {
    expect(areas[area].length).toBeGreaterThan(4);
    await check(areas[area], shop.origin);
  });

  it('no page without content or confirmation has one', async () => {
    const empty = await openShop();
    await check([['/owner/orders'], ['/owner/inbox'], ['/owner/wallets']], empty.origin);
    const late = await openShop({ confirmWithinMs: 0 });
    const { reference } = await new Customer(late).placeOrder();
    await check([[`/orders/${reference}`]], late.origin);
    const away = await openShop({ baseUrl: 'http://127.0.0.1:9' });
    await check([['/'], ['/checkout?product=coffee']], away.origin);
  });

  it('a page that is broken on purpose has violations', async () => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(`${shop.origin}/checkout?product=coffee`);
    await page.evaluate(`
      document.documentElement.removeAttribute('lang');
      document.querySelector('label[for=name]').remove();
      document.querySelector('.item img').removeAttribute('alt');
      document.querySelector('h1').style.color = '#7b756b';
      document.querySelector('.quiet').style.color = '#7b756b';`);
    const found = new Set((await violations(page)).map((line) => line.split(':')[0]));
    expect([...found].sort()).toEqual(['color-contrast', 'html-has-lang', 'image-alt', 'label']);
    await context.close();
  });
});
