import type { Page } from '@payment-service/servers/browser';
import { examplesOf } from '@payment-service/servers/examples';
import axe from 'axe-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/index.ts';
import { addresses } from '../../src/pages/addresses.ts';
import { call, collection } from '../support/api.ts';
import { type Merchant, startMerchant } from '../support/merchant.ts';
import { useBrowser } from '../support/visitor.ts';

const EVERY_RULE = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** axe's complaints about the open page, in words. The page's own policy would refuse a script tag. */
async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: unknown =
    await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`);
  return Array.isArray(found) ? found.map(String) : [String(found)];
}

/** How many pixels of the page are beyond the right edge. */
const overflow = (page: Page): Promise<unknown> =>
  page.evaluate('Math.max(0, document.documentElement.scrollWidth - innerWidth)');

/**
 * @param which The pages at which axe looks as they are on a wide screen. The pages with every part contain every part of the
 * others.
 */
export function testAccessibility(which: 'every page' | 'the pages with every part'): void {
  const visit = useBrowser();
  let merchant: Merchant;
  let sandbox: Sandbox;
  let url: string;
  let paths: readonly string[];
  /** Together, these contain every part of the pages; they are also checked in other colours and in another layout. */
  let otherViews: readonly string[];
  beforeAll(async () => {
    merchant = await startMerchant();
    merchant.answer = (response, { body }) => {
      if (body.includes('"BAD"')) response.statusCode = 500;
      response.setHeader('content-type', 'application/json');
      response.end('{"status":"accepted","list":[1,true,null]}');
    };
    sandbox = createSandbox({ callbackUrl: merchant.url, retry: { max_attempts: 2, backoff_ms: 0 } });
    sandbox.collect({ ...collection, provider_code: 'example_card_ugx', amount: 10_000 });
    sandbox.collect({ ...collection, merchant_reference: 'BAD' });
    sandbox.collect({ ...collection, merchant_reference: 'FORGED', misbehave: { forged_amount: 1 } });
    sandbox.collect({ ...collection, merchant_reference: 'REFUSED', callback_url: 'http://127.0.0.1:9/' });
    await sandbox.idle();
    sandbox.transfer({ currency: 'UGX', amount: 100 });
    const paid = sandbox.collect({ ...collection, merchant_reference: 'PAID', mode: 'page' });
    sandbox.decide(paid.transaction.id, 'completed');
    const pending = sandbox.collect({
      ...collection,
      merchant_reference: 'PAGE',
      redirect_url: merchant.url,
    });
    sandbox.collect({ ...collection, merchant_reference: 'LATE', misbehave: { late_ms: 3_600_000 } });
    for (let i = 0; i < 30; i += 1)
      sandbox.collect({ ...collection, merchant_reference: `ORD-${i}`, mode: 'pending' });
    await call(sandbox, 'GET', '/data/wallet-balances');
    await call(sandbox, 'GET', '/data/payout-bank-codes');
    const { status } = await call(sandbox, 'PUT', '/sandbox/settings', { misbehave: { late_ms: 5 } });
    expect(status).toBe(200);
    await sandbox.check();
    sandbox.advance(60);
    ({ url } = await sandbox.listen());
    const failing = sandbox.deliveries().find(({ state }) => state === 'given_up');
    const failed = `/deliveries/${failing?.id}`;
    const open = new URL(pending.payment_page_url ?? '').pathname;
    const ended = new URL(paid.payment_page_url ?? '').pathname;
    const refused = `/compose/${failing?.id}?duplicate=99`;
    const compositions = [
      `/compose/${failing?.transaction_id}?forged_amount=1&extra_fields=%7B%22note%22%3A1%7D`,
      refused,
    ];
    const examples = {
      '/': '/',
      '/transactions': ['/transactions', '/transactions?q=none'],
      '/transactions/:id': ['/transactions/1001', `/transactions/${pending.transaction.id}`],
      '/deliveries': '/deliveries',
      '/deliveries/compare': '/deliveries/compare?of=1&of=2',
      '/deliveries/failures': ['/deliveries/failures', '/deliveries/failures?cause=none'],
      '/deliveries/:id': failed,
      '/requests': '/requests',
      '/requests/:id': '/requests/2',
      '/compose/:id': compositions,
      '/wallets': '/wallets',
      '/wallets/:currency': '/wallets/UGX',
      '/providers': '/providers',
      '/check': '/check',
      '/explain': '/explain',
      '/start': '/start',
      '/settings': '/settings',
      '/settings/reset': '/settings/reset',
      '/statement.csv': { none: 'a file' },
      '/assets/:name': { none: 'parts of the pages' },
      '/sandbox/pay/:id': [open, ended],
    };
    paths = [...examplesOf('The sandbox', addresses, examples).map(([path]) => path), '/nothing'];
    otherViews = ['/', '/deliveries/failures', failed, refused, '/explain', '/start', open];
  });
  afterAll(async () => {
    await sandbox?.close();
    await merchant?.close();
  });

  /** The deadline is longer than that of other tests. */
  const TWENTY_PAGES = { timeout: 180_000 };

  /** Checks the current page, with every panel open and the notice of a lost connection shown. */
  async function expectNoFault(
    page: Page,
    name: string,
    rules: readonly string[] = EVERY_RULE,
  ): Promise<void> {
    await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true;
    const lost = document.getElementById('connection'); if (lost) lost.hidden = false;
    scrollTo(0, 0);`);
    expect(await violations(page, rules), name).toEqual([]);
    expect(await overflow(page), name).toBe(0);
  }

  test.each([
    // The colours are all that differs, or the layout.
    ['in dark', { colorScheme: 'dark' }, ['color-contrast']],
    ['on a phone', { isPhone: true }, ['target-size', 'scrollable-region-focusable', 'link-in-text-block']],
  ] as const)('axe (WCAG 2.2 AA) finds no fault %s', TWENTY_PAGES, async (_, view, rules) => {
    const { page } = await visit(undefined, view);
    for (const path of otherViews) {
      await page.goto(url + path);
      await expectNoFault(page, path, rules);
    }
  });

  test('control: axe reports a page with faults', async () => {
    const { page } = await visit(url);
    await page.evaluate(`document.querySelector('main').innerHTML =
    '<h1>Control</h1><input><p class="faint">faint</p>';
    document.querySelector('.faint').style.color = '#888888';
    document.querySelector('.faint').style.background = '#999999'`);
    const found = (await violations(page, EVERY_RULE)).map((one) => one.split(':')[0]);
    expect(found).toEqual(expect.arrayContaining(['color-contrast', 'label']));
  });

  /** Names that lead to more than one place, and tables without a caption. */
  const UNCLEAR = `(() => {
  const places = new Map();
  for (const one of document.querySelectorAll('main a, button:not(noscript *)')) {
    const words = one.ariaLabel ?? one.textContent.replaceAll(/\\s+/g, ' ').trim();
    const place = one.href ?? one.id + (one.form === null ? '' : [...new FormData(one.form)].filter(([name]) => name !== 'at') + one.form.action);
    places.set(words, new Set(places.get(words)).add(place));
  }
  const bare = [...document.querySelectorAll('table')].filter(({ caption }) => !caption?.textContent);
  return [...[...places].filter(([, { size }]) => size > 1).map(([words]) => words), ...bare.map(({ id }) => id)];
})()`;

  test(
    `axe finds no fault on ${which}, and every page does not overflow at any width and gives the same name to the same place`,
    TWENTY_PAGES,
    async () => {
      const { page } = await visit();
      for (const path of paths) {
        await page.goto(url + path);
        expect(await page.evaluate(UNCLEAR), path).toEqual([]);
        for (const width of [390, 768, 1280]) {
          await page.setViewportSize({ width, height: 800 });
          expect(await overflow(page), `${path}, ${width} pixels wide`).toBe(0);
        }
        if (which === 'every page' || otherViews.includes(path)) await expectNoFault(page, path);
      }
      await page.goto(`${url}/start`);
      await page.locator('#collection').getByLabel('Amount').fill('1');
      await page.getByRole('button', { name: 'Collect' }).click();
      await page.locator('#collection-amount-problem').waitFor();
      await expectNoFault(page, 'a refused form');
      // Control: a page that is too wide, and a link and a table without a clear name are found.
      await page.goto(`${url}/requests`);
      await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend', '<a href="/a">Here</a><a href="/b">Here</a><table id="bare"></table>');
    document.querySelector('main').style.minWidth = '1300px'`);
      expect(await page.evaluate(UNCLEAR)).toEqual(['Here', 'bare']);
      expect(await overflow(page)).toBeGreaterThan(0);
    },
  );

  test('targets are 44 pixels high on a phone, and focus is 3 pixels wide', async () => {
    const { page } = await visit(undefined, { isPhone: true });
    for (const path of paths) {
      await page.goto(url + path);
      const small: unknown =
        await page.evaluate(`[...document.querySelectorAll('main button:not([hidden]), main .button, nav a, main input:not([type=hidden], [type=checkbox]), main select, summary')]
        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5).map((one) => one.outerHTML)`);
      expect(small, path).toEqual([]);
    }
    await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineWidth')).toBe('3px');
  });
}
