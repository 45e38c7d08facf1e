import type { Page } from '@payment-service/servers/browser';
import axe, { type AxeResults } from 'axe-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { catalogue } from '../src/checkout/catalogue.ts';
import { press, useBrowser } from './support/browser.ts';
import { Customer } from './support/customer.ts';
import { type OpenShop, openShop } from './support/open-shop.ts';

const EVERY_RULE = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What depends on colours and on the layout. */
const BY_LOOK = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'];
/**
 * How each loaded page is looked at: each colour scheme and each layout. No rule of the style sheets depends on both, and the
 * markup on neither.
 */
const LOOKS = [
  { colorScheme: 'light', width: 1280, rules: EVERY_RULE },
  { colorScheme: 'light', width: 960, rules: [] },
  { colorScheme: 'light', width: 768, rules: [] },
  { colorScheme: 'dark', width: 360, rules: BY_LOOK },
] as const;

type Step = (page: Page) => Promise<unknown>;
/** A page and, if its state has no address, the step that leads to it. */
type State = readonly [url: string, reach?: Step];

const LONG = 'n'.repeat(80);
const open = useBrowser();
let shop: OpenShop;
let states: State[];
beforeAll(async () => {
  const closing = afterAll;
  let ahead = 0;
  const now = (): number => Date.now() + ahead;
  const product = {
    id: 'long',
    name: LONG,
    description: LONG,
    price: { currency: 'UGX', amount: '1999999' },
  };
  shop = await openShop({ closing, catalogue: [...catalogue, product] });
  const late = await openShop({ closing, now });
  const away = await openShop({ closing, baseUrl: 'http://127.0.0.1:9' });
  const { reference } = await new Customer(late).placeOrder();
  ahead = 120_000;
  states = [[`${away.origin}/`], [`${away.origin}/owner/orders`], [`${late.origin}/orders/${reference}`]];
  states.push(...(await statesOf()));
});

const typed: Step = async (page) => {
  await page.getByLabel('Phone or account number').fill('256770000001');
  await page.getByRole('status').getByText('is selected: it serves your number.').waitFor();
};
const sent: Step = async (page) => {
  await press(page, 'Pay');
  await page.getByRole('alert').waitFor();
};

/** Every page, and each of its states with different markup. Names are as long as possible, without a space. */
async function statesOf(): Promise<State[]> {
  const customer = new Customer(shop);
  const orders: string[] = [];
  for (let number = 0; number < 4; number += 1) {
    orders.push((await customer.placeOrder({ product: 'long', name: LONG })).reference);
  }
  const [open = '', paid = '', failed = '', forged = ''] = orders;
  const amounts = { request_amount: 1_999_999, transaction_amount: 1_999_999 };
  await shop.sendCallback(paid, { transaction_amount: 1 });
  await shop.sendCallback(paid, amounts);
  await shop.sendCallback(failed, { ...amounts, transaction_status: 'FAILED', internal_reference: 'INT-2' });
  await shop.sendCallback(forged, { transaction_amount: 1, internal_reference: LONG });
  await shop.sendCallback(open, { internal_reference: LONG, transaction_status: LONG });
  expect(await shop.transitions()).toHaveLength(4);
  const own: State[] = [
    ['/'],
    ['/checkout?product=long', typed],
    ['/checkout?product=sticker'],
    ['/checkout?product=long', sent],
    ['/payments/unconfirmed'],
    ...orders.map((reference): State => [`/orders/${reference}`]),
    ['/owner/orders'],
  ];
  return own.map(([path, ...rest]): State => [shop.origin + path, ...rest]);
}

/** What axe reports of the page, one line for each element. */
async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
  const found: AxeResults = await page.evaluate(`axe.run(document, ${JSON.stringify({ runOnly })})`);
  expect(found.passes.length).toBeGreaterThan(0);
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** A page with axe in every document, where the content security policy does not apply to it. */
async function openWithAxe(): Promise<Page> {
  const page = await open();
  await page.addInitScript({ content: axe.source });
  return page;
}

/**
 * Flaws of the layout: wider than the screen, broken words, controls too low for a thumb (48 CSS pixels), tables and links without
 * their own name.
 */
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
  const controls = 'button, .button, .nav a, input:not([type=hidden], [type=radio]), label.choice';
  for (const control of document.querySelectorAll(controls)) {
    if (control.checkVisibility() && control.getBoundingClientRect().height < 47.5) flaws.push('low: ' + control.outerHTML);
  }
  return flaws;
})()`;

test('a printed page is light without navigation; and on a deliberately broken page, the checks find every flaw (control)', async () => {
  const page = await openWithAxe();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${shop.origin}/owner/orders`);
  const navigation = page.getByRole('navigation', { name: 'Pages', exact: true });
  expect(await navigation.isVisible()).toBe(true);
  await page.emulateMedia({ media: 'print' });
  expect(await navigation.isVisible()).toBe(false);
  expect(await page.locator('table').first().isVisible()).toBe(true);
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(36, 31, 26)');

  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  await page.evaluate(`{
    const add = (name, style, ...inside) => {
      const element = Object.assign(document.createElement(name), { style });
      element.append(...inside);
      document.querySelector('main').append(element);
      return element;
    };
    document.querySelector('caption').remove();
    for (const link of [...document.querySelectorAll('tbody a')].slice(0, 2)) link.textContent = 'Look';
    add('p', 'width: 2000px', 'Wide');
    const word = add('b', 'display: inline; padding: 0; white-space: normal', 'bro ken');
    word.className = 'state';
    add('p', 'width: 0; overflow-wrap: normal', word);
    add('button', 'min-height: 0; height: 40px', 'Low');
    document.documentElement.removeAttribute('lang');
    document.querySelector('img').removeAttribute('alt');
    add('input', 'min-height: 50px');
    document.querySelector('h1').style.color = '#7b756b';
    document.querySelector('.quiet').style.color = '#7b756b';
  }`);
  const [wide, table, link, broken, low] = (await page.evaluate(FLAWS)) as string[];
  expect([wide, table, link]).toEqual([
    'wider than the screen',
    'a table without a name',
    'two links are named Look',
  ]);
  expect([broken, low]).toEqual(['broken: bro ken', expect.stringContaining('Low')]);
  const found = (await violations(page, EVERY_RULE)).map((line) => line.split(':')[0]);
  expect(found).toEqual(expect.arrayContaining(['color-contrast', 'html-has-lang', 'image-alt', 'label']));
});

// Thirteen pages, so the timeout is longer than in other tests.
test('no page has a violation of WCAG 2.2 AA or a flaw of the layout, light and dark, wide and narrow', {
  timeout: 180_000,
}, async () => {
  const page = await openWithAxe();
  for (const [url, reach] of states) {
    for (const { colorScheme, width, rules } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      if (rules === EVERY_RULE) {
        await page.goto(url);
        await reach?.(page);
      }
      if (rules.length > 0) expect([url, width, await violations(page, rules)]).toEqual([url, width, []]);
      expect([url, width, await page.evaluate(FLAWS)]).toEqual([url, width, []]);
    }
  }
});
