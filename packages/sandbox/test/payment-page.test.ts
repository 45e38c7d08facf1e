import { createVerifier } from '@payment-service/core';
import { beforeEach, expect, test } from 'vitest';
import type { SandboxOptions, StartedCollection } from '../src/index.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage();
let clock: ManualClock;
const reopen = (options: SandboxOptions = {}) => stage.open({ clock, ...options });
beforeEach(() => {
  clock = createManualClock();
  reopen();
});

const start = (change: object = {}): StartedCollection =>
  stage.collect({ redirect_url: 'http://127.0.0.1:3000/return?shop=1#done', ...change });
const visit = (address: string | null, init: RequestInit = {}): Promise<Response> =>
  stage.sandbox.fetch(address ?? 'http://127.0.0.1/missing', { redirect: 'manual', ...init });
const textAt = async ({ payment_page_url }: StartedCollection) => (await visit(payment_page_url)).text();

/** Presses a button of the page, and returns where the customer is redirected. */
async function choose({ payment_page_url }: StartedCollection, choice: string) {
  const body = new URLSearchParams({ choice });
  const { status, headers } = await visit(payment_page_url, { method: 'POST', body });
  return { status, location: headers.get('location') };
}

const verify = (location: string | null) =>
  createVerifier({ signingKey: stage.sandbox.account.signingKey }).verifyRedirect(location ?? '');

test('threat A25: the payment page escapes the values of a request, and may send its form to the shop', async () => {
  const hostile = '"><script>alert(1)</script>';
  const started = start({ customer_name: hostile, merchant_reference: `<b>${hostile}` });
  for (const address of [started.payment_page_url, 'http://127.0.0.1/']) {
    const response = await visit(address);
    const text = await response.text();
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>');
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy?.includes("form-action 'self' http: https:")).toBe(address === started.payment_page_url);
  }
});

test('the payment page has an address that cannot be guessed, and exists only if the customer decides', async () => {
  const { id } = start().transaction;
  const { transaction, payment_page_url } = start({ mode: 'pending' });
  expect(payment_page_url).toBeNull();
  const guesses = [id, `SBX-${id}`, `SBX-${id}-AAAAAAAAAA`, 'x', transaction.internal_reference];
  for (const guess of guesses)
    expect((await visit(`http://127.0.0.1/sandbox/pay/${guess}`)).status).toBe(404);
});

test('pay: the callback is sent first, then 303 to the merchant with a query that core verifies', async () => {
  const hostile = 'Zoë & Söhne + 100 % \u0000 \ud800 日本';
  const started = start({ customer_name: hostile });
  expect(started.redirect_location).toBeNull();
  const { status, location } = await choose(started, 'pay');
  expect(status).toBe(303);
  expect(stage.payloads()).toMatchObject([{ transaction_status: 'COMPLETED' }]);
  expect(location).toMatch(
    /^http:\/\/127\.0\.0\.1:3000\/return\?shop=1&event=transaction\.completed&id=\d+&.*#done$/,
  );
  const signed = { merchant_reference: 'ORD-1', transaction_status: 'COMPLETED' };
  expect(verify(location)).toMatchObject({ ok: true, signed });
  const { searchParams } = new URL(location ?? '');
  for (const [name, value] of Object.entries(stage.payloads()[0] ?? {}))
    expect(searchParams.get(name)).toBe(String(value).toWellFormed());
  // The same signature on both channels, as in threat A4.
  expect(searchParams.get('hmac_signature')).toBe(stage.merchant.received[0]?.headers['hmac-signature']);
});

test('decline: FAILED by callback and redirect, and no balance changes', async () => {
  const { location } = await choose(start(), 'decline');
  expect(verify(location)).toMatchObject({ signed: { transaction_status: 'FAILED' } });
  expect(stage.merchant.received[0]?.data.event).toBe('transaction.failed');
  const wallets = await stage.list('/data/wallet-balances?currency=UGX');
  expect(JSON.stringify(wallets)).not.toMatch(/[1-9]/);
});

test('a button pressed twice, or after declining: decided once, with the same redirect', async () => {
  const started = start();
  const both = await Promise.all([choose(started, 'pay'), choose(started, 'pay')]);
  const { location } = await choose(started, 'decline');
  expect(both.map((one) => one.location)).toEqual([location, location]);
  await stage.sandbox.idle();
  expect(stage.merchant.received).toHaveLength(1);
  const text = await textAt(started);
  expect(text).toContain('COMPLETED');
  expect(text).not.toContain('<button');
});

test('an unknown choice decides nothing, and without a redirect address the customer stays on the page', async () => {
  const started = stage.collect({ mode: 'page' });
  expect((await choose(started, 'steal')).status).toBe(400);
  expect(await stage.list('/sandbox/transactions')).toMatchObject([{ transaction_status: 'PENDING' }]);
  const { status, location } = await choose(started, 'pay');
  expect([status, started.payment_page_url]).toEqual([303, `http://127.0.0.1${location}`]);
});

test.each([
  [2000, { redirect_first: true }],
  [700, { redirect_first: true, redirect_lead_ms: 700 }],
  [60_000, { late_ms: 60_000 }],
])('the customer does not wait for a callback that is sent %i ms later: %j', async (lead, misbehave) => {
  expect((await choose(start({ misbehave }), 'pay')).status).toBe(303);
  expect(clock.sleeping()).toEqual([lead]);
  clock.move(lead - 1);
  expect(stage.merchant.received).toHaveLength(0);
  clock.move(1);
  await stage.sandbox.idle();
  expect(stage.merchant.received).toHaveLength(1);
});

test('a receiver that stalls keeps the customer waiting for five seconds at most', async () => {
  reopen({ deliveryTimeoutMs: 60_000 });
  let answer: (() => void) | undefined;
  stage.merchant.answer = (response) => {
    answer = () => response.end();
  };
  const paying = choose(start(), 'pay');
  await until(() => answer !== undefined);
  expect(clock.sleeping()).toEqual([5000]);
  clock.move(5000);
  expect((await paying).status).toBe(303);
  answer?.();
});
