import { type Browser, type Page, startBrowser } from '@payment-service/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { FRAMEWORKS, openShop } from './open-shop.ts';

const PHONE = { width: 360, height: 740 };

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** A tab on a phone, with the errors and warnings of its console and the requests that failed. */
async function openPhone(
  options: { javaScriptEnabled?: boolean } = {},
): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: PHONE, hasTouch: true, isMobile: true, ...options });
  const page = await context.newPage();
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
  return { page, complaints };
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
  const fit = { width: PHONE.width, headings: 1, language: 'en', nameless: [], small: [] };
  expect(await page.evaluate(MEASURE), page.url()).toEqual(fit);
}

describe('on a phone with a screen 360 pixels wide', () => {
  test.each(FRAMEWORKS)('a customer on %s orders from the catalogue and pays', async (framework) => {
    const shop = await openShop({ framework });
    const { page, complaints } = await openPhone();
    await page.goto(shop.origin);
    await expectPhoneFit(page);
    await page.getByRole('link', { name: 'Buy Coffee beans, 500 g' }).tap();
    await page.getByRole('heading', { name: 'Checkout' }).waitFor();
    await expectPhoneFit(page);

    await page.getByLabel('Your name').fill('Example Customer');
    await page.getByLabel('Phone or account number').fill('256790000001');
    await page.getByRole('radio', { name: /Example Mobile Money/ }).check();
    await page.getByRole('button', { name: 'Pay' }).tap();
    await page.getByRole('alert').getByText('supports only accounts that start with 25677, 25678').waitFor();
    await expectPhoneFit(page);
    await page.getByLabel('Phone or account number').fill('256770000001');
    await page.getByRole('button', { name: 'Pay' }).tap();

    await page.waitForURL(/\/sandbox\/pay\//);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await page.getByRole('button', { name: /^Pay/ }).tap();
    await page.waitForURL(`${shop.origin}/orders/*`);
    await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
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
    await page.context().close();
  });

  test.each([true, false])(
    'the order page shows the payment as soon as it is confirmed (scripts: %s)',
    async (javaScriptEnabled) => {
      const shop = await openShop({ sandbox: { misbehave: { late_ms: 3_600_000 } } });
      const { page, complaints } = await openPhone({ javaScriptEnabled });
      await page.goto(`${shop.origin}/checkout?product=basket`);
      await page.getByLabel('Your name').fill('Example Customer');
      await page.getByLabel('Phone or account number').fill('256780000001');
      await page.getByRole('radio', { name: /Example Mobile Money/ }).check();
      await page.getByRole('button', { name: 'Pay' }).tap();
      await page.getByRole('button', { name: /^Pay/ }).tap();
      await page.getByRole('heading', { name: 'Your payment is being confirmed' }).waitFor();
      shop.sandbox.advance(3600);
      await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
      expect(complaints).toEqual([]);
      await page.context().close();
    },
  );

  test('the owner opens the story of a callback from its order, and closes it', async () => {
    const shop = await openShop();
    const { reference } = await new Customer(shop).placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
    await shop.workedOff();
    const { page, complaints } = await openPhone();
    await page.goto(`${shop.origin}/owner/orders`);
    await expectPhoneFit(page);
    await page.getByRole('link', { name: '1 callback' }).tap();
    await page.getByText('Suspicious: the amount differs').waitFor();
    await page.getByRole('link', { name: reference }).tap();
    await page.getByRole('heading', { name: reference }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await page.locator('#resolve').getByLabel('Why').fill('A customer played with it.');
    await page.getByRole('button', { name: 'Resolve' }).tap();
    await page.locator('#said', { hasText: 'Closed.' }).waitFor();
    expect(await shop.transitions()).toMatchObject([{ state: 'resolved' }]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('long names without a space do not widen any page', async () => {
    const long = 'n'.repeat(80);
    const shop = await openShop({
      catalogue: [
        {
          id: 'long',
          name: long,
          description: long,
          price: { currency: 'UGX', amount: '1999999' },
        },
      ],
    });
    const { reference } = await new Customer(shop).placeOrder({ product: 'long', name: long });
    for (const callback of [
      genuine(reference, { internal_reference: long, event: long, transaction_status: long }),
      genuine(long, { transaction_type: long, request_currency: 'U'.repeat(32) }),
    ]) {
      await shop.sendCallback(callback);
    }
    const transitions = await shop.transitions();
    expect(transitions).toHaveLength(2);
    const { page } = await openPhone();
    for (const path of ['/', '/checkout?product=long', `/orders/${reference}`, '/owner/orders', '/nothing']) {
      await page.goto(shop.origin + path);
      await expectPhoneFit(page);
    }
    await page.context().close();
  });
});
