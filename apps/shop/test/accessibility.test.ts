import type { Page } from '@payment-service/servers/browser';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { press, useBrowser } from './support/browser.ts';
import { Customer } from './support/customer.ts';
import { type OpenShop, openShop } from './support/open-shop.ts';

const EVERY_RULE = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Each colour scheme and each layout. No rule of the style sheets depends on both, and the markup on neither. */
const SCREENS = [
  {
    screen: 'a wide screen in light',
    context: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
    narrower: [960, 768],
    runOnly: EVERY_RULE,
  },
  {
    screen: 'a phone in dark',
    context: { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
    narrower: [],
    runOnly: ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'],
  },
] as const;

type Step = (page: Page) => Promise<unknown>;
/** A page and, if its state has no address, the steps that lead to it. */
type State = readonly [url: string, reach?: Step];

const open = useBrowser();
let shop: OpenShop;
let states: State[];
beforeAll(async () => {
  const closing = afterAll;
  shop = await openShop({ closing });
  const late = await openShop({ confirmWithinMs: 0, closing });
  const away = await openShop({ baseUrl: 'http://127.0.0.1:9', closing });
  const { reference } = await new Customer(late).placeOrder();
  states = [
    [`${away.origin}/`],
    [`${away.origin}/checkout?product=coffee`],
    [`${away.origin}/owner/orders`],
    [`${late.origin}/orders/${reference}`],
    ...(await statesOf()),
  ];
});

/** What axe reports of the page, one line for each element. */
async function violations(page: Page, options: RunOptions): Promise<string[]> {
  // Evaluated from outside the page, where its content security policy does not apply.
  await page.evaluate(axe.source);
  const found: AxeResults = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  expect(found.passes.length).toBeGreaterThan(0);
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

const typed =
  (account: string): Step =>
  async (page) => {
    await page.getByLabel('Phone or account number').fill(account);
    await page.getByRole('status').getByText('is selected: it serves your number.').waitFor();
  };
const sent =
  (button: string): Step =>
  async (page) => {
    await press(page, button);
    await page.getByRole('alert').waitFor();
  };
/** Every page, and each of its states with different markup. */
async function statesOf(): Promise<State[]> {
  const customer = new Customer(shop);
  const empty: State[] = [[`${shop.origin}/owner/wallets`]];
  const orders: string[] = [];
  for (let number = 0; number < 5; number += 1) orders.push((await customer.placeOrder()).reference);
  const [open = '', paid = '', failed = '', forged = '', unknown = ''] = orders;
  const order = await shop.orders.find(unknown);
  if (order !== undefined) await shop.orders.start(order, { state: 'unknown', why: 'it did not answer' });
  await shop.sendCallback(paid, { transaction_amount: 1 });
  await shop.sendCallback(paid);
  await shop.sendCallback(failed, { transaction_status: 'FAILED', internal_reference: 'INT-2' });
  await shop.sendCallback(forged, { transaction_amount: 1, internal_reference: 'INT-3' });
  await shop.sendCallback(open, {}, 'SANDBOX-another-key-of-a-stranger-0000000000');
  await shop.transitions();
  const own: State[] = [
    ['/'],
    ['/checkout?product=coffee', typed('256770000001')],
    ['/checkout?product=sticker'],
    ['/checkout?product=coffee', sent('Pay')],
    [`/orders/${failed}/again`],
    ['/payments/unconfirmed'],
    ['/nothing'],
    ...orders.map((reference): State => [`/orders/${reference}`]),
    ['/owner/orders'],
  ];
  return [...empty, ...own.map(([path, ...rest]): State => [shop.origin + path, ...rest])];
}

/** Flaws of the layout: wider than the screen, broken words, tables and links without their own name. */
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
  for (const badge of document.querySelectorAll('.state')) {
    if (badge.getClientRects().length > 1) flaws.push('broken: ' + badge.textContent);
  }
  return flaws;
})()`;

test('the check finds every flaw of a deliberately broken page (control)', async () => {
  const page = await open(`${shop.origin}/owner/orders`);
  await page.evaluate(`{
    document.querySelector('caption').remove();
    document.querySelectorAll('tbody a')[0].textContent = 'Look';
    document.querySelectorAll('tbody a')[1].textContent = 'Look';
    document.querySelector('main').append(Object.assign(document.createElement('p'), { id: 'wide', textContent: 'Wide' }));
    document.getElementById('wide').style.width = '2000px';
    const word = Object.assign(document.createElement('b'), { className: 'state', textContent: 'bro ken' });
    word.style = 'display: inline; padding: 0';
    document.querySelector('main').append(Object.assign(document.createElement('p'), { id: 'slim' }));
    document.getElementById('slim').style = 'width: 0; overflow-wrap: normal';
    document.getElementById('slim').append(word);
    word.style.whiteSpace = 'normal';
  }`);
  expect(await page.evaluate(FLAWS)).toEqual([
    'wider than the screen',
    'a table without a name',
    'two links are named Look',
    'broken: bro ken',
  ]);
});

test('a printed page is light and has no navigation', async () => {
  const page = await open(`${shop.origin}/owner/orders`, { colorScheme: 'dark' });
  const navigation = page.getByRole('navigation', { name: 'Pages', exact: true });
  expect(await navigation.isVisible()).toBe(true);
  await page.emulateMedia({ media: 'print' });
  expect(await navigation.isVisible()).toBe(false);
  expect(await page.locator('table').first().isVisible()).toBe(true);
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(36, 31, 26)');
});

// Twenty pages, so the timeout is longer than in other tests.
test.each(SCREENS)(
  'on $screen, no page has a violation of WCAG 2.2 AA or is too wide, and tables and links have names of their own',
  { timeout: 180_000 },
  async ({ context: options, narrower, runOnly }) => {
    const page = await open(undefined, options);
    for (const [url, reach] of states) {
      await page.setViewportSize(options.viewport);
      await page.goto(url);
      await reach?.(page);
      expect([url, await violations(page, { runOnly: [...runOnly] })]).toEqual([url, []]);
      for (const width of [options.viewport.width, ...narrower]) {
        await page.setViewportSize({ ...options.viewport, width });
        expect([url, width, await page.evaluate(FLAWS)]).toEqual([url, width, []]);
      }
    }
  },
);

test('axe finds violations in a deliberately broken page (control)', async () => {
  const page = await open(`${shop.origin}/checkout?product=coffee`, SCREENS[0].context);
  await page.evaluate(`
    document.documentElement.removeAttribute('lang');
    document.querySelector('label[for=name]').remove();
    document.querySelector('.item img').removeAttribute('alt');
    document.querySelector('h1').style.color = '#7b756b';
    document.querySelector('.quiet').style.color = '#7b756b';`);
  const lines = await violations(page, { runOnly: EVERY_RULE });
  const found = ['color-contrast', 'html-has-lang', 'image-alt', 'label'];
  expect([...new Set(lines.map((line) => line.split(':')[0]))].sort()).toEqual(found);
});
