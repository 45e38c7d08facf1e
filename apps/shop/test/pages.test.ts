import { examplesOf } from '@payment-service/servers/examples';
import { expect, test } from 'vitest';
import { catalogue } from '../src/checkout/catalogue.ts';
import { Customer } from './support/customer.ts';
import { openOrder, openShop } from './support/open-shop.ts';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;';

test('threat A25: hostile names and messages are shown as plain characters on every page', async () => {
  const products = catalogue.map((product) => ({ ...product, name: HOSTILE, description: HOSTILE }));
  const { shop, customer, reference } = await openOrder({ catalogue: products }, { name: HOSTILE });
  const hostile = { status_message: HOSTILE, customer_name: HOSTILE, internal_reference: HOSTILE };
  await shop.sendCallback(reference, { ...hostile, transaction_status: HOSTILE });
  await shop.sendCallback(reference, { ...hostile, request_currency: HOSTILE });
  const [newest] = await shop.transitions();
  const { acts = [] } = (await shop.inbox.payment(newest?.signed.merchant_reference ?? '')) ?? {};
  const close = acts.find(({ name }) => name === 'close');
  if (close === undefined) throw new Error('The hostile report cannot be closed.');
  await shop.inbox.act(close, { by: HOSTILE, note: HOSTILE });
  const pages = [
    await customer.get('/'),
    await customer.get('/checkout?product=tea'),
    await customer.checkOut({ name: HOSTILE, quantity: HOSTILE, account: HOSTILE, provider: HOSTILE }),
    await customer.get(`/orders/${reference}`),
    await customer.get('/owner/orders'),
    await customer.get(`/owner/inbox/payments?search=${encodeURIComponent(HOSTILE)}`),
    await customer.get(`/owner/inbox/payment?reference=${reference}`),
  ];
  for (const { status, body } of pages) {
    expect(status).toBeLessThan(500);
    expect(body).toContain(ESCAPED);
    expect(body).not.toMatch(/<script>|<img src=x/);
  }
});

test('the pages send the headers that isolate a page, and show the name and account of a customer to no other browser', async () => {
  const form = { name: 'Secret Name', account: '256770000987' };
  const { shop, customer, reference } = await openOrder({ framework: 'koa' }, form);
  const { reference: paid } = await customer.placeOrder(form);
  await shop.stateAfter(paid);
  const pages = examplesOf('The shop', shop.addresses, {
    '/': '/',
    '/checkout': '/checkout?product=tea',
    '/orders/:reference': `/orders/${reference}`,
    '/orders/:reference/again': `/orders/${reference}/again`,
    '/orders/:reference/receipt': `/orders/${paid}/receipt`,
    '/payments/unconfirmed': '/payments/unconfirmed',
    '/owner/orders': '/owner/orders',
    '/owner/reconcile': { none: 'leads to the console' },
    '/healthz': '/healthz',
  });
  const paths = pages.map(([path]) => path);
  for (const path of [...paths, '/nothing']) {
    const { headers, body } = await customer.get(path);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "frame-ancestors 'none'"]) expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    // No asset from another site, and no inline script or style that the policy would block.
    expect(body).not.toMatch(/(?:src|href)="(?:https?:)?\/\/(?!127\.0\.0\.1)/);
    expect(body).not.toMatch(/ on\w+="| style="|<style|<script(?! type="module" src=)/);
  }
  const [order, last, ...others] = (await new Customer(shop).checkOut()).headers.getSetCookie();
  expect(order).toMatch(/^order=(ORD-[0-9A-F]{12}); Path=\/orders\/\1; HttpOnly; SameSite=Lax$/);
  expect(last).toMatch(/^last-coffee=ORD-[0-9A-F]{12}; Path=\/; HttpOnly; SameSite=Lax$/);
  expect(others).toEqual([]);
  const another = new Customer(shop);
  expect(await another.orderPage(reference)).toContain('account ending in 987');
  const named: string[] = [];
  for (const path of paths) if (/256770000987|Secret Name/.test(await another.read(path))) named.push(path);
  // The owner's page, which a shop puts behind its login.
  expect(named).toEqual(['/owner/orders']);
});

test('the pages say that the payment service is unavailable, and nothing is paid', async () => {
  const { shop, customer, reference } = await openOrder();
  await shop.sandbox.close();
  const away = await openShop({ baseUrl: shop.sandboxOrigin });
  const visitor = new Customer(away);
  expect(await visitor.read('/')).toContain('The payment service is unavailable at the moment');
  for (const { status, body } of [await visitor.get('/checkout?product=coffee'), await visitor.checkOut()]) {
    expect([status, body]).toEqual([503, expect.stringContaining('The payment service is unavailable')]);
  }
  expect(away.log.join('\n')).toContain('The payment service is unavailable');
  // The options were requested a moment ago, and then the payment can no longer be started.
  const late = await customer.checkOut();
  expect([late.status, late.body]).toEqual([422, expect.stringContaining('Your payment was not started')]);
  expect(late.body).toContain('The payment service cannot be reached. Try again in a moment.');
  expect((await customer.get(`/orders/${reference}`)).status).toBe(200);
});
