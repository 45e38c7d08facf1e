import { describe, expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { Customer } from './support/customer.ts';
import { openShop } from './support/open-shop.ts';

const open = useBrowser();

describe('pages of the shop that update automatically', () => {
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

  test('a hidden tab sends no requests, and is up to date when it is shown again', async () => {
    const shop = await openShop();
    const path = `${shop.origin}/owner/orders`;
    const [hidden, watched] = [await open(path), await open(path)];
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
  });
});
