import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { ENGINES, openShop } from './open-shop.ts';

const rowsIn = (body: string): string[] =>
  [...body.matchAll(/<tr id="orders-([^"]+)"/g)].map(([, id = '']) => id);

describe.each(ENGINES)('the orders on $framework and $engine', (stage) => {
  test('are a table of the last 50, the newest first', async () => {
    let now = Date.now();
    const shop = await openShop({ ...stage, now: () => now++ });
    const owner = new Customer(shop);
    const placed: string[] = [];
    for (let number = 0; number < 52; number += 1) placed.unshift((await owner.placeOrder()).reference);
    const { body } = await owner.get('/owner/orders');
    expect(rowsIn(body)).toEqual(placed.slice(0, 50));
    expect(body).toContain('<caption');
  });

  test('count what was refused, and mark the order whose callback needs attention', async () => {
    const shop = await openShop(stage);
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    await owner.placeOrder();
    const page = async (): Promise<string> => (await owner.get('/owner/orders')).body;
    // A control: nothing was refused, and nothing waits.
    expect(await page()).not.toMatch(/Refused|needs attention/);
    for (const _ of [1, 2]) {
      await shop.sendCallback(genuine(reference), 'SANDBOX-a-strangers-key-000000000000000000');
    }
    await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
    await shop.workedOff();
    const body = await page();
    expect(body).toMatch(/No signing key makes this signature\.[^<]*<\/td><td[^>]*>2</);
    expect(body.match(/needs attention/g)).toHaveLength(1);
    expect(body).toContain(`href="/owner/inbox/transitions?reference=${reference}">1 callback<`);
  });
});
