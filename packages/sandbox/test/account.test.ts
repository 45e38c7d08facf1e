import { beforeEach, describe, expect, test } from 'vitest';
import { defaultProviders, type Sandbox } from '../src/index.ts';
import { call, collection, listOf, payout } from './support/api.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
let sandbox: Sandbox;
beforeEach(() => {
  sandbox = stage.open();
});

const put = (path: string, body: object) => call(sandbox, 'PUT', `/sandbox/${path}`, body);
const post = (path: string, body: object) => call(sandbox, 'POST', `/sandbox/${path}`, body);

describe('settings', () => {
  test('supply the addresses that a request does not name', async () => {
    const redirect_url = 'http://127.0.0.1:3000/return';
    expect((await put('settings', { callback_url: stage.merchant.url, redirect_url })).body.data).toEqual({
      callback_url: stage.merchant.url,
      redirect_url,
      order_url: null,
      inbox_url: null,
      misbehave: {},
      retry: {},
      api_latency_ms: 0,
      api_error: null,
    });
    const direct = sandbox.collect(collection);
    await sandbox.idle();
    expect(stage.merchant.received).toHaveLength(1);
    // A setting does not turn a collection that is decided immediately into a page that waits for a customer.
    expect(direct).toMatchObject({
      payment_page_url: null,
      redirect_location: expect.stringContaining(redirect_url),
    });
    const own = sandbox.collect({ ...collection, redirect_url: 'http://127.0.0.1:3000/own', mode: 'direct' });
    expect(own.redirect_location).toContain('/own?');
    await put('settings', { callback_url: null, redirect_url: null });
    expect(sandbox.collect(collection).redirect_location).toBeNull();
    await sandbox.idle();
    expect(stage.merchant.received).toHaveLength(2);
  });

  test("name the merchant's own pages of a transaction, which its page links to", async () => {
    const page = 'http://127.0.0.1:3000/orders/{merchant_reference}';
    await put('settings', { order_url: page, inbox_url: `${page}/inbox` });
    const { transaction } = sandbox.collect({ ...collection, merchant_reference: 'ORD 1&2' });
    const response = await sandbox.fetch(`http://127.0.0.1/transactions/${transaction.id}`);
    const text = await response.text();
    expect(text).toContain('<a href="http://127.0.0.1:3000/orders/ORD%201%262">Order</a>');
    expect(text).toContain('<a href="http://127.0.0.1:3000/orders/ORD%201%262/inbox">Inbox</a>');
    await put('settings', { order_url: null, inbox_url: null });
    const without = await sandbox.fetch(`http://127.0.0.1/transactions/${transaction.id}`);
    expect(await without.text()).not.toContain('In your program');
  });

  test.each([
    ['callback_url', 'http://example.com/', 422, 'destination_refused'],
    ['callback_url', '/callbacks', 422, 'destination_refused'],
    ['redirect_url', 'javascript:alert(1)', 400, 'malformed_request'],
    ['redirect_url', 'http://127.0.0.1/?event=x', 400, 'malformed_request'],
    ['order_url', 'javascript:alert(1)//{merchant_reference}', 400, 'malformed_request'],
    ['inbox_url', 'http://127.0.0.1:3000/inbox', 400, 'malformed_request'],
    ['clock_offset', 1, 400, 'malformed_request'],
  ])('refuse %s %j, and stay as they were', async (field, value, status, reason) => {
    const before = (await call(sandbox, 'GET', '/sandbox/settings')).body.data;
    const answer = await put('settings', { misbehave: { duplicate: 1 }, [field]: value });
    expect([answer.status, answer.body.data]).toEqual([status, { reason, field }]);
    expect((await call(sandbox, 'GET', '/sandbox/settings')).body.data).toEqual(before);
  });

  test('a reset keeps only the keys and the addresses', async () => {
    const addresses = {
      callback_url: stage.merchant.url,
      redirect_url: 'http://127.0.0.1:3000/return',
      order_url: 'http://127.0.0.1:3000/orders/{merchant_reference}',
      inbox_url: null,
    };
    await put('settings', { ...addresses, misbehave: { duplicate: 1 }, retry: { preset: 'none' } });
    await put('banks', { provider_code: 'example_bank', bank_code: 'EX001', is_active: false });
    await post('collections', collection);
    await post('reset', {});
    expect(listOf(await call(sandbox, 'GET', '/sandbox/transactions'), 'transactions')).toEqual([]);
    const wallets = listOf(await call(sandbox, 'GET', '/data/wallet-balances'), 'merchant_wallets');
    expect(wallets.map(({ actual_balance }) => actual_balance)).toEqual([0, 0, 0, 0, 0, 0]);
    const { data } = (await call(sandbox, 'GET', '/sandbox/settings')).body;
    expect(data).toEqual({ ...addresses, misbehave: {}, retry: {}, api_latency_ms: 0, api_error: null });
    expect((await call(sandbox, 'GET', '/sandbox/providers')).body.data).toEqual({
      providers: defaultProviders,
    });
  });
});

describe('providers and banks', () => {
  const named = {
    provider_code: 'example_mobile_money',
    transaction_currency: 'UGX',
    transaction_type: 'COLLECTION',
  };
  const listed = async () =>
    listOf(
      await call(sandbox, 'GET', '/data/payment-providers?currency=UGX&transaction_type=COLLECTION'),
      'payment_providers',
    ).find(({ provider_code }) => provider_code === 'example_mobile_money');

  test('a provider can be switched off, with immediate effect in /data and for new transactions', async () => {
    const { body } = await put('providers', { ...named, is_active: false });
    expect(body.data['provider']).toMatchObject({
      option: { provider_code: 'example_mobile_money', is_active: false },
    });
    expect(await listed()).toMatchObject({ is_active: false });
    expect(() => sandbox.collect(collection)).toThrow('Example Mobile Money is not active.');
    await put('providers', { ...named, is_active: true });
    expect(sandbox.collect(collection).transaction.transaction_status).toBe('COMPLETED');
  });

  test('changed limits apply immediately', async () => {
    await put('providers', { ...named, min_amount: 600, max_amount: 700, max_daily_amount: 1300 });
    expect(await listed()).toMatchObject({ min_amount: 600, max_amount: 700, max_daily_amount: 1300 });
    expect(() => sandbox.collect(collection)).toThrow('accepts UGX\u00a0600 or more');
    sandbox.collect({ ...collection, amount: 700 });
    expect(() => sandbox.collect({ ...collection, amount: 601 })).toThrow('at most UGX\u00a01,300 a day');
  });

  test.each([
    ['limits that contradict', { min_amount: 6_000_000 }, 422],
    ['limits that are not exact', { min_amount: 0.5 }, 422],
    ['another type', { transaction_type: 'REFUND' }, 404],
    ['another currency', { transaction_currency: 'KES' }, 404],
    ['an unknown field', { provider_name: 'x' }, 400],
  ])('refuses %s', async (_, change, status) => {
    expect((await put('providers', { ...named, ...change })).status).toBe(status);
    expect(await listed()).toEqual(defaultProviders[0]?.option);
  });

  test('a bank that is switched off refuses payouts', async () => {
    const bank = { provider_code: 'example_bank', bank_code: 'EX001' };
    expect((await put('banks', { ...bank, is_active: false })).body.data).toEqual({
      bank: { bank_code: 'EX001', bank_name: 'Example Bank', is_active: false },
    });
    const banks = await call(sandbox, 'GET', '/data/payout-bank-codes?provider_code=example_bank');
    expect(listOf(banks, 'payout_banks').map(({ is_active }) => is_active)).toEqual([false, true, false]);
    const request = { ...payout, provider_code: 'example_bank', bank_code: 'EX001', amount: 5000 };
    sandbox.deposit({ currency: 'UGX', amount: 5000 });
    sandbox.transfer({ currency: 'UGX', amount: 5000 });
    expect(() => sandbox.payout(request)).toThrow('Example Bank is not active.');
    expect((await put('banks', { ...bank, bank_code: 'EX009', is_active: true })).status).toBe(404);
  });
});

describe('a deposit', () => {
  test('is available in the collection wallet immediately (protocol §2.4)', async () => {
    const answer = await post('deposits', { currency: 'KES', amount: 12.5 });
    expect(answer.status).toBe(201);
    expect(listOf(answer, 'merchant_wallets')).toContainEqual({
      currency: 'KES',
      wallet_type: 'MERCHANT_COLLECTION',
      available_balance: 12.5,
      actual_balance: 12.5,
      uncleared_balance: 0,
      reserve_balance: 0,
    });
    const entries = listOf(await call(sandbox, 'GET', '/sandbox/entries?currency=KES'), 'entries');
    expect(entries).toMatchObject([{ cause: 'deposit', amount: 12.5, free_at: null, transaction_id: null }]);
    expect(listOf(await call(sandbox, 'GET', '/sandbox/entries?currency=UGX'), 'entries')).toEqual([]);
  });

  test.each([
    [{ currency: 'KES', amount: 0.001 }, 400],
    [{ currency: 'KES', amount: -1 }, 400],
    [{ currency: 'EUR', amount: 1 }, 422],
  ])('%j is refused', async (request, status) => {
    expect((await post('deposits', request)).status).toBe(status);
    expect(() => sandbox.deposit(request)).toThrow();
  });
});
