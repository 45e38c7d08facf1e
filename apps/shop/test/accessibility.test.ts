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

const AREAS = ['the shop', 'an order', 'the owner'] as const;
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
      ['/owner/orders?state=failed'],
      ['/owner/orders?reference=ORD-UNKNOWN'],
      ['/owner/wallets'],
    ],
  };
}

/** What a designer would find: wider than the screen, words cut in two, tables and links without a name of their own. */
const FLAWS = `(() => {
  const flaws = [];
  if (document.documentElement.scrollWidth > innerWidth) flaws.push('wider than the screen');
  for (const table of document.querySelectorAll('table')) {
    if (!table.caption && !table.getAttribute('aria-labelledby')) flaws.push('a table without a name');
  }
  const addresses = new Map();
  for (const { textContent, href } of document.querySelectorAll('a')) {
    const name = textContent.replace(/\\s+/g, ' ').trim();
    if ((addresses.get(name) ?? href) !== href) flaws.push('two links are named ' + name);
    addresses.set(name, href);
  }
  for (const badge of document.querySelectorAll('.badge')) {
    if (badge.getClientRects().length > 1) flaws.push('broken: ' + badge.textContent);
  }
  return flaws;
})()`;

describe.each([390, 768, 960])('on a screen %i pixels wide', (width) => {
  it.each(AREAS)('no page of %s is wider, and tables and links have names of their own', async (area) => {
    const context = await browser.newContext({ viewport: { width, height: 800 } });
    const page = await context.newPage();
    for (const [path, reach] of areas[area]) {
      await page.goto(shop.origin + path);
      await reach?.(page);
      expect([path, await page.evaluate(FLAWS)]).toEqual([path, []]);
    }
    await context.close();
  });

  it('a page that is broken on purpose has all of these flaws', async () => {
    const context = await browser.newContext({ viewport: { width, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${shop.origin}/owner/orders`);
    await page.evaluate(`{
      document.querySelector('caption').remove();
      document.querySelectorAll('tbody a')[0].textContent = 'Look';
      document.querySelectorAll('tbody a')[1].textContent = 'Look';
      document.querySelector('main').append(Object.assign(document.createElement('p'), { id: 'wide', textContent: 'Wide' }));
      document.getElementById('wide').style.width = '2000px';
    }`);
    expect(await page.evaluate(FLAWS)).toEqual([
      'wider than the screen',
      'a table without a name',
      'two links are named Look',
    ]);
    await context.close();
  });
});

it.each([
  ['the first field that is wrong', { quantity: '0', name: '' }, 'quantity'],
  ['the name', { name: '' }, 'name'],
  ['the account', { account: '' }, 'account'],
  ['the first provider', { provider: '' }, 'provider'],
  ['what no provider can take', { quantity: '999' }, ''],
])('a form that is refused puts the focus on %s, without scripts', async (_what, wrong, focused) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${shop.origin}/checkout?product=lamp`);
  const form = { quantity: '1', name: 'Ann', account: '1', provider: 'example_card_ugx', ...wrong };
  await page.getByLabel('How many').fill(form.quantity);
  await page.getByLabel('Your name').fill(form.name);
  await page.getByLabel('Phone or account number').fill(form.account);
  if (form.provider !== '') await page.getByRole('radio', { name: /Example Card/ }).check();
  expect(await page.title()).toMatch(/^Buy/);
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.title()).toMatch(/^Error: Buy/);
  const selector = focused === '' ? '[role=alert]' : `[name=${focused}]`;
  await page.locator(`${selector}:focus`).waitFor();
  await context.close();
});

it('a printed page is light and has no navigation, forms or buttons', async () => {
  const context = await browser.newContext({ colorScheme: 'dark' });
  const page = await context.newPage();
  await page.goto(`${shop.origin}/owner/orders`);
  const navigation = page.getByRole('navigation', { name: 'Main' });
  expect(await navigation.isVisible()).toBe(true);
  await page.emulateMedia({ media: 'print' });
  expect(await navigation.isVisible()).toBe(false);
  expect(await page.getByRole('search').isVisible()).toBe(false);
  expect(await page.locator('table').first().isVisible()).toBe(true);
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(36, 31, 26)');
  await context.close();
});

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
    expect(areas[area].length).toBeGreaterThan(3);
    await check(areas[area], shop.origin);
  });

  it('no page without content or confirmation has one', async () => {
    const empty = await openShop();
    await check([['/owner/orders'], ['/owner/wallets']], empty.origin);
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
