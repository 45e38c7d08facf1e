import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catalogue } from '../src/checkout/catalogue.ts';
import { Customer } from './support/customer.ts';
import { type OpenShop, openOrder, openShop } from './support/open-shop.ts';
import { sendRaw } from './support/send-raw.ts';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;';

test('threat A25: hostile names and messages are shown as plain characters on every page', async () => {
  const [coffee] = catalogue;
  if (coffee === undefined) throw new Error('There is nothing to sell.');
  const products = [{ ...coffee, name: HOSTILE, description: HOSTILE }];
  const { shop, customer, reference } = await openOrder({ catalogue: products }, { name: HOSTILE });
  const hostile = { status_message: HOSTILE, customer_name: HOSTILE, internal_reference: HOSTILE };
  await shop.sendCallback(reference, { ...hostile, transaction_status: HOSTILE });
  await shop.sendCallback(reference, { ...hostile, transaction_status: HOSTILE, transaction_type: HOSTILE });
  await shop.sendCallback(reference, { ...hostile, request_currency: HOSTILE });
  await shop.sendCallback(HOSTILE, { ...hostile, transaction_status: HOSTILE });
  const [newest, suspicious] = await shop.transitions();
  await shop.inbox.resolve(newest?.transitionId ?? '', { by: HOSTILE, note: HOSTILE });

  const pages = [
    await customer.get('/'),
    await customer.get('/checkout?product=coffee'),
    await customer.checkOut({ name: HOSTILE, quantity: HOSTILE, account: HOSTILE, provider: HOSTILE }),
    await customer.get(`/orders/${reference}`),
    await customer.get('/owner/orders'),
    await customer.get('/owner/inbox'),
    await customer.get(`/owner/inbox/transitions/${newest?.transitionId}`),
    await customer.get(`/owner/inbox/transitions/${suspicious?.transitionId}`),
  ];
  for (const { status, body } of pages) {
    expect(status).toBeLessThan(500);
    expect(body).toContain(ESCAPED);
    expect(body).not.toMatch(/<script>|<img src=x/);
  }
  // The item and the name of the customer.
  expect(pages[4]?.body.split(ESCAPED)).toHaveLength(3);
  const missing = await customer.get(`/orders/${encodeURIComponent(HOSTILE)}`);
  expect(missing.status).toBe(404);
  expect(missing.body).not.toContain('alert(1)');
});

// On one framework: same-behaviour.test.ts compares the others with it.
describe('the pages', () => {
  let shop: OpenShop;
  let customer: Customer;
  let reference: string;
  let paths: readonly string[];
  beforeAll(async () => {
    const form = { name: 'Secret Name', account: '256770000987' };
    ({ shop, customer, reference } = await openOrder({ framework: 'koa', closing: afterAll }, form));
    paths = ['/', '/checkout?product=coffee', `/orders/${reference}`, '/owner/orders'];
  });

  test('send the headers that isolate a page', async () => {
    for (const path of [...paths, '/nothing']) {
      const { headers, body } = await customer.get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-powered-by')).toBeNull();
      // No asset from another site, and no inline script or style that the policy would block.
      expect(body).not.toMatch(/(?:src|href)="(?:https?:)?\/\/(?!127\.0\.0\.1)/);
      expect(body).not.toMatch(/ on\w+="| style="|<style|<script(?! type="module" src=)/);
      expect(body).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    }
    const checkout = await new Customer(shop).get('/checkout?product=coffee');
    expect(checkout.headers.get('content-security-policy')).toContain(
      `form-action 'self' ${shop.sandboxOrigin};`,
    );
  });

  test('restrict the cookie of an order to the pages of that order, and hide it from scripts', async () => {
    const { headers } = await new Customer(shop).checkOut();
    const [order, last, ...others] = headers.getSetCookie();
    expect(order).toMatch(/^order=(ORD-[0-9A-F]{12}); Path=\/orders\/\1; HttpOnly; SameSite=Lax$/);
    expect(last).toMatch(/^last-coffee=ORD-[0-9A-F]{12}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(others).toEqual([]);
  });

  test('show no name and only the end of the account to anyone who has the link of an order', async () => {
    const body = await new Customer(shop).orderPage(reference);
    expect(body).toContain('account ending in 987');
    expect(body).not.toMatch(/256770000987|Secret Name/);
  });

  test('show nothing under a name that another site points to the address of the shop', async () => {
    await shop.sendCallback(reference, { transaction_amount: 1 });
    const [transition] = await shop.transitions();
    const headers = { host: `evil.example:${new URL(shop.origin).port}` };
    for (const target of [...paths, '/healthz']) {
      const { status, body } = await sendRaw(shop.origin, { target, headers });
      expect([target, status]).toEqual([target, 421]);
      expect(body).toContain('Not the address of this shop');
      expect(body).toContain(`href="${shop.origin}/">Back to the shop</a>`);
      expect(body).not.toMatch(/Secret Name|Coffee beans/);
    }
    for (const path of ['', `/transitions/${transition?.transitionId}`, '/events', '/assets/style.css']) {
      const { status, body } = await sendRaw(shop.origin, { target: `/owner/inbox${path}`, headers });
      expect([path, status]).toEqual([path, 403]);
      expect(body).not.toContain(reference);
    }
    // A control: the owner sees it under the shop's own name.
    expect(await customer.read('/owner/inbox')).toContain(reference);
  });
});

test('a shop with a SHOP_URL answers under it and on this computer', async () => {
  const shop = await openShop({ shopUrl: 'https://shop.example' });
  const { port } = new URL(shop.origin);
  for (const [host, status] of [
    ['shop.example', 200],
    [`localhost:${port}`, 200],
    ['www.shop.example', 421],
  ] as const) {
    const answer = await sendRaw(shop.origin, { target: '/owner/orders', headers: { host } });
    expect([host, answer.status]).toEqual([host, status]);
  }
});

test('the pages say that the payment service is unavailable, and nothing is paid', async () => {
  const { shop, customer, reference } = await openOrder();
  await shop.sandbox.close();
  const away = await openShop({ baseUrl: shop.sandboxOrigin });
  const visitor = new Customer(away);
  const catalogue = await visitor.get('/');
  expect(catalogue.status).toBe(200);
  expect(catalogue.body).toContain('The payment service is unavailable at the moment');
  expect(catalogue.body).toContain('Coffee beans');
  const { status, body } = await visitor.get('/checkout?product=coffee');
  expect(status).toBe(503);
  expect(body).toContain('The payment service is unavailable');
  expect(await visitor.read('/owner/orders')).toContain('The payment service is unavailable.');
  expect((await visitor.checkOut()).status).toBe(503);
  expect(away.log.join('\n')).toContain('The payment service is unavailable');

  // The options were requested a moment ago, and then the payment can no longer be started.
  const late = await customer.checkOut();
  expect(late.status).toBe(422);
  expect(late.body).toContain('Your payment was not started');
  expect(late.body).toContain('The payment service cannot be reached. Try again in a moment.');
  expect((await customer.get(`/orders/${reference}`)).status).toBe(200);
  expect(await customer.read('/owner/orders')).toContain(
    'The payment service cannot be reached. Try again in a moment.',
  );
});
