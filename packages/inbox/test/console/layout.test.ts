import { type Browser, startBrowser } from '@payment-service/servers/browser';
import { examplesOf } from '@payment-service/servers/examples';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { addresses } from '../../src/console/addresses.ts';
import { inboxConsole, nodeListener } from '../../src/console/index.ts';
import type { PaymentSummary } from '../../src/operator/payments/payment-summary.ts';
import { BASE, EVERYTHING, listen, pageOf } from '../support/console.ts';
import { layoutFaults } from '../support/layout.ts';
import { newVariedShop } from '../support/varied.ts';

const WIDTHS = [390, 900, 1100, 1280, 1920];
/** Without scripts a page has the same boxes, less what a script adds. */
const PLAIN_WIDTHS = [390, 1280];
const SLOW = { timeout: 300_000 };

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** A console with a month of payments, and a path of each of its pages. */
async function open() {
  const { inbox } = await newVariedShop(90);
  const authorize = () => ({ by: 'dana', may: EVERYTHING });
  const listener = nodeListener(inboxConsole(inbox, { basePath: BASE, authorize }));
  const url = (await listen((incoming, outgoing) => void listener(incoming, outgoing))) + BASE;
  const { items } = await inbox.payments({ limit: 1000 });
  const first = (isMeant: (payment: PaymentSummary) => boolean): string => {
    const found = items.find(isMeant);
    if (found === undefined) throw new Error('The varied inbox has no such payment.');
    return pageOf(found.merchant_reference, found.transaction_type);
  };
  const paths = examplesOf('The console', addresses, {
    '/': '/',
    '/payments': [
      '/payments',
      '/payments?state=all',
      '/payments?reason=amount_mismatch',
      '/payments?search=none',
    ],
    '/payments.csv': { none: 'a file' },
    '/payment': [
      '/payment?reference=none',
      first(({ needs }) => needs === 'amount_mismatch'),
      first(({ needs }) => needs === 'already_settled'),
      first(({ merchant_reference, state }) => merchant_reference.length > 60 && state === 'paid'),
    ],
    '/acts': '/acts?act=retry&reason=attempts_used_up',
    '/money': '/money',
    '/reconcile': '/reconcile?from=2020-01-01&to=2099-01-01',
  });
  return { url, paths: paths.map(([path]) => path) };
}

test.each([true, false])(
  'no box of any page covers another, sticks out or is lost, from 390 to 1,920 pixels and on paper, with scripts: %s',
  SLOW,
  async (javaScriptEnabled) => {
    const { url, paths } = await open();
    const page = await browser.newPage({ javaScriptEnabled });
    onTestFinished(() => page.close());
    for (const path of paths) {
      await page.emulateMedia({ media: 'screen' });
      await page.goto(url + path);
      for (const width of javaScriptEnabled ? WIDTHS : PLAIN_WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect(await layoutFaults(page), `${path} at ${width}`).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
          `${path} at ${width}`,
        ).toBe(true);
      }
      // A page of A4 in portrait, without its margins.
      await page.setViewportSize({ width: 703, height: 1000 });
      await page.emulateMedia({ media: 'print' });
      expect(await layoutFaults(page), `${path} on paper`).toEqual([]);
    }
  },
);

test('on paper, a list has every column, its filter, its period, absolute times and sums, and nothing to press', async () => {
  const { url } = await open();
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(`${url}/payments?state=paid&since=2026-01-01&until=2099-12-31`);
  await page.setViewportSize({ width: 703, height: 1000 });
  await page.emulateMedia({ media: 'print' });
  const text = await page.locator('main').innerText();
  expect(text).toMatch(/Reference\s+State\s+What it needs\s+Changed\s+Expected\s+Credited\s+Type/);
  expect(text).toMatch(/Type\s+Payments\s+Expected\s+Credited/);
  expect(text).toContain(
    'Paid payments, whose last change was from 2026-01-01 until 2099-12-31, both days included (UTC), as of 20',
  );
  const shown = (selector: string) => page.locator(selector).filter({ visible: true }).count();
  expect(await shown('button, input, .button, nav, form')).toBe(0);
  const age = page.locator('td [data-age]').first();
  const content = "getComputedStyle(document.querySelector('td [data-age]'), '::after').content";
  expect(String(await page.evaluate(content))).toContain(String(await age.getAttribute('title')));
  expect((await page.pdf({ format: 'A4' })).byteLength).toBeGreaterThan(10_000);
});

test('a long reference is cut in its middle, and copied whole', async () => {
  const { url } = await open();
  const page = await browser.newPage({ viewport: { width: 390, height: 900 } });
  onTestFinished(() => page.close());
  await page.goto(`${url}/payments?search=a-very-long-reference`);
  const link = page.locator('a.cut').first();
  const whole = await link.getAttribute('title');
  expect(await link.evaluate((one) => one.getBoundingClientRect().width)).toBeLessThan(300);
  await page.evaluate("getSelection().selectAllChildren(document.querySelector('a.cut'))");
  expect(await page.evaluate('getSelection().toString()')).toBe(whole);
  // Control: its first part alone is wider than its box.
  expect(await link.locator('span').evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true);
});
