import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type Page, startBrowser } from '@payment-service/browser';
import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inboxConsole, nodeListener } from '../../src/console/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { BASE, EVERYTHING, newConsoleShop } from '../support/console.ts';
import { money, type Shop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const RUN = `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`;

/** axe's complaints about the page that is open, in words. */
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

interface Served extends Shop {
  readonly url: string;
}

/** A console with one of each of what a person meets. */
async function serve(): Promise<Served> {
  const shop = await newConsoleShop();
  const { inbox, pay } = shop;
  for (const reference of ['OK', 'DEAD-1', 'WRONG']) await inbox.expect(money(reference));
  await inbox.expect({ ...money('LATE'), deadline: new Date(0) });
  for (const reference of ['OK', 'DEAD-1', 'NONE']) await pay(reference);
  await inbox.receive(paid('WRONG', 7));
  await inbox.receive(paid('WRONG', 8, { customer_name: 'Another' }));
  await inbox.receive(callback({ merchant_reference: 'FAILED', transaction_status: 'FAILED' }));
  await workOff(inbox);
  const listener = nodeListener(
    inboxConsole(inbox, { basePath: BASE, authorize: () => ({ by: 'dana', may: EVERYTHING }) }),
  );
  const server: Server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...shop, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}` };
}

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const WRONG = `/transitions/${paid('WRONG', 7).transitionId}`;
const NONE = `/transitions/${paid('NONE', 500).transitionId}`;

describe.each([
  ['in light', { colorScheme: 'light' }],
  ['in dark', { colorScheme: 'dark' }],
  ['on a phone of 390 pixels', PHONE],
] as const)('axe (WCAG 2.2 AA) %s', (_name, view) => {
  test('finds nothing on any page of the console, none of which is too wide', async () => {
    const { url } = await serve();
    const page = await (await browser.newContext(view)).newPage();
    const paths = [
      '',
      '/transitions',
      '/transitions?state=quarantined',
      '/transitions?reference=none',
      WRONG,
      NONE,
    ];
    const more = [
      '/paid',
      '/paid?reference=OK',
      '/paid?reference=DEAD-1',
      '/overdue',
      '/bulk?action=retry&state=dead',
      '/reconcile',
      '/reconcile?from=2020-01-01&to=2099-01-01&before=0&after=0',
      '/x',
    ];
    for (const path of [...paths, ...more]) {
      await page.goto(url + path);
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true;");
      expect(await violations(page), path).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), path).toBe(true);
    }
    await page.goto(url + NONE);
    await page.locator('#retry').getByRole('button').click();
    await page.getByText('Say why, in at most 1000 characters.').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});

test('without script, a person answers “I have paid” in two clicks, and closes what it shows', async () => {
  const { url, inbox } = await serve();
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(url);
  await page.getByPlaceholder('Reference of the order or of the service').fill('NONE');
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByText('it was not applied to any order').waitFor();
  await page.getByRole('link', { name: 'The whole story' }).click();
  await page.locator('#resolve').getByLabel('Why').fill('Not ours.');
  await page.locator('#resolve').getByRole('button').click();
  await page.locator('#said', { hasText: 'Closed.' }).waitFor();
  expect(await inbox.show(paid('NONE', 500).transitionId)).toMatchObject({ state: 'resolved' });
  await page.context().close();
});

test('with script, an open page follows what happens, keeps what is typed, and nothing complains', async () => {
  const { url, inbox, pay } = await serve();
  const page = await (await browser.newContext()).newPage();
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
  await page.context().close();
});

test.each([true, false])(
  'a statement is uploaded, compared and confirmed, and the comparison stays open (scripts: %s)',
  async (javaScriptEnabled) => {
    const { url, inbox, pay } = await serve();
    await inbox.expect(money('LOST'));
    const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
    await page.goto(`${url}/reconcile`);
    const columns = {
      merchant_reference: 'Reference',
      internal_reference: 'Id',
      transaction_status: 'State',
    };
    const fixed = { transaction_type: '=COLLECTION', currency: '=UGX', amount: '=500' };
    const period = { from: '2020-01-01', to: '2099-01-01' };
    const file = { name: 'statement.csv', mimeType: 'text/csv' };
    const buffer = Buffer.from('Id,Reference,State\nINT-LOST,LOST,COMPLETED\n');
    await page.locator('#statement-file').setInputFiles({ ...file, buffer });
    for (const [name, value] of Object.entries({ ...columns, ...fixed, ...period, note: 'January' }))
      await page.locator(`#statement-${name}`).fill(value);
    await page.getByRole('button', { name: 'Compare the statement' }).click();
    await page.getByText('1 row; 1 would be settled by their rows.').waitFor();
    await pay('NEW', 9);
    expect(await page.locator('#result').count()).toBe(1);
    if (javaScriptEnabled) expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Settle 1 payment' }).click();
    await page.getByText('1 row; 1 settled by their rows.').waitFor();
    await workOff(inbox);
    expect(await inbox.show(paid('LOST', 500).transitionId)).toMatchObject({ state: 'settled' });
    await page.context().close();
  },
);

test('with the keyboard alone, a person reaches what needs one and acts on it', async () => {
  const { url, inbox } = await serve();
  const page = await (await browser.newContext()).newPage();
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
  expect(await inbox.show(paid('NONE', 500).transitionId)).toMatchObject({ state: 'resolved' });
  await page.context().close();
});
