/** What only a browser shows: touch, keys, a page that changes while it is open, and pages that were left. */
import type { Page } from '@payment-service/servers/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillIn, heading, press, useBrowser } from './support/browser.ts';
import { Customer } from './support/customer.ts';
import { LATE, type OpenShop, openShop } from './support/open-shop.ts';

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

const open = useBrowser();
let ahead = 0;
let shop: OpenShop;
let late: OpenShop;
beforeAll(async () => {
  shop = await openShop({ framework: 'fastify', now: () => Date.now() + ahead, closing: afterAll });
  late = await openShop({ framework: 'koa', sandbox: LATE, closing: afterAll });
});

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

const tap = (page: Page, role: 'link' | 'button', name: string | RegExp): Promise<void> =>
  page.getByRole(role, { name }).first().tap();

// That every page of the shop fits a phone is in accessibility.test.ts.
test('on a phone, a customer orders and pays, and the owner sees it, and closes the story of a forged callback', async () => {
  const page = await open(shop.origin, PHONE);
  const complaints = complaintsOf(page);
  const expectFit = async (): Promise<void> =>
    expect(await page.evaluate('document.documentElement.scrollWidth'), page.url()).toBe(
      PHONE.viewport.width,
    );
  await tap(page, 'link', 'Buy Coffee beans, 500 g');
  await heading(page, 'Checkout');
  await fillIn(page, '256790000001', /Example Mobile Money/);
  await tap(page, 'button', 'Pay');
  await page.getByRole('alert').getByText('supports only accounts that start with 25677, 25678').waitFor();
  await fillIn(page, '256770000001');
  await tap(page, 'button', 'Pay');
  await page.waitForURL(/\/sandbox\/pay\//);
  await expectFit();
  await tap(page, 'button', /^Pay/);
  await page.waitForURL(`${shop.origin}/orders/*`);
  await heading(page, 'Paid. Thank you!');
  expect(page.url()).not.toContain('hmac_signature');
  await tap(page, 'link', 'Orders');
  await page.locator('.state', { hasText: /^paid$/ }).waitFor();
  await page.getByText('UGX, collection wallet').waitFor();

  const { reference } = await new Customer(shop).placeOrder();
  await shop.sendCallback(reference, { transaction_amount: 1, internal_reference: 'INT-F' });
  await tap(page, 'link', `1 callback of ${reference}`);
  await page.getByText('Suspicious: the amount differs').waitFor();
  await tap(page, 'link', reference);
  await heading(page, reference);
  await expectFit();
  await page.locator('#resolve').getByLabel('Why').fill('A customer played with it.');
  await tap(page, 'button', 'Resolve');
  await page.locator('#said', { hasText: 'Closed.' }).waitFor();
  expect((await shop.transitions())[0]).toMatchObject({ state: 'resolved' });
  // Chromium reports the refused form's status, 422, as an error.
  expect(complaints.filter((complaint) => !complaint.includes('422'))).toEqual([]);
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
  const answer = page.waitForResponse(/\/checkout\/providers$/);
  await page.keyboard.press('ArrowUp');
  await answer;
  expect(await page.evaluate(FOCUSED)).toContain('Lake Mobile Money');
  expect(await tabTo(page, /^Pay$/)).toBe(1);
  await page.keyboard.press('Enter');

  await page.waitForURL(/\/sandbox\/pay\//);
  await tabTo(page, /^\s*Pay/);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${shop.origin}/orders/*`);
  await heading(page, 'Paid. Thank you!');
  const ordered = { providerName: 'Lake Mobile Money', customerName: 'Ann Example' };
  expect(shop.orders.list()[0]).toMatchObject(ordered);
  await tabTo(page, /^Back to the shop/);
});

test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  'with scripts: $javaScriptEnabled, the order page shows the payment as soon as it is confirmed, and the checkout of a customer who goes back says so',
  async (scripts) => {
    const page = await open(`${late.origin}/checkout?product=coffee`, scripts);
    await fillIn(page, '256780000001', /Example Mobile Money/);
    await press(page, 'Pay');
    await press(page, /^Pay/);
    await heading(page, 'Your payment is being confirmed');
    late.sandbox.advance(3600);
    await heading(page, 'Paid. Thank you!');
    // Announced to screen readers.
    if (scripts.javaScriptEnabled) await page.locator('#status[role=status]', { hasText: /^Paid/ }).waitFor();
    while (!page.url().includes('/checkout')) await page.goBack();
    await heading(page, 'This order is paid');
    expect(await page.getByRole('button', { name: 'Pay' }).count()).toBe(0);
    await page.getByRole('link', { name: 'See your order' }).click();
    await heading(page, 'Paid. Thank you!');
  },
);

test('open pages change without any action: the order says in time that no confirmation arrived, and the owner’s page recovers from a lost connection', async () => {
  const { reference } = await new Customer(shop).placeOrder();
  const page = await open(`${shop.origin}/orders/${reference}`);
  await heading(page, 'We are waiting for your payment');
  await page.evaluate('globalThis.isSame = true');
  ahead = 120_000;
  await heading(page, 'We have not received a confirmation yet');
  expect(await page.evaluate('isSame')).toBe(true);

  await page.goto(`${shop.origin}/owner/orders`);
  await page.evaluate('globalThis.isSame = true');
  const { reference: next } = await new Customer(shop).placeOrder();
  const row = page.locator('tr', { hasText: next });
  await row.locator('.state', { hasText: /^open$/ }).waitFor();
  await page.context().setOffline(true);
  await page.locator('[role=status] #connection', { hasText: 'Connection lost. Trying again…' }).waitFor();
  await shop.sendCallback(next, { internal_reference: 'INT-N' });
  await page.context().setOffline(false);
  await row.locator('.state', { hasText: /^paid$/ }).waitFor();
  await page.locator('#connection:empty').waitFor({ state: 'attached' });
  expect(await page.evaluate('isSame')).toBe(true);
});
