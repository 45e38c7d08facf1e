import { type Browser, startBrowser } from '@payment-service/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { ENGINES, type OpenShop, openShop } from './open-shop.ts';

/** This many orders, oldest first. Several share a millisecond. */
async function placeOrders(shop: OpenShop, count: number): Promise<string[]> {
  const references: string[] = [];
  for (let number = 0; number < count; number += 1) {
    references.push((await new Customer(shop).placeOrder()).reference);
  }
  return references;
}

const rowsIn = (body: string): string[] =>
  [...body.matchAll(/<tr id="orders-([^"]+)"/g)].map(([, id = '']) => id);
const linkIn = (body: string, name: string): string =>
  new RegExp(`href="([^"]+)">${name}<`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';

describe.each(ENGINES)('the orders on $framework and $engine', (stage) => {
  test('are a table with 25 rows a page, and every order is on exactly one page', async () => {
    let now = Date.now();
    const shop = await openShop({ ...stage, now: () => Math.floor(now++ / 7) * 7 });
    const owner = new Customer(shop);
    const placed = await placeOrders(shop, 60);
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let address = '/owner/orders'; address !== ''; ) {
      const { body } = await owner.get(address);
      expect(body).toContain('<caption');
      seen.push(...rowsIn(body));
      sizes.push(rowsIn(body).length);
      address = linkIn(body, 'Older');
    }
    expect(sizes).toEqual([25, 25, 10]);
    expect(new Set(seen)).toEqual(new Set(placed));
    expect(seen).toHaveLength(60);
    expect((await shop.orders.list()).map(({ reference }) => reference)).toEqual(seen);
  });

  test('are filtered by their state and by a part of their reference, and by both', async () => {
    const shop = await openShop(stage);
    const owner = new Customer(shop);
    const [open = '', paid = '', failed = '', refused = ''] = await placeOrders(shop, 4);
    await shop.sendCallback(genuine(paid));
    await shop.sendCallback(genuine(failed, { transaction_status: 'FAILED', internal_reference: 'INT-2' }));
    const order = await shop.orders.find(refused);
    if (order !== undefined) await shop.orders.start(order, { state: 'refused', why: 'No such account.' });
    await shop.workedOff();
    const found = async (query: Record<string, string>): Promise<string[]> =>
      rowsIn((await owner.get(`/owner/orders?${new URLSearchParams(query)}`)).body);
    expect(await found({ state: 'open' })).toEqual([open]);
    expect(await found({ state: 'paid' })).toEqual([paid]);
    expect(await found({ state: 'failed' })).toEqual([failed]);
    expect(await found({ state: 'not started' })).toEqual([refused]);
    expect(await found({})).toHaveLength(4);
    expect(await found({ reference: ` ${paid.slice(5).toLowerCase()} ` })).toEqual([paid]);
    expect(await found({ reference: paid, state: 'paid' })).toEqual([paid]);
    expect(await found({ reference: paid, state: 'open' })).toEqual([]);
    for (const reference of ['%', '\\', "'", '\0', '"><script>', 'x'.repeat(999)]) {
      expect([reference, await found({ reference })]).toEqual([reference, []]);
    }
    for (const query of ['state=lost', 'before=%00', 'before=ORD-NONE']) {
      const { status, body } = await owner.get(`/owner/orders?${query}`);
      expect([query, status === 404 || rowsIn(body).length === 0]).toEqual([query, true]);
    }
  });

  test('describe what was refused, and show how many callbacks need attention', async () => {
    const shop = await openShop(stage);
    const owner = new Customer(shop);
    const [reference = ''] = await placeOrders(shop, 1);
    const page = async (path: string): Promise<string> => (await owner.get(path)).body;
    // A control: nothing was refused, and nothing waits.
    expect(await page('/owner/orders')).not.toMatch(/Refused|need attention|needs attention/);
    expect(await page('/owner/orders')).toContain('<title>Orders ·');
    for (const _ of [1, 2])
      await shop.sendCallback(genuine(reference), 'SANDBOX-a-strangers-key-000000000000000000');
    await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
    await shop.sendCallback(genuine('ORD-LOST', { internal_reference: 'INT-2' }));
    await shop.workedOff();
    const body = await page('/owner/orders');
    expect(body).toMatch(/No signing key makes this signature\.[^<]*<\/td><td[^>]*>2</);
    expect(body).not.toContain('mismatch');
    expect(body).toContain('href="/owner/inbox/transitions?state=quarantined">1 quarantined<');
    expect(body).toContain('href="/owner/inbox/transitions?state=unhandled">1 unhandled<');
    expect(body).toMatch(/<title>\(1\) Orders/);
  });
});

describe('in the browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test('the owner filters and turns pages without scripts', async () => {
    const shop = await openShop();
    const [oldest = ''] = await placeOrders(shop, 26);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${shop.origin}/owner/orders`);
    expect(await page.getByRole('link', { name: oldest, exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByRole('link', { name: oldest, exact: true }).waitFor();
    await page.getByRole('link', { name: 'Newest' }).click();
    await page.getByRole('link', { name: 'paid', exact: true }).click();
    await page.getByText('No order matches.').waitFor();
    await page.getByRole('link', { name: 'all', exact: true }).click();
    await page.getByLabel('Reference of the order').fill(oldest.slice(4));
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: oldest, exact: true }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await context.close();
  });
});
