import { type Browser, type Page, startBrowser } from '@payment-service/servers/browser';
import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inboxConsole, nodeListener } from '../../src/console/index.ts';
import { paid } from '../support/callbacks.ts';
import { BASE, EVERYTHING, listen, newConsoleShopWithNone, pageOf } from '../support/console.ts';
import { money } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const RUN = `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`;

/** axe's complaints about the open page, in words. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(RUN);
  return Array.isArray(found) ? found.map(String) : [String(found)];
}

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** A console with one example of everything that an operator meets, and a browser page. */
async function open(view: Parameters<Browser['newContext']>[0] = {}) {
  const shop = await newConsoleShopWithNone();
  const { inbox, pay } = shop;
  for (const reference of ['OK', 'DEAD-1', 'WRONG']) await inbox.expect(money(reference));
  await inbox.expect({ ...money('LATE'), deadline: new Date(0) });
  for (const reference of ['OK', 'DEAD-1']) await pay(reference);
  await inbox.receive(paid('WRONG', 7));
  await pay('WRONG', 8, { customer_name: 'Another' });
  await pay('FAILED', 500, { transaction_status: 'FAILED' });
  const authorize = () => ({ by: 'dana', may: EVERYTHING });
  const listener = nodeListener(inboxConsole(inbox, { basePath: BASE, authorize }));
  const origin = await listen((incoming, outgoing) => void listener(incoming, outgoing));
  const context = await browser.newContext(view);
  onTestFinished(() => context.close());
  return { ...shop, page: await context.newPage(), url: origin + BASE };
}

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const NONE = pageOf('NONE');

const LISTS = ['', '?state=quarantined', '?reference=none'].map((query) => `/transitions${query}`);
const PAID = ['', '?reference=OK', '?reference=DEAD-1'].map((query) => `/paid${query}`);
const RECONCILE = ['', '?from=2020-01-01&to=2099-01-01&before=0&after=0'].map(
  (query) => `/reconcile${query}`,
);
const OTHERS = ['', '/overdue', '/bulk?action=retry&state=dead', '/x', pageOf('WRONG'), NONE];
const PATHS = [...OTHERS, ...LISTS, ...PAID, ...RECONCILE];

describe.each([
  ['in light', { colorScheme: 'light' }],
  ['in dark', { colorScheme: 'dark' }],
  ['on a phone of 390 pixels', PHONE],
] as const)('axe (WCAG 2.2 AA) %s', (_name, view) => {
  test('finds nothing on any page of the console, none of which is too wide', async () => {
    const { url, page } = await open(view);
    for (const path of PATHS) {
      await page.goto(url + path);
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true;");
      expect(await violations(page), path).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), path).toBe(true);
    }
    await page.goto(url + NONE);
    await page.locator('#retry').getByRole('button').click();
    await page.getByText('Say why, in at most 1000 characters.').waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

test('without script, an operator answers “I have paid” in two clicks, and closes what it shows', async () => {
  const { url, show, page } = await open({ javaScriptEnabled: false });
  await page.goto(url);
  await page.getByPlaceholder('Reference of the order or of the service').fill('NONE');
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByText('it was not applied to any order').waitFor();
  await page.getByRole('link', { name: 'The whole story' }).click();
  await page.locator('#resolve').getByLabel('Why').fill('Not ours.');
  await page.locator('#resolve').getByRole('button').click();
  await page.locator('#said', { hasText: 'Closed.' }).waitFor();
  expect(await show('NONE')).toMatchObject({ state: 'resolved' });
});

test('with script, an open page follows what happens, keeps what is typed, and nothing complains', async () => {
  const { url, inbox, pay, page } = await open();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  await inbox.expect(money('NEW'));
  await pay('NEW', 9);
  await page.getByRole('link', { name: 'NEW' }).waitFor();
  await page.goto(url + NONE);
  await page.locator('#retry').getByLabel('Why').fill('typed');
  await page.locator('#resolve').getByLabel('Why').fill('Not ours.');
  await page.locator('#resolve').getByRole('button').click();
  await page.locator('#said', { hasText: 'Closed.' }).waitFor();
  await page.locator('.head .state', { hasText: 'resolved' }).waitFor();
  expect(complaints).toEqual([]);
});

test.each([true, false])(
  'a statement is uploaded, compared and confirmed, and the comparison stays open (scripts: %s)',
  async (javaScriptEnabled) => {
    const { url, inbox, pay, show, page } = await open({ javaScriptEnabled });
    await inbox.expect(money('LOST'));
    await page.goto(`${url}/reconcile`);
    const fields = {
      ...{ merchant_reference: 'Reference', internal_reference: 'Id', transaction_status: 'State' },
      ...{ transaction_type: '=COLLECTION', currency: '=UGX', amount: '=500' },
      ...{ from: '2020-01-01', to: '2099-01-01', note: 'January' },
    };
    const file = { name: 'statement.csv', mimeType: 'text/csv' };
    const buffer = Buffer.from('Id,Reference,State\nINT-LOST,LOST,COMPLETED\n');
    await page.locator('#statement-file').setInputFiles({ ...file, buffer });
    for (const [name, value] of Object.entries(fields)) await page.locator(`#statement-${name}`).fill(value);
    await page.getByRole('button', { name: 'Compare the statement' }).click();
    await page.getByText('1 row; 1 would be settled by their rows.').waitFor();
    await pay('NEW', 9);
    expect(await page.locator('#result').count()).toBe(1);
    if (javaScriptEnabled) expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Settle 1 payment' }).click();
    await page.getByText('1 row; 1 settled by their rows.').waitFor();
    await workOff(inbox);
    expect(await show('LOST')).toMatchObject({ state: 'settled' });
  },
);

test('with the keyboard alone, an operator reaches what needs one and acts on it', async () => {
  const { url, show, page } = await open();
  await page.goto(url + NONE);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  const reach = async (selector: string): Promise<void> => {
    for (let presses = 0; presses < 60; presses += 1) {
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`The keyboard does not reach ${selector}.`);
  };
  await reach('#resolve-note');
  await page.keyboard.type('Not ours.');
  await page.keyboard.press('Enter');
  await page.locator('#said', { hasText: 'Closed.' }).waitFor();
  expect(await show('NONE')).toMatchObject({ state: 'resolved' });
});
