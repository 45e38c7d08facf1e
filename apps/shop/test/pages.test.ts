import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sampleCallback } from '@payment-service/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { catalogue } from '../src/checkout/catalogue.ts';
import { Customer } from './customer.ts';
import { FRAMEWORKS, openShop } from './open-shop.ts';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;';

describe.each(FRAMEWORKS)('pages on %s', (framework) => {
  test('threat A25: hostile names and messages are shown as plain characters everywhere', async () => {
    const [coffee] = catalogue;
    if (coffee === undefined) throw new Error('There is nothing to sell.');
    const shop = await openShop({
      framework,
      catalogue: [{ ...coffee, name: HOSTILE, description: HOSTILE }],
      newReference: () => 'ORD-1',
    });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder({ name: HOSTILE });
    const payload = {
      merchant_reference: reference,
      transaction_status: HOSTILE,
      status_message: HOSTILE,
      customer_name: HOSTILE,
      internal_reference: HOSTILE,
    };
    await shop.sendCallback(sampleCallback({ payload }));
    await shop.sendCallback(sampleCallback({ payload: { ...payload, transaction_type: HOSTILE } }));
    await shop.sendCallback(
      sampleCallback({ payload: { ...payload, transaction_status: 'COMPLETED', request_currency: HOSTILE } }),
    );
    await shop.sendCallback(sampleCallback({ payload: { ...payload, merchant_reference: HOSTILE } }));
    const [newest, suspicious] = await shop.transitions();
    await shop.inbox.resolve(newest?.transitionId ?? '', { by: HOSTILE, note: HOSTILE });

    const pages = [
      await customer.get('/'),
      await customer.get('/checkout?product=coffee'),
      await customer.checkOut({ name: HOSTILE, quantity: HOSTILE, account: HOSTILE, provider: HOSTILE }),
      await customer.orderPage(reference),
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

  test('send the headers that isolate a page', async () => {
    const shop = await openShop({ framework });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder();
    for (const path of [
      '/',
      '/checkout?product=coffee',
      `/orders/${reference}`,
      '/owner/orders',
      '/nothing',
    ]) {
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
      // No asset from another site, no inline script or style that the policy would block.
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
    const shop = await openShop({ framework });
    const { headers } = await new Customer(shop).checkOut();
    const [order, last, ...others] = headers.getSetCookie();
    expect(order).toMatch(/^order=(ORD-[0-9A-F]{12}); Path=\/orders\/\1; HttpOnly; SameSite=Lax$/);
    expect(last).toMatch(/^last-coffee=ORD-[0-9A-F]{12}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(others).toEqual([]);
  });

  test('show no name and only the end of the account to anyone who has the link of an order', async () => {
    const shop = await openShop({ framework });
    const { reference } = await new Customer(shop).placeOrder({
      name: 'Secret Name',
      account: '256770000987',
    });
    const { body } = await new Customer(shop).orderPage(reference);
    expect(body).toContain('account ending in 987');
    expect(body).not.toContain('256770000987');
    expect(body).not.toContain('Secret Name');
  });

  test('say that the payment service is unavailable, and pay nothing', async () => {
    const shop = await openShop({ framework });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder();
    await shop.sandbox.close();

    const away = await openShop({ framework, baseUrl: shop.sandboxOrigin });
    const visitor = new Customer(away);
    const shopWindow = await visitor.get('/');
    expect(shopWindow.status).toBe(200);
    expect(shopWindow.body).toContain('The payment service is unavailable at the moment');
    expect(shopWindow.body).toContain('Coffee beans');
    for (const path of ['/checkout?product=coffee', '/owner/wallets']) {
      const { status, body } = await visitor.get(path);
      expect(status).toBe(503);
      expect(body).toContain('The payment service is unavailable');
    }
    expect((await visitor.checkOut()).status).toBe(503);
    expect(away.log.join('\n')).toContain('The payment service is unavailable');

    // The options were asked for a moment ago, and the payment then cannot be started any more.
    const late = await customer.checkOut();
    expect([late.status, late.location]).toEqual([303, expect.stringMatching(/^\/orders\/ORD-/)]);
    expect((await customer.get(late.location)).body).toContain(
      'We do not know yet whether your payment was started',
    );
    expect((await customer.orderPage(reference)).status).toBe(200);
    expect((await customer.get('/owner/orders')).body).toContain('Start unknown');
  });

  test('send the browser to the payment page of the configured service and to no other site', async () => {
    const liar = createServer((request, response) => {
      const isStart = request.url === '/sandbox/collections';
      const providers = [
        {
          provider_name: 'Liar',
          provider_code: 'example_mobile_money',
          transaction_method: 'MOBILE_MONEY',
          transaction_method_name: 'Mobile Money',
          transaction_type: 'Collection',
          transaction_currency: 'UGX',
          min_amount: 1,
          max_amount: 1e9,
          max_daily_amount: 1e9,
          is_active: true,
          option_prefixes: [],
        },
      ];
      const data = isStart
        ? { payment_page_url: 'http://127.0.0.1:9/steal' }
        : { payment_providers: providers };
      const code = isStart ? 201 : 200;
      request.resume();
      response
        .writeHead(code, { 'content-type': 'application/json' })
        .end(JSON.stringify({ code, status: 'success', message: 'ok', data }));
    });
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void liar.close());
    const baseUrl = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
    const customer = new Customer(await openShop({ framework, baseUrl }));
    expect((await customer.checkOut()).location).toMatch(/^\/orders\/ORD-/);
    expect((await customer.get('/owner/orders')).body).toMatch(/its response \(HTTP \d+\) is invalid/);
  });
});
