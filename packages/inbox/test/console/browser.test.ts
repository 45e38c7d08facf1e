import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type Page, startBrowser } from '@payment-service/servers/browser';
import { examplesOf } from '@payment-service/servers/examples';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { addresses } from '../../src/console/addresses.ts';
import { inboxConsole, nodeListener } from '../../src/console/index.ts';
import { paid } from '../support/callbacks.ts';
import { BASE, EVERYTHING, listen, newConsoleShop, pageOf } from '../support/console.ts';
import { layoutFaults } from '../support/layout.ts';
import { actOn, DAY_MS, money } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const require = createRequire(import.meta.url);
const AXE = { path: require.resolve('axe-core/axe.min.js') };
const EVERY_RULE = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const OF_LAYOUT = ['target-size', 'scrollable-region-focusable', 'link-in-text-block'];
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];
/** Each state of a page is checked in all of these, after one load. Only colours depend on the scheme, and not on the width. */
const VIEWS = [
  ['light', 1280, { runOnly: EVERY_RULE }],
  ['dark', 1280, { runOnly: OF_COLOURS }],
  // On a tablet, the rules are those of both; the width may not be.
  ['light', 800, undefined],
  // The document is the same: only what depends on the layout can differ.
  ['light', 390, { runOnly: OF_LAYOUT }],
] as const;

/** What axe (WCAG 2.2 AA) says about the open page, and whether it is too wide. */
async function complaints(page: Page, views: readonly (typeof VIEWS)[number][] = VIEWS): Promise<string[]> {
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true;");
  const all: string[] = [];
  for (const [colorScheme, width, options] of views) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    const found: unknown =
      options &&
      (await page.evaluate(`axe.run({ ...${JSON.stringify(options)}, resultTypes: ['violations'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`));
    const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    all.push(...[found ?? []].flat().map(String), ...(isTooWide ? [`wider than ${width} pixels`] : []));
  }
  return all;
}

/** On a busy machine, axe takes seconds for a page. */
const SLOW = { timeout: 300_000 };

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** A console with one example of everything that an operator meets, and a browser page. */
async function open(view: Parameters<Browser['newContext']>[0] = {}) {
  const shop = await newConsoleShop('NONE');
  const { inbox, pay } = shop;
  for (const reference of ['OK', 'DEAD-1', 'WRONG', 'LOST']) await inbox.expect(money(reference));
  await inbox.expect({ ...money('LATE'), deadline: new Date(0) });
  for (const reference of ['OK', 'DEAD-1', 'KEYS']) await pay(reference);
  await inbox.route.onCallback(paid('WRONG', 70));
  await pay('WRONG', 80, { customer_name: 'Another' });
  await pay('FAILED', 500, { transaction_status: 'FAILED' });
  const authorize = () => ({ by: 'dana', may: EVERYTHING });
  const listener = nodeListener(inboxConsole(inbox, { basePath: BASE, authorize }));
  const origin = await listen((incoming, outgoing) => void listener(incoming, outgoing));
  const context = await browser.newContext(view);
  onTestFinished(() => context.close());
  await context.addInitScript(AXE);
  return { ...shop, page: await context.newPage(), url: origin + BASE };
}

const NONE = pageOf('NONE');
const A_FILE = { none: 'a file' };
const PATHS = examplesOf('The console', addresses, {
  '/': '/',
  '/payments': ['/payments', '/payments?reason=amount_mismatch', '/payments?search=none'],
  '/payments.csv': A_FILE,
  '/payment': ['/payment', '/payment?reference=none', pageOf('WRONG'), NONE, pageOf('OK'), pageOf('DEAD-1')],
  '/acts': '/acts?act=retry&reason=attempts_used_up',
  '/money': '/money',
  '/reconcile': ['/reconcile', '/reconcile?from=2020-01-01&to=2099-01-01&before=0&after=0'],
});

test(
  'axe finds nothing on any page of the console, in light, in dark and on a phone of 390 pixels, and none is too wide',
  SLOW,
  async () => {
    const { url, page } = await open();
    for (const path of [...PATHS.map(([path]) => path), '/x']) {
      await page.goto(url + path);
      expect(await complaints(page), path).toEqual([]);
    }
    await page.goto(url + NONE);
    await unfold(page, 'retry');
    await page.locator('#retry').getByRole('button').click();
    await page.getByText('Say why, in at most 1000 characters.').waitFor();
    expect(await complaints(page)).toEqual([]);
  },
);

/** A statement is uploaded, compared and confirmed, and the comparison stays open. */
async function reconcile(desk: Awaited<ReturnType<typeof open>>, hasScript: boolean): Promise<void> {
  const { url, inbox, pay, show, page } = desk;
  await page.goto(`${url}/reconcile`);
  const fields = {
    ...{ merchant_reference: 'Reference', internal_reference: 'Id', transaction_status: 'State' },
    ...{ transaction_type: '=COLLECTION', currency: '=UGX', amount: '=500' },
    ...{ from: '2020-01-01', to: '2099-01-01' },
  };
  const file = { name: 'statement.csv', mimeType: 'text/csv' };
  const buffer = Buffer.from('Id,Reference,State\nINT-LOST,LOST,COMPLETED\n');
  await page.locator('#statement-file').setInputFiles({ ...file, buffer });
  for (const [name, value] of Object.entries(fields)) await page.locator(`#statement-${name}`).fill(value);
  await page.getByRole('button', { name: 'Compare the statement' }).click();
  await page.getByText('1 payment (UGX 500) would be settled by this file.').waitFor();
  await pay('NEWER', 9);
  expect(await page.locator('#result').count()).toBe(1);
  if (hasScript) expect(await complaints(page)).toEqual([]);
  await page.getByLabel('LOST: UGX 500, line 2').check();
  await page.locator('#statement-note').fill('January');
  await page.getByRole('button', { name: 'Settle the chosen payments' }).click();
  await page.getByText('1 payment (UGX 500) was settled by this file.').waitFor();
  await workOff(inbox);
  expect(await show('LOST')).toMatchObject({ state: 'settled' });
}

/** Opens the form of an act, unless it is the usual one, which is open. */
async function unfold(page: Page, name: string): Promise<void> {
  const act = page.locator(`#act-${name}`);
  if ((await act.getAttribute('open')) === null) await act.locator('> summary').click();
}

/** Closes the report of the payment whose page is open. */
async function close(page: Page): Promise<void> {
  await unfold(page, 'close');
  await page.locator('#close').getByLabel('Why').fill('Not ours.');
  await page.locator('#close').getByRole('button').click();
  await page.locator('#said', { hasText: 'Closed: nothing is credited' }).waitFor();
}

test('without script, an operator answers “I have paid” in two clicks, closes what it shows, and settles by a statement', async () => {
  const desk = await open({ javaScriptEnabled: false });
  const { url, show, page } = desk;
  await page.goto(url);
  await page.getByPlaceholder('Reference of the order or of the service').fill('NONE');
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByText('We are checking your payment. Please do not pay again.').waitFor();
  await close(page);
  expect(await show('NONE')).toMatchObject({ state: 'resolved' });
  await reconcile(desk, false);
});

test('the first screen says what yesterday brought and what waits, and a partial amount is accepted with three clicks', async () => {
  const { url, page, show, inbox, merchant } = await open({ javaScriptEnabled: false });
  await merchant.advance(DAY_MS);
  let clicks = 0;
  const click = async (on: ReturnType<Page['locator']>): Promise<void> => {
    clicks += 1;
    await on.click();
  };
  await page.goto(url);
  await page.locator('#yesterday', { hasText: 'UGX 500' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 900 });
  for (const id of ['today', 'yesterday', 'counts', 'paid-reference']) {
    const { y = 900, height = 900 } = (await page.locator(`#${id}`).boundingBox()) ?? {};
    expect(y + height, id).toBeLessThan(900);
  }
  await click(page.getByRole('link', { name: 'WRONG' }).first());
  await page.locator('#accept').getByLabel('Which').selectOption({ index: 2 });
  await click(page.locator('#accept').getByLabel('Why'));
  await page.keyboard.type('The service says so.');
  await click(page.locator('#accept').getByRole('button'));
  expect(clicks).toBe(3);
  await page.getByText('Accepted: UGX 80. Nothing was credited yet.').waitFor();
  await workOff(inbox);
  expect(await show('WRONG')).toMatchObject({ state: 'settled' });
});

test('with script, an open page follows what happens, keeps what is typed, nothing complains, and the keyboard is enough', async () => {
  const desk = await open();
  const { url, inbox, pay, show, page } = desk;
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  await page.goto(url);
  await inbox.expect(money('NEW'));
  await pay('NEW', 9);
  await page.getByRole('link', { name: 'NEW' }).waitFor();
  await page.goto(url + NONE);
  await unfold(page, 'retry');
  await page.locator('#retry').getByLabel('Why').fill('typed');
  await close(page);
  await page.locator('#story', { hasText: 'Report closed by dana' }).waitFor();
  expect(said).toEqual([]);
  await page.goto(url + pageOf('KEYS'));
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  const press = async (selector: string): Promise<void> => {
    const isReached = () => page.evaluate(`document.activeElement.matches('${selector}')`);
    for (let presses = 0; presses < 60 && !(await isReached()); presses += 1)
      await page.keyboard.press('Tab');
    expect(await isReached(), selector).toBe(true);
  };
  await press('#act-close > summary');
  await page.keyboard.press('Enter');
  await press('#close-note');
  await page.keyboard.type('Not ours.');
  await page.keyboard.press('Enter');
  await page.locator('#said', { hasText: 'Closed: nothing is credited' }).waitFor();
  expect(await show('KEYS')).toMatchObject({ state: 'resolved' });
  // What the reader has begun to fill in belongs to the state that they saw, also after the page has shown another one.
  await pay('STALE', 9);
  await page.goto(url + pageOf('STALE'));
  for (const name of ['close', 'accept']) await unfold(page, name);
  await page.locator('#close').getByLabel('Why').fill('Not ours.');
  await page.locator('#accept').getByLabel('Why').fill('All of it.');
  await inbox.route.onCallback(paid('STALE', 10));
  await actOn(inbox, 'STALE', 'retry');
  await page.locator('#story', { hasText: 'Retried by dana' }).waitFor();
  // With a second amount, none is chosen for the reader any more.
  await page.locator('#accept-act').selectOption({ index: 1 });
  for (const form of ['#accept', '#close']) {
    await page.locator(form).getByRole('button').click();
    await page.locator('#said', { hasText: 'has changed since it was read' }).waitFor();
    expect(await show('STALE')).toMatchObject({ state: 'pending' });
  }
  await page.locator('#close').getByRole('button').click();
  await page.locator('#said', { hasText: 'Closed: nothing is credited' }).waitFor();
  await reconcile(desk, true);
});

// As a bank writes it: lines in front, signs in words, a word that nobody knows, a total.
const EXPORT = [
  'Statement of account,12345,,,,',
  ',,,,,',
  'Receipt No.,Order,Details,Status,Amount,DR/CR',
  'INT-OK,OK,goods,Completed,500.00,CR',
  'INT-LOST,LOST,goods,Completed,500.00,CR',
  'INT-FEE,FEE-1,bank charges,Completed,"1,200.00",DR',
  'INT-ODD,ODD,goods,Completed,7.00,XX',
  ',,Total,,"1,000.00",',
].join('\r\n');

test.each([1280, 390])(
  'at %d pixels, a statement is uploaded, its columns are stated, it is compared, settled and downloaded, and no box covers another',
  SLOW,
  async (width) => {
    const { url, inbox, show, page } = await open({ viewport: { width, height: 844 } });
    const views = VIEWS.filter(([, one]) => one === width);
    const press = (name: string) => page.getByRole('button', { name }).click();
    const look = async (): Promise<void> => {
      expect(await complaints(page, views)).toEqual([]);
      expect(await layoutFaults(page)).toEqual([]);
    };
    const fill = async (fields: Record<string, string>): Promise<void> => {
      for (const [name, value] of Object.entries(fields))
        await page.locator(`#statement-${name}`).fill(value);
    };
    await page.goto(`${url}/reconcile`);
    await look();
    // Control: a box that is moved up covers another.
    await page.evaluate("document.querySelector('#statement-to').style.marginTop = '-6rem'");
    expect(await layoutFaults(page)).not.toEqual([]);
    await page.reload();
    await fill({ from: '2020-01-01', to: '2099-01-01' });
    const buffer = Buffer.from(EXPORT);
    const file = { name: 'statement.csv', mimeType: 'text/csv', buffer };
    await page.locator('#statement-file').setInputFiles(file);
    await press('Compare the statement');
    await page.getByText('Which column is which?').waitFor();
    expect(await page.locator('#statement-merchant_reference').inputValue()).toBe('Order');
    await look();
    await fill({ transaction_type: '=COLLECTION', currency: '=UGX', paid: 'Completed' });
    await page.locator('#statement-decimal').selectOption('point');
    await press('Compare the statement');
    const asked =
      'Words for the direction that have no known meaning: XX (1). Say below whether each is in or out.';
    await page.getByText(asked).waitFor();
    await look();
    await fill({ in: 'XX' });
    await press('Compare the statement');
    await page.getByText('The file has UGX 1,007 in, UGX 1,200 out.').waitFor();
    await look();
    await page.getByLabel('LOST: UGX 500, line 5').check();
    await fill({ note: 'January' });
    await press('Settle the chosen payments');
    await page.getByText('1 payment (UGX 500) was settled by this file.').waitFor();
    await look();
    await workOff(inbox);
    const downloading = page.waitForEvent('download');
    await press('Download the verdict of each line');
    const verdicts = await readFile(await (await downloading).path(), 'utf8');
    expect(verdicts.split('\r\n').map((line) => line.split(',').slice(0, 3).join(' '))).toEqual([
      'line is verdict',
      ...['1 not_a_payment heading', '2 not_a_payment heading', '3 not_a_payment heading'],
      ...['4 payment settled', '5 payment settled', '6 not_a_payment charge'],
      ...['7 payment not_expected', '8 not_a_payment total', ''],
    ]);
    expect(await show('LOST')).toMatchObject({ state: 'settled' });
  },
);
