import { type Browser, type Page, startBrowser } from '@payment-service/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { openShop } from './open-shop.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

async function openPage(url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.evaluate('globalThis.isSame = true');
  return page;
}

describe('pages of the shop that update automatically', () => {
  test("the owner's orders show a payment as it arrives, without loading the page again", async () => {
    const shop = await openShop();
    const page = await openPage(`${shop.origin}/owner/orders`);
    const { reference } = await new Customer(shop).placeOrder();
    await page.getByRole('link', { name: reference }).waitFor();
    await page.locator('.state', { hasText: /^open$/ }).waitFor();
    await shop.sendCallback(genuine(reference));
    await page.locator('.state', { hasText: /^paid$/ }).waitFor();
    expect(await page.evaluate('isSame')).toBe(true);
    await page.close();
  });

  test('an order that becomes paid is announced to screen readers', async () => {
    const shop = await openShop();
    const { reference } = await new Customer(shop).placeOrder();
    const page = await openPage(`${shop.origin}/orders/${reference}`);
    await shop.sendCallback(genuine(reference));
    await page.locator('#status[role=status]', { hasText: /^Paid/ }).waitFor();
    expect(await page.getByRole('heading', { name: 'Paid. Thank you!' }).isVisible()).toBe(true);
    await page.close();
  });

  test('the page reports a lost connection, and recovers', async () => {
    const shop = await openShop();
    const page = await openPage(`${shop.origin}/owner/orders`);
    await page.context().setOffline(true);
    await page.locator('[role=status] #connection', { hasText: 'Connection lost. Trying again…' }).waitFor();
    const { reference } = await new Customer(shop).placeOrder();
    await page.context().setOffline(false);
    await page.getByRole('link', { name: reference }).waitFor();
    await page.locator('#connection:empty').waitFor({ state: 'attached' });
    await page.close();
  });

  test('a hidden tab sends no requests, and is up to date when it is shown again', async () => {
    const shop = await openShop();
    const path = `${shop.origin}/owner/orders`;
    const [hidden, watched] = [await openPage(path), await openPage(path)];
    const asked: string[] = [];
    const hide = (isHidden: boolean): Promise<unknown> =>
      hidden.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await hide(true);
    hidden.on('request', (request) => asked.push(request.url()));
    // The other tab measures the time: it asks twice more.
    for (const _ of [1, 2]) await watched.waitForResponse(path);
    expect(asked).toEqual([]);
    const { reference } = await new Customer(shop).placeOrder();
    await hide(false);
    await hidden.getByRole('link', { name: reference }).waitFor();
    await hidden.close();
    await watched.close();
  });
});

test.each([true, false])(
  'times are UTC until the owner switches to local ones (scripts: %s)',
  async (javaScriptEnabled) => {
    const shop = await openShop();
    const { reference } = await new Customer(shop).placeOrder();
    const context = await browser.newContext({ timezoneId: 'Africa/Kampala', javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(`${shop.origin}/owner/orders`);
    const iso = new Date((await shop.orders.find(reference))?.createdAt ?? 0).toISOString();
    await page.getByText(`${iso.slice(0, 23).replace('T', ' ')} UTC`, { exact: true }).waitFor();
    const zone = page.getByRole('button', { name: 'Times: UTC' });
    if (!javaScriptEnabled) return expect(await zone.isVisible()).toBe(false);
    await zone.click();
    await page.locator('time', { hasText: / UTC\+03:00$/ }).waitFor();
    await shop.sendCallback(genuine(reference));
    await page
      .getByText(/ UTC\+03:00$/)
      .nth(1)
      .waitFor();
    expect(await page.locator('time', { hasText: / UTC$/ }).count()).toBe(0);
    await page.reload();
    await page.getByRole('button', { name: 'Times: local' }).click();
    await page.locator('time', { hasText: / UTC$/ }).nth(1).waitFor();
    await context.close();
  },
);

test('a provider that the sandbox switches off or on changes in the shop a second later', async () => {
  const shop = await openShop();
  const customer = new Customer(shop);
  const { publicKey, secretKey } = shop.sandbox.account;
  const turn = async (is_active: boolean): Promise<void> => {
    const { status } = await shop.sandbox.fetch(`${shop.sandboxOrigin}/sandbox/providers`, {
      method: 'PUT',
      headers: { 'public-key': publicKey, 'secret-key': secretKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        provider_code: 'lake_mobile_money',
        transaction_currency: 'UGX',
        transaction_type: 'COLLECTION',
        is_active,
      }),
    });
    expect(status).toBe(200);
  };
  const isOffered = async (): Promise<boolean> =>
    !(await customer.get('/checkout?product=coffee')).body.includes('value="lake_mobile_money" disabled');
  expect(await isOffered()).toBe(true);
  // The shop keeps the list for a second. Only a hang fails here.
  for (const is_active of [false, true]) {
    await turn(is_active);
    while ((await isOffered()) !== is_active) await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
