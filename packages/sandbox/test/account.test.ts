import { expect, test } from 'vitest';
import { defaultProviders } from '../src/index.ts';
import { listOf, payout } from './support/api.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const put = (path: string, body: object) => stage.call('PUT', `/sandbox/${path}`, body);
const post = (path: string, body: object) => stage.call('POST', `/sandbox/${path}`, body);
const settings = async () => (await stage.call('GET', '/sandbox/settings')).body.data;
const INITIAL = { misbehave: {}, retry: {}, api_latency_ms: 0, api_error: null };

test('settings supply the addresses that a request does not name', async () => {
  const redirect_url = 'http://127.0.0.1:3000/return';
  const addresses = { callback_url: stage.merchant.url, redirect_url, order_url: null, inbox_url: null };
  const changed = await put('settings', { callback_url: stage.merchant.url, redirect_url });
  expect(changed.body.data).toEqual({ ...addresses, ...INITIAL });
  // A setting does not turn a collection that is decided immediately into one that waits for a customer on a page.
  const redirect_location = expect.stringContaining(redirect_url);
  expect(stage.collect()).toMatchObject({ payment_page_url: null, redirect_location });
  await put('settings', { callback_url: null, redirect_url: null });
  expect(stage.collect().redirect_location).toBeNull();
  await stage.sandbox.idle();
  expect(stage.merchant.received).toHaveLength(1);
});

test("settings name the merchant's own pages of a transaction, which its page links to", async () => {
  const page = 'http://127.0.0.1:3000/orders/{merchant_reference}';
  await put('settings', { order_url: page, inbox_url: `${page}/inbox` });
  const { transaction } = stage.collect({ merchant_reference: 'ORD 1&2' });
  const text = await stage.show(`/transactions/${transaction.id}`);
  expect(text).toContain('<a href="http://127.0.0.1:3000/orders/ORD%201%262">Order</a>');
  expect(text).toContain('<a href="http://127.0.0.1:3000/orders/ORD%201%262/inbox">Inbox</a>');
  await put('settings', { order_url: null, inbox_url: null });
  expect(await stage.show(`/transactions/${transaction.id}`)).not.toContain('In your program');
});

test.each([
  ['callback_url', 'http://example.com/', 422, 'destination_refused'],
  ['callback_url', '/callbacks', 422, 'destination_refused'],
  ['redirect_url', 'javascript:alert(1)', 400, 'malformed_request'],
  ['order_url', 'javascript:alert(1)//{merchant_reference}', 400, 'malformed_request'],
  ['inbox_url', 'http://127.0.0.1:3000/inbox', 400, 'malformed_request'],
  ['clock_offset', 1, 400, 'malformed_request'],
])('settings refuse %s %j, and stay as they were', async (field, value, status, reason) => {
  const before = await settings();
  const answer = await put('settings', { misbehave: { duplicate: 1 }, [field]: value });
  expect([answer.status, answer.body.data]).toEqual([status, { reason, field }]);
  expect(await settings()).toEqual(before);
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
  stage.collect();
  await post('reset', {});
  expect(await stage.list('/sandbox/transactions')).toEqual([]);
  const wallets = await stage.list('/data/wallet-balances');
  expect(wallets.map(({ actual_balance }) => actual_balance)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(await settings()).toEqual({ ...addresses, ...INITIAL });
  expect(await stage.list('/sandbox/providers')).toEqual(defaultProviders);
});

const of = { transaction_currency: 'UGX', transaction_type: 'COLLECTION' };
const named = { provider_code: 'example_mobile_money', ...of };
const listed = async () =>
  (await stage.list('/data/payment-providers?currency=UGX&transaction_type=COLLECTION'))[0];

test('a change of a provider applies immediately, in /data and for new transactions', async () => {
  const limits = { min_amount: 600, max_amount: 700, max_daily_amount: 1300 };
  const { body } = await put('providers', { ...named, ...limits, is_active: false });
  expect(body.data['provider']).toMatchObject({ option: { ...limits, is_active: false } });
  expect(await listed()).toMatchObject({ ...limits, is_active: false });
  expect(() => stage.collect()).toThrow('Example Mobile Money is not active.');
  await put('providers', { ...named, is_active: true });
  expect(() => stage.collect()).toThrow('accepts UGX\u00a0600 or more');
  stage.collect({ amount: 700 });
  expect(() => stage.collect({ amount: 601 })).toThrow('at most UGX\u00a01,300 a day');
});

test.each([
  [422, { min_amount: 6_000_000 }],
  [422, { min_amount: 0.5 }],
  [404, { transaction_type: 'REFUND' }],
  [404, { transaction_currency: 'KES' }],
  [400, { provider_name: 'x' }],
])('%i: a change of a provider with %j is refused', async (status, change) => {
  expect((await put('providers', { ...named, ...change })).status).toBe(status);
  expect(await listed()).toEqual(defaultProviders[0]?.option);
});

test('a bank that is switched off refuses payouts', async () => {
  const bank = { provider_code: 'example_bank', bank_code: 'EX001' };
  expect((await put('banks', { ...bank, is_active: false })).body.data).toEqual({
    bank: { bank_code: 'EX001', bank_name: 'Example Bank', is_active: false },
  });
  const banks = await stage.list('/data/payout-bank-codes?provider_code=example_bank');
  expect(banks.map(({ is_active }) => is_active)).toEqual([false, true, false]);
  const pay = () => stage.sandbox.payout({ ...payout, ...bank, amount: 5000 });
  expect(pay).toThrow('Example Bank is not active.');
  for (const wrong of [{ bank_code: 'EX009' }, { provider_code: 'example_bank_ke' }])
    expect((await put('banks', { ...bank, ...wrong, is_active: true })).status).toBe(404);
});

test('a deposit is available in the collection wallet immediately (protocol §2.4)', async () => {
  const answer = await post('deposits', { currency: 'KES', amount: 12.5 });
  expect(answer.status).toBe(201);
  const all = { available_balance: 12.5, actual_balance: 12.5, uncleared_balance: 0, reserve_balance: 0 };
  expect(listOf(answer)).toContainEqual({ currency: 'KES', wallet_type: 'MERCHANT_COLLECTION', ...all });
  const entry = { cause: 'deposit', amount: 12.5, free_at: null, transaction_id: null };
  expect(await stage.list('/sandbox/entries?currency=KES')).toMatchObject([entry]);
  expect(await stage.list('/sandbox/entries?currency=UGX')).toEqual([]);
  expect((await post('deposits', { currency: 'XXX', amount: 1 })).status).toBe(422);
});
