import { createVerifier } from '@payment-service/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions, type StartedCollection } from '../src/index.ts';
import { call, collection } from './support/api.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { type Merchant, startMerchant } from './support/merchant.ts';

let merchant: Merchant;
let sandbox: Sandbox;
let clock: ManualClock;
beforeEach(async () => {
  merchant = await startMerchant();
  clock = createManualClock();
});
afterEach(async () => {
  await sandbox.close();
  await merchant.close();
});

const open = (options: SandboxOptions = {}): void => {
  sandbox = createSandbox({ callbackUrl: merchant.url, clock, ...options });
};
const start = (change: object = {}): StartedCollection =>
  sandbox.collect({ ...collection, redirect_url: 'http://127.0.0.1:3000/return?shop=1#done', ...change });

const visit = (address: string | null, init: RequestInit = {}): Promise<Response> =>
  sandbox.fetch(address ?? 'http://127.0.0.1/missing', { redirect: 'manual', ...init });
const choose = (address: string | null, choice: string): Promise<Response> =>
  visit(address, { method: 'POST', body: new URLSearchParams({ choice }) });

const verify = (location: string | null) =>
  createVerifier({ signingKey: sandbox.account.signingKey }).verifyRedirect(location ?? '');

describe('the payment page', () => {
  test('shows what is paid, and says that it is simulated', async () => {
    open();
    const response = await visit(start().payment_page_url);
    const text = await response.text();
    expect(response.status).toBe(200);
    for (const part of [
      'Simulated',
      'ORD-1',
      'UGX\u00a0500',
      'Pay UGX\u00a0500',
      'Decline',
      'width=device-width',
    ]) {
      expect(text).toContain(part);
    }
  });

  test('with the charge on the customer, shows the total that the customer pays', async () => {
    open();
    const text = await (await visit(start({ charge_customer: true }).payment_page_url)).text();
    expect(text).toContain('Pay UGX\u00a0515');
  });

  test('threat A25: values of a request are escaped', async () => {
    open();
    const hostile = '"><script>alert(1)</script>';
    const started = start({ customer_name: hostile, merchant_reference: `<b>${hostile}` });
    for (const address of [started.payment_page_url, 'http://127.0.0.1/']) {
      const response = await visit(address);
      const text = await response.text();
      expect(text).toContain('&lt;script&gt;');
      expect(text).not.toContain('<script>');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  test('has an address that cannot be guessed from the number', async () => {
    open();
    const { transaction } = start();
    for (const id of [transaction.id, `SBX-${transaction.id}`, `SBX-${transaction.id}-AAAAAAAAAA`, 'x']) {
      const response = await visit(`http://127.0.0.1/sandbox/pay/${id}`);
      expect(response.status).toBe(404);
    }
  });

  test('exists only if the customer decides', async () => {
    open();
    const { transaction, payment_page_url } = start({ mode: 'pending' });
    expect(payment_page_url).toBeNull();
    const response = await visit(`http://127.0.0.1/sandbox/pay/${transaction.internal_reference}`);
    expect(response.status).toBe(404);
  });
});

describe('pay and decline', () => {
  test('pay: the callback is sent first, then 303 to the merchant with a query that core verifies', async () => {
    open();
    const { payment_page_url, redirect_location } = start();
    expect(redirect_location).toBeNull();
    const response = await choose(payment_page_url, 'pay');
    expect(response.status).toBe(303);
    expect(merchant.received.map(({ data }) => data.payload.transaction_status)).toEqual(['COMPLETED']);
    const location = response.headers.get('location');
    expect(location).toMatch(
      /^http:\/\/127\.0\.0\.1:3000\/return\?shop=1&event=transaction\.completed&id=\d+&/,
    );
    expect(location).toMatch(/#done$/);
    const result = verify(location);
    expect(result).toMatchObject({
      ok: true,
      signed: { merchant_reference: 'ORD-1', transaction_status: 'COMPLETED' },
    });
    // The same signature on both channels: what threat A4 is about.
    const signature = new URL(location ?? '').searchParams.get('hmac_signature');
    expect(signature).toBe(merchant.received[0]?.headers['hmac-signature']);
  });

  test('the query holds the 16 payload fields flat, with the values of the callback', async () => {
    open();
    const hostile = 'Zoë & Söhne + 100 % \u0000 \ud800 日本';
    const response = await choose(start({ customer_name: hostile }).payment_page_url, 'pay');
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    const payload = merchant.received[0]?.data.payload ?? {};
    expect(Object.keys(payload)).toHaveLength(16);
    for (const [name, value] of Object.entries(payload)) {
      expect(searchParams.get(name)).toBe(String(value).toWellFormed());
    }
    expect(verify(response.headers.get('location')).ok).toBe(true);
  });

  test('decline: FAILED by callback and redirect, and no balance changes', async () => {
    open();
    const response = await choose(start().payment_page_url, 'decline');
    expect(verify(response.headers.get('location'))).toMatchObject({
      signed: { transaction_status: 'FAILED' },
    });
    expect(merchant.received[0]?.data.event).toBe('transaction.failed');
    const { body } = await call(sandbox, 'GET', '/data/wallet-balances?currency=UGX');
    expect(JSON.stringify(body.data)).not.toMatch(/[1-9]/);
  });

  test('pressed twice, or after declining: decided once, with the same redirect', async () => {
    open();
    const { payment_page_url } = start();
    const [first, second] = await Promise.all([
      choose(payment_page_url, 'pay'),
      choose(payment_page_url, 'pay'),
    ]);
    const third = await choose(payment_page_url, 'decline');
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(third.headers.get('location')).toBe(first.headers.get('location'));
    await sandbox.idle();
    expect(merchant.received).toHaveLength(1);
    const text = await (await visit(payment_page_url)).text();
    expect(text).toContain('COMPLETED');
    expect(text).not.toContain('<button');
  });

  test('an unknown choice decides nothing', async () => {
    open();
    const { payment_page_url, transaction } = start();
    expect((await choose(payment_page_url, 'steal')).status).toBe(400);
    const { body } = await call(sandbox, 'GET', `/sandbox/transactions/${transaction.id}`);
    expect(body.data['transaction']).toMatchObject({ transaction_status: 'PENDING' });
  });

  test('without a redirect address the customer stays on the page', async () => {
    open();
    const { payment_page_url } = sandbox.collect({ ...collection, mode: 'page' });
    const response = await choose(payment_page_url, 'pay');
    expect(response.status).toBe(303);
    expect(payment_page_url).toMatch(new RegExp(`${response.headers.get('location')}$`));
  });

  test.each([
    [2000, {}],
    [700, { redirect_lead_ms: 700 }],
  ])('redirect before callback: the callback is sent %i ms later', async (lead, given) => {
    open();
    const misbehave = { redirect_first: true, ...given };
    const response = await choose(start({ misbehave }).payment_page_url, 'pay');
    expect(response.status).toBe(303);
    expect(clock.sleeping()).toEqual([lead]);
    clock.move(lead - 1);
    expect(merchant.received).toHaveLength(0);
    clock.move(1);
    await sandbox.idle();
    expect(merchant.received).toHaveLength(1);
  });

  test('a late callback does not keep the customer waiting', async () => {
    open();
    const response = await choose(start({ misbehave: { late_ms: 60_000 } }).payment_page_url, 'pay');
    expect(response.status).toBe(303);
    expect(merchant.received).toHaveLength(0);
  });

  test('a receiver that stalls keeps the customer waiting for five seconds at most', async () => {
    open({ deliveryTimeoutMs: 60_000 });
    let answer: (() => void) | undefined;
    merchant.answer = (response) => {
      answer = () => response.end();
    };
    const paying = choose(start().payment_page_url, 'pay');
    while (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(clock.sleeping()).toEqual([5000]);
    clock.move(5000);
    expect((await paying).status).toBe(303);
    answer();
  });

  test('a decision over the API returns the redirect in its answer', async () => {
    open();
    const { transaction } = start();
    const { redirect_location } = sandbox.decide(transaction.id, 'completed');
    expect(verify(redirect_location)).toMatchObject({ ok: true });
  });
});
