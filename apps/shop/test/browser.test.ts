/** What only a browser shows: touch, keys, a page that changes while it is open, and pages that were left. */
import type { Page } from '@payment-service/servers/browser';
import { describe, expect, test } from 'vitest';
import { fillIn, heading, press, useBrowser } from './support/browser.ts';
import { Customer } from './support/customer.ts';
import { LATE, openOrder, openShop } from './support/open-shop.ts';

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const WITH_AND_WITHOUT_SCRIPTS = [{ javaScriptEnabled: true }, { javaScriptEnabled: false }];

const open = useBrowser();

/** The errors and warnings in the console of a page, and the requests that failed. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => {
    // A page that is left cancels its loads, and the checkout cancels its request when the form changes before the response.
    if (request.failure()?.errorText === 'net::ERR_ABORTED') return;
    complaints.push(`${request.url()} ${request.failure()?.errorText}`);
  });
  return complaints;
}

/** The browser's own view of a page, as an expression that runs there. */
const MEASURE = `({
  width: document.documentElement.scrollWidth,
  headings: document.querySelectorAll('h1').length,
  language: document.documentElement.lang,
  nameless: [...document.querySelectorAll('input:not([type=hidden])')]
    .filter((input) => input.labels.length === 0)
    .map((input) => input.outerHTML),
  small: [...document.querySelectorAll('button, .button, .nav a, .chips a, input:not([type=hidden], [type=radio]), label.choice')]
    .filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < 47.5)
    .map((control) => control.outerHTML),
})`;

/** Nothing is wider than the screen; every control has a label and is high enough for a thumb (48 CSS pixels). */
async function expectPhoneFit(page: Page): Promise<void> {
  const fit = { width: PHONE.viewport.width, headings: 1, language: 'en', nameless: [], small: [] };
  expect(await page.evaluate(MEASURE), page.url()).toEqual(fit);
}

describe('on a phone with a screen 360 pixels wide', () => {
  test('a customer orders from the catalogue and pays, and the owner sees it', async () => {
    const shop = await openShop({ framework: 'koa' });
    const page = await open(shop.origin, PHONE);
    const complaints = complaintsOf(page);
    await expectPhoneFit(page);
    await page.getByRole('link', { name: 'Buy Coffee beans, 500 g' }).tap();
    await heading(page, 'Checkout');
    await expectPhoneFit(page);
    await fillIn(page, '256790000001', /Example Mobile Money/);
    await page.getByRole('button', { name: 'Pay' }).tap();
    await page.getByRole('alert').getByText('supports only accounts that start with 25677, 25678').waitFor();
    await expectPhoneFit(page);
    await fillIn(page, '256770000001');
    await page.getByRole('button', { name: 'Pay' }).tap();

    await page.waitForURL(/\/sandbox\/pay\//);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.viewport.width);
    await page.getByRole('button', { name: /^Pay/ }).tap();
    await page.waitForURL(`${shop.origin}/orders/*`);
    await heading(page, 'Paid. Thank you!');
    expect(page.url()).not.toContain('hmac_signature');
    await expectPhoneFit(page);
    await page.getByRole('link', { name: 'Orders' }).tap();
    await page.locator('.state', { hasText: /^paid$/ }).waitFor();
    await expectPhoneFit(page);
    await page.getByRole('link', { name: 'Wallets' }).tap();
    await page.getByText('UGX, collection wallet').waitFor();
    await expectPhoneFit(page);
    // Chromium reports the refused form's status, 422, as an error.
    expect(complaints.filter((complaint) => !complaint.includes('422'))).toEqual([]);
  });

  test('the owner opens the story of a callback from its order, and closes it', async () => {
    const { shop, reference } = await openOrder();
    await shop.sendCallback(reference, { transaction_amount: 1 });
    await shop.transitions();
    const page = await open(`${shop.origin}/owner/orders`, PHONE);
    const complaints = complaintsOf(page);
    await page.getByRole('link', { name: '1 callback' }).tap();
    await page.getByText('Suspicious: the amount differs').waitFor();
    await page.getByRole('link', { name: reference }).tap();
    await heading(page, reference);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.viewport.width);
    await page.locator('#resolve').getByLabel('Why').fill('A customer played with it.');
    await page.getByRole('button', { name: 'Resolve' }).tap();
    await page.locator('#said', { hasText: 'Closed.' }).waitFor();
    expect(await shop.transitions()).toMatchObject([{ state: 'resolved' }]);
    expect(complaints).toEqual([]);
  });

  test('long names without a space do not widen any page', async () => {
    const long = 'n'.repeat(80);
    const product = { id: 'long', name: long, description: long };
    const catalogue = [{ ...product, price: { currency: 'UGX', amount: '1999999' } }];
    const { shop, reference } = await openOrder({ catalogue }, { product: 'long', name: long });
    await shop.sendCallback(reference, { internal_reference: long, transaction_status: long });
    await shop.sendCallback(long, { transaction_type: long, request_currency: 'U'.repeat(32) });
    expect(await shop.transitions()).toHaveLength(2);
    const page = await open(undefined, PHONE);
    for (const path of ['/', '/checkout?product=long', `/orders/${reference}`, '/owner/orders', '/nothing']) {
      await page.goto(shop.origin + path);
      await expectPhoneFit(page);
    }
  });
});

/** The visible words of the focused control. */
const FOCUSED = `(() => {
  const { id, labels, textContent } = document.activeElement;
  return (labels?.length ? [...labels].map((label) => label.textContent).join(' ') : textContent) || id;
})()`;
/** Whether the focus is visible: by an outline of the page, or by the browser's own on the payment page. */
const IS_VISIBLE = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return outlineStyle === 'auto' || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
})()`;

/** Presses Tab until the control has the focus, and returns the number of presses. Every stop on the way shows the focus. */
async function tabTo(page: Page, control: RegExp): Promise<number> {
  for (let presses = 1; presses <= 30; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = String(await page.evaluate(FOCUSED));
    expect([focused, await page.evaluate(IS_VISIBLE)]).toEqual([focused, true]);
    if (control.test(focused)) return presses;
  }
  throw new Error(`Tab does not lead to ${control} on ${page.url()}.`);
}

test('a customer orders, pays and views the order with the keyboard alone', async () => {
  const shop = await openShop({ framework: 'fastify' });
  const page = await open(shop.origin);
  await page.keyboard.press('Tab');
  expect(await page.evaluate(FOCUSED)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  // Past the header: the first stop is the first product.
  expect(await tabTo(page, /^Buy Coffee beans/)).toBe(1);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/checkout/);

  await tabTo(page, /^Your name/);
  await page.keyboard.type('Ann Example');
  await tabTo(page, /^Phone or account number/);
  await page.keyboard.type('256700000001');
  await page.getByText('Lake Mobile Money is selected: it serves your number.').waitFor();
  // One stop for all providers, at the selected one; the arrow keys choose another.
  expect(await tabTo(page, /Lake Mobile Money/)).toBe(1);
  await page.keyboard.press('ArrowDown');
  expect(await page.evaluate(FOCUSED)).toContain('Example Bank Transfer');
  await page.keyboard.press('ArrowUp');
  await page.waitForLoadState('networkidle');
  expect(await page.evaluate(FOCUSED)).toContain('Lake Mobile Money');
  expect(await tabTo(page, /^Pay$/)).toBe(1);
  await page.keyboard.press('Enter');

  await page.waitForURL(/\/sandbox\/pay\//);
  await tabTo(page, /^\s*Pay/);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${shop.origin}/orders/*`);
  await heading(page, 'Paid. Thank you!');
  expect(await shop.orders.list()).toMatchObject([
    { providerName: 'Lake Mobile Money', customerName: 'Ann Example' },
  ]);
  await tabTo(page, /^Back to the shop/);
});

describe.each(WITH_AND_WITHOUT_SCRIPTS)('with scripts: $javaScriptEnabled,', (scripts) => {
  test('the order page shows the payment as soon as it is confirmed, and the checkout of a customer who goes back says so', async () => {
    const shop = await openShop({ sandbox: LATE });
    const page = await open(`${shop.origin}/checkout?product=coffee`, scripts);
    await fillIn(page, '256780000001', /Example Mobile Money/);
    await press(page, 'Pay');
    await press(page, /^Pay/);
    await heading(page, 'Your payment is being confirmed');
    shop.sandbox.advance(3600);
    await heading(page, 'Paid. Thank you!');
    // Announced to screen readers.
    if (scripts.javaScriptEnabled) await page.locator('#status[role=status]', { hasText: /^Paid/ }).waitFor();
    while (!page.url().includes('/checkout')) await page.goBack();
    await heading(page, 'This order is paid');
    expect(await page.getByRole('button', { name: 'Pay' }).count()).toBe(0);
    await page.getByRole('link', { name: 'See your order' }).click();
    await heading(page, 'Paid. Thank you!');
  });

  test('a customer whose callback is refused is not kept waiting, and can pay again', async () => {
    let ahead = 0;
    const now = (): number => Date.now() + ahead;
    const shop = await openShop({ sandbox: { misbehave: { bad_signature: true } }, now });
    const page = await open(`${shop.origin}/checkout?product=coffee`, scripts);
    const pay = async (): Promise<string> => {
      await press(page, 'Pay');
      await press(page, /^Pay/);
      await heading(page, 'Your payment is being confirmed');
      return page.url();
    };
    await fillIn(page, '256770000001', /Example Mobile Money/);
    const first = await pay();
    // The open page changes without any action of the customer.
    ahead = 120_000;
    await heading(page, 'We have not received a confirmation yet');
    await page.getByRole('link', { name: 'Try again' }).click();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ann Example');
    expect(await pay()).not.toBe(first);
    expect((await shop.orders.list()).map(({ payment }) => payment)).toEqual([undefined, undefined]);
  });
});

test("the owner's orders show a payment as it arrives, without loading the page again, and recover from a lost connection", async () => {
  const shop = await openShop();
  const page = await open(`${shop.origin}/owner/orders`);
  await page.evaluate('globalThis.isSame = true');
  const { reference } = await new Customer(shop).placeOrder();
  await page.getByRole('link', { name: reference }).waitFor();
  await page.locator('.state', { hasText: /^open$/ }).waitFor();
  await page.context().setOffline(true);
  await page.locator('[role=status] #connection', { hasText: 'Connection lost. Trying again…' }).waitFor();
  await shop.sendCallback(reference);
  await page.context().setOffline(false);
  await page.locator('.state', { hasText: /^paid$/ }).waitFor();
  await page.locator('#connection:empty').waitFor({ state: 'attached' });
  expect(await page.evaluate('isSame')).toBe(true);
});
