/** What only a browser shows: touch, scripts, a page that changes while it is open, and what the looks of a page hide. */
import { type Browser, type Page, startBrowser } from '@payment-service/servers/browser';
import { examplesOf } from '@payment-service/servers/examples';
import axe, { type AxeResults } from 'axe-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { catalogue } from '../src/checkout/catalogue.ts';
import { Customer } from './support/customer.ts';
import { type OpenShop, openShop } from './support/open-shop.ts';

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
/** What depends on colours and on the layout. */
const BY_LOOK = `{ runOnly: ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'] }`;
const LONG = 'n'.repeat(80);

let browser: Browser;
let ahead = 0;
let shop: OpenShop;
beforeAll(async () => {
  browser = await startBrowser();
  const price = { currency: 'UGX', amount: '1999999' };
  const products = [...catalogue, { id: 'long', name: LONG, description: LONG, price }];
  shop = await openShop({ closing: afterAll, now: () => Date.now() + ahead, catalogue: products });
  return () => browser.close();
});

/** A separate page, closed when the test has finished. */
async function open(url: string, options?: Parameters<Browser['newContext']>[0]): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  // In every document, where the content security policy does not apply to it.
  await page.addInitScript({ content: axe.source });
  await page.goto(url);
  return page;
}

const heading = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name }).waitFor();
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first();

async function fillIn(page: Page, account: string): Promise<void> {
  await page.getByLabel('Your name').fill('Ann Example');
  await page.getByLabel('Phone number').fill(account);
}

test('on a phone, a customer orders and pays, and the owner sees it, and closes the story of a forged callback', async () => {
  const page = await open(shop.origin, PHONE);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.getByRole('link', { name: 'Buy Coffee beans, 500 g' }).tap();
  await page.getByRole('radio', { name: /Example Mobile Money/ }).check();
  await button(page, 'Continue').tap();
  await fillIn(page, '256700000001');
  await button(page, /^Pay UGX.18,000$/).tap();
  await page.getByRole('alert').getByText('supports only accounts that start with 25677, 25678').waitFor();
  await fillIn(page, '256770000001');
  await button(page, /^Pay UGX.18,000$/).tap();
  await page.waitForURL(/\/sandbox\/pay\//);
  await button(page, /^Pay/).tap();
  await heading(page, 'Paid. Thank you!');
  expect(page.url()).not.toContain('hmac_signature');
  await page.getByRole('link', { name: 'Receipt' }).tap();
  await page.emulateMedia({ media: 'print' });
  await page.getByText('Hillside Market', { exact: true }).last().waitFor();
  expect(await page.locator('nav, .actions, footer a').filter({ visible: true }).count()).toBe(0);
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('link', { name: 'For its owner' }).tap();
  await page.locator('.state', { hasText: /^Paid$/ }).waitFor();

  const { reference } = await new Customer(shop).placeOrder();
  await shop.sendCallback(reference, { transaction_amount: 1, internal_reference: 'INT-F' });
  await page.getByRole('link', { name: `1 callback of ${reference}` }).tap();
  await page.locator('#act-close > summary').tap();
  await page.locator('#close').getByLabel('Why').fill('A customer played with it.');
  await button(page, 'Close').tap();
  await page.locator('#said', { hasText: 'Closed' }).waitFor();
  expect((await shop.transitions())[0]).toMatchObject({ state: 'resolved' });
  expect(complaints).toEqual([]);
});

test('a form without a choice is returned with the reason, and leads to a payment, without scripts', async () => {
  const page = await open(`${shop.origin}/checkout?product=coffee`, { javaScriptEnabled: false });
  await page.getByLabel('How many').fill('2');
  await button(page, 'Continue').click();
  const alert = page.getByRole('alert');
  await alert.getByText('Choose how you want to pay.').waitFor();
  await page.getByText('Lake Mobile Money').click();
  await button(page, 'Continue').click();
  await fillIn(page, '256700000001');
  await button(page, 'Change').click();
  await page.getByRole('radio', { name: /Lake Mobile Money/, checked: true }).waitFor();
  await button(page, 'Continue').click();
  expect(await page.getByLabel('Phone number').inputValue()).toBe('256700000001');
  await button(page, /^Pay UGX.36,000$/).click();
  await page.waitForURL(/\/sandbox\/pay\//);
  await button(page, /^Pay/).click();
  await heading(page, 'Paid. Thank you!');
});

test('open pages change without any action: the order says in time that no confirmation arrived, and the owner’s page recovers from a lost connection', async () => {
  const { reference } = await new Customer(shop).placeOrder();
  const page = await open(`${shop.origin}/orders/${reference}`);
  await heading(page, 'We are waiting for your payment');
  await page.evaluate('globalThis.isSame = true');
  ahead = 120_000;
  await heading(page, 'We have not received a confirmation yet');
  expect(await page.evaluate('isSame')).toBe(true);

  await page.goto(`${shop.origin}/owner/orders`);
  const row = page.locator('tr', { hasText: reference });
  await row.locator('.state', { hasText: /^Open$/ }).waitFor();
  await page.context().setOffline(true);
  await page.locator('[role=status] #connection', { hasText: 'Connection lost. Trying again…' }).waitFor();
  await shop.sendCallback(reference, { internal_reference: 'INT-N' });
  await page.context().setOffline(false);
  await row.locator('.state', { hasText: /^Paid$/ }).waitFor();
});

/** What axe reports of the page, and whether it is wider than the screen. */
async function flawsOf(page: Page, rules = '{}'): Promise<string[]> {
  const found: AxeResults = await page.evaluate(`axe.run(document, ${rules})`);
  expect(found.passes.length).toBeGreaterThan(0);
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  const lines = found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  return isWide ? ['wider than the screen', ...lines] : lines;
}

test('no page has a violation of WCAG 2.2 AA or is wider than the screen, light and wide, dark and narrow', {
  timeout: 120_000,
}, async () => {
  const away = await openShop({ baseUrl: 'http://127.0.0.1:9' });
  const customer = new Customer(shop);
  const orders: string[] = [];
  for (const payload of [{}, { transaction_status: 'FAILED' }, { transaction_amount: 1 }, undefined]) {
    const { reference } = await customer.placeOrder({ product: 'long', name: LONG });
    const amounts = { request_amount: 1_999_999, transaction_amount: 1_999_999 };
    const internal_reference = `${orders.length}${LONG}`;
    if (payload) await shop.sendCallback(reference, { ...amounts, internal_reference, ...payload });
    orders.push(`/orders/${reference}`);
  }
  await shop.transitions();
  const page = await open(`${away.origin}/`);
  const paths = examplesOf('The shop', shop.addresses, {
    '/': '/',
    '/checkout': ['/checkout?product=long', '/checkout?product=sticker'],
    '/orders/:reference': orders,
    '/orders/:reference/again': `${orders[1]}/again`,
    '/orders/:reference/receipt': `${orders[0]}/receipt`,
    '/owner/orders': '/owner/orders',
    '/owner/reconcile': { none: 'leads to the console' },
    '/healthz': { none: 'is for programs' },
    // The last one is not requested again, which would remove what the control plants.
    '/payments/unconfirmed': '/payments/unconfirmed',
  });
  const expectNoFlaw = async (url: string): Promise<void> => {
    for (const [colorScheme, width, rules] of [['light', 1280] as const, ['dark', 360, BY_LOOK] as const]) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      expect([url, width, await flawsOf(page, rules)]).toEqual([url, width, []]);
    }
  };
  await page.goto(`${shop.origin}/checkout?product=long`);
  await page.getByRole('radio', { name: /Example Bank/ }).check();
  await button(page, 'Continue').click();
  await page.getByLabel('Bank account number').waitFor();
  await expectNoFlaw('the second step');
  await button(page, /^Pay/).click();
  await page.getByRole('alert').waitFor();
  await expectNoFlaw('the second step, refused');
  for (const url of [away.origin, ...paths.map(([path]) => shop.origin + path)]) {
    await page.goto(url);
    await expectNoFlaw(url);
  }
  // A control: flaws are found.
  await page.emulateMedia({ colorScheme: 'light' });
  await page.evaluate(`{
    document.querySelector('main').insertAdjacentHTML('beforeend', '<img src="/x.svg"><p>Wide</p>');
    document.querySelector('main > p:last-child').style.minWidth = '2000px';
    document.documentElement.removeAttribute('lang');
    document.querySelector('h1').style.color = '#cccccc';
  }`);
  const found = (await flawsOf(page)).map((line) => line.split(':')[0]);
  const planted = ['wider than the screen', 'color-contrast', 'html-has-lang', 'image-alt'];
  expect(found).toEqual(expect.arrayContaining(planted));
});
