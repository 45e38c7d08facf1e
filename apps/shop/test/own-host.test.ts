import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { FRAMEWORKS, openShop } from './open-shop.ts';

/** fetch() cannot be used: it sets the header `host` itself. */
function ask(
  origin: string,
  { path, host }: { readonly path: string; readonly host: string },
): Promise<{ status: number | undefined; body: string }> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, headers: { host } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe.each(FRAMEWORKS)('the shop on %s', (framework) => {
  test('shows nothing under a name that another site points to its address, and gives its own address', async () => {
    const shop = await openShop({ framework });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder({ name: 'Secret Name' });
    await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
    const [transition] = await shop.transitions();
    const { port } = new URL(shop.origin);
    for (const path of [
      '/',
      '/checkout?product=coffee',
      `/orders/${reference}`,
      '/owner/orders',
      '/owner/wallets',
      '/healthz',
    ]) {
      const { status, body } = await ask(shop.origin, { path, host: `evil.example:${port}` });
      expect([path, status]).toEqual([path, 421]);
      expect(body).toContain('Not the address of this shop');
      expect(body).toContain(`href="${shop.origin}/">Back to the shop</a>`);
      expect(body).not.toMatch(/Secret Name|Coffee beans/);
    }
    for (const path of ['', `/transitions/${transition?.transitionId}`, '/events', '/assets/style.css']) {
      const asked = { path: `/owner/inbox${path}`, host: `evil.example:${port}` };
      const { status, body } = await ask(shop.origin, asked);
      expect([path, status]).toEqual([path, 403]);
      expect(body).not.toContain(reference);
      // A control: the owner sees it under the shop's own name.
      expect((await fetch(`${shop.origin}/owner/inbox`)).status).toBe(200);
    }
  });

  test('answers on this computer and under SHOP_URL', async () => {
    const shop = await openShop({ framework, shopUrl: 'https://shop.example' });
    const { port } = new URL(shop.origin);
    const statusFor = async (host: string): Promise<number | undefined> =>
      (await ask(shop.origin, { path: '/owner/orders', host })).status;
    for (const host of ['shop.example', 'shop.example:443', `127.0.0.1:${port}`, `localhost:${port}`]) {
      expect([host, await statusFor(host)]).toEqual([host, 200]);
    }
    for (const host of ['shop.example:8080', 'www.shop.example', 'localhost', `${port}`]) {
      expect([host, await statusFor(host)]).toEqual([host, 421]);
    }
  });
});
