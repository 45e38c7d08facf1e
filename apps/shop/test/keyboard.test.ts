import { type Browser, type Page, startBrowser } from '@payment-service/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FRAMEWORKS, openShop } from './open-shop.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** The words that a person sees at the control that has the focus. */
const FOCUSED = `(() => {
  const { id, labels, textContent } = document.activeElement;
  return (labels?.length ? [...labels].map((label) => label.textContent).join(' ') : textContent) || id;
})()`;
/** Whether the focus can be seen: by an outline of the page, or the browser's own on the payment page. */
const IS_VISIBLE = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return outlineStyle === 'auto' || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
})()`;

/** Presses Tab until the control has the focus, and returns how often. Every stop on the way shows the focus. */
async function tabTo(page: Page, control: RegExp): Promise<number> {
  for (let presses = 1; presses <= 30; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = String(await page.evaluate(FOCUSED));
    expect([focused, await page.evaluate(IS_VISIBLE)]).toEqual([focused, true]);
    if (control.test(focused)) return presses;
  }
  throw new Error(`Tab does not lead to ${control} on ${page.url()}.`);
}

test.each(FRAMEWORKS)(
  'a customer on %s orders, pays and views the order with the keyboard alone',
  async (framework) => {
    const shop = await openShop({ framework });
    const page = await browser.newPage();
    await page.goto(shop.origin);
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
    // One stop for all providers, at the one that is selected; the arrows choose another.
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
    await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
    expect(await shop.orders.list()).toMatchObject([
      { providerName: 'Lake Mobile Money', customerName: 'Ann Example' },
    ]);
    await tabTo(page, /^Back to the shop/);
    await page.close();
  },
);
