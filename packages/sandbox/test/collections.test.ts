import { expect, test } from 'vitest';
import { call, collection, keysOf, payout } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
const open = (start?: number) => stage.open({ callbackUrl: undefined, clock: createManualClock(start) });
const post = (path: string, body: object) => stage.call('POST', `/sandbox/${path}`, body);
const MALFORMED = 'malformed_request';
const KES = { currency: 'KES' };

test('POST /sandbox/collections answers 201 with the transaction, decided immediately without a redirect address', async () => {
  open();
  const { status, body } = await post('collections', collection);
  expect(body).toMatchObject({ code: status, status: 'success', data: { payment_page_url: null } });
  expect(status).toBe(201);
  expect(body.data['transaction']).toMatchObject({
    internal_reference: expect.stringMatching(/^SBX-\d+-[A-Za-z0-9]{10}$/),
    transaction_status: 'COMPLETED',
    decided_at: '2026-01-02T03:04:05.000Z',
  });
});

test('a pending collection is decided once, later', async () => {
  open();
  stage.collect({ mode: 'pending' });
  const decide = (outcome: string) => post('transactions/1001/outcome', { outcome });
  expect((await decide('maybe')).status).toBe(400);
  expect((await decide('failed')).body.data['transaction']).toMatchObject({ transaction_status: 'FAILED' });
  const again = await decide('completed');
  expect([again.status, again.body.data]).toEqual([409, { reason: 'already_decided' }]);
});

test.each<[named: string, change: object, field: string, reason?: string]>([
  ['a string as amount', { amount: '500' }, 'amount'],
  ['half a shilling of a currency without decimals', { amount: 500.5 }, 'amount'],
  ["threat A3: ':' in the reference", { merchant_reference: 'ORD:1' }, 'merchant_reference'],
  ['threat A8: half a surrogate pair', { merchant_reference: 'ORD-\ud800' }, 'merchant_reference'],
  ['a field that is not known', { callbackUrl: 'http://127.0.0.1/' }, 'callbackUrl'],
  ['an unknown mode', { mode: 'later' }, 'mode'],
  ['an unknown misbehaviour', { misbehave: { explode: true } }, 'misbehave.explode'],
  ['an unknown retry preset', { retry: { preset: 'never' } }, 'retry.preset'],
  ['a forged amount that is not exact', { misbehave: { forged_amount: 0.5 } }, 'misbehave.forged_amount'],
  ['a redirect to a script', { redirect_url: 'javascript:alert(1)' }, 'redirect_url'],
  ['a redirect that names a signed field', { redirect_url: 'http://127.0.0.1/?event=x' }, 'redirect_url'],
  ['a provider', { provider_code: 'nothing' }, 'provider_code', 'unknown_provider'],
  ['a provider', { provider_code: 'rift_mobile_money', ...KES }, 'provider_code', 'provider_inactive'],
  ['a currency', KES, 'currency', 'currency_not_served'],
  ['an account', { account: '256700000001' }, 'account', 'account_not_served'],
  ['one less than min_amount', { amount: 499 }, 'amount', 'amount_too_small'],
  ['one more than max_amount', { amount: 5_000_001 }, 'amount', 'amount_too_large'],
])(
  'POST /sandbox/collections refuses %s: %j, and names the field %s; %s',
  async (_, change, field, reason = MALFORMED) => {
    open();
    const { status, body } = await post('collections', { ...collection, ...change });
    expect(body).toMatchObject({ code: status, status: 'error', data: { reason, field } });
    expect(status).toBe(reason === MALFORMED ? 400 : 422);
    if (reason === MALFORMED)
      expect(body.message).toMatch(/^[\w.]+: |^A callback for this merchant reference /);
  },
);

test("POST /sandbox/collections accepts exactly min_amount and exactly max_amount, and ':' in a reference where the verifier's colonIn allows it", () => {
  stage.open({ callbackUrl: undefined, colonIn: 'merchant_reference' });
  for (const change of [{ amount: 500 }, { amount: 5_000_000 }, { merchant_reference: 'A:1' }])
    expect(stage.collect(change).transaction.transaction_status).toBe('COMPLETED');
});

test('card: a tenth of the credit is held in the rolling reserve for ninety days, the rest clears after two', async () => {
  open();
  // 101.30 USD: charge 3.5 % = 3.5455, credit 97.75, reserve 9.775: both are rounded half up.
  stage.collect({ currency: 'USD', provider_code: 'example_card_usd', amount: 101.3 });
  for (const [seconds, available_balance, uncleared_balance, reserve_balance] of [
    [0, 0, 87.97, 9.78],
    [2 * 86_400 - 1, 0, 87.97, 9.78],
    [1, 87.97, 0, 9.78],
    [88 * 86_400, 97.75, 0, 0],
  ] as const) {
    stage.sandbox.advance(seconds);
    const [wallet] = await stage.list('/data/wallet-balances?currency=USD');
    expect(wallet).toMatchObject({ available_balance, uncleared_balance, reserve_balance });
  }
});

test('max_daily_amount counts by the day of the sandbox clock, pending collections included, and releases what failed', async () => {
  open(Date.UTC(2026, 0, 2, 23));
  const request = { ...collection, provider_code: 'lake_mobile_money', account: '256700000001' };
  const reason = async (amount: number, mode = 'direct') =>
    (await post('collections', { ...request, amount, mode })).body.data['reason'];
  // 8 000 000 a day, 2 000 000 each.
  for (const mode of ['pending', 'direct', 'direct', 'direct'])
    expect(await reason(2_000_000, mode)).toBeUndefined();
  expect(await reason(1000)).toBe('daily_limit_reached');
  stage.sandbox.decide(1001, 'failed');
  expect(await reason(2_000_000)).toBeUndefined();
  expect(await reason(1000)).toBe('daily_limit_reached');
  stage.sandbox.advance(3600);
  expect(await reason(2_000_000)).toBeUndefined();
});

test.each([
  ['unknown_bank', 'bank_code', { provider_code: 'example_bank' }],
  ['unknown_bank', 'bank_code', { provider_code: 'example_bank', bank_code: 'EK001' }],
  ['bank_inactive', 'bank_code', { provider_code: 'example_bank', bank_code: 'EX003' }],
  ['insufficient_balance', 'amount', { provider_code: 'example_bank', bank_code: 'EX001' }],
  ['unknown_bank', 'bank_code', { bank_code: 'EX001' }],
])('%s, naming %s, is the refusal of a payout with %j', async (reason, field, change) => {
  open();
  const { status, body } = await post('payouts', { ...payout, amount: 5000, ...change });
  expect([status, body.data]).toEqual([422, { reason, field }]);
});

test('transfers move exact amounts of what is available, and a payout takes exactly its amount, without a charge', async () => {
  open();
  stage.collect({ amount: 10_000 });
  for (const [amount, status, reason] of [
    [0.5, 400, MALFORMED],
    [9701, 422, 'insufficient_balance'],
  ] as const)
    expect(await post('transfers', { currency: 'UGX', amount })).toMatchObject({
      status,
      body: { data: { reason } },
    });
  const { status, body } = await post('transfers', { currency: 'UGX', amount: 9700 });
  expect([status, body.data['transfer']]).toMatchObject([201, { currency: 'UGX', amount: 9700 }]);
  expect(await stage.list('/sandbox/transfers')).toEqual([body.data['transfer']]);
  await post('payouts', payout);
  const [, wallet] = await stage.list('/data/wallet-balances?currency=UGX');
  expect(wallet?.['available_balance']).toBe(8700);
});

const paths = ['collections', 'payouts', 'transfers', 'clock', 'reset', 'deliveries/release'];

test.each(paths)('POST /sandbox/%s needs both keys', async (path) => {
  const { 'public-key': key = '', ...secret } = keysOf(open());
  for (const headers of [{}, { 'public-key': key }, secret, { 'public-key': key, 'secret-key': 'x' }]) {
    const answer = await call(stage.sandbox, 'POST', `/sandbox/${path}`, {}, { ...headers });
    expect(answer).toMatchObject({ status: 401, body: { code: 401, status: 'error', data: {} } });
  }
});

test('the simulation lists transactions, the newest first, by reference and status', async () => {
  open();
  for (const outcome of ['completed', 'failed'] as const)
    stage.collect({ merchant_reference: 'LIST-1', outcome });
  stage.collect();
  const list = async (query: string) =>
    (await stage.list(`/sandbox/transactions?${query}`)).map((one) => one['transaction_status']);
  expect(await list('merchant_reference=LIST-1')).toEqual(['FAILED', 'COMPLETED']);
  expect(await list('merchant_reference=LIST-1&transaction_status=FAILED')).toEqual(['FAILED']);
  expect(await list('limit=1')).toEqual(['COMPLETED']);
  for (const limit of ['0', '1001', '1.5'])
    expect((await stage.call('GET', `/sandbox/transactions?limit=${limit}`)).status).toBe(400);
});

test('unknown paths, wrong methods and bodies that are not JSON are refused', async () => {
  open();
  for (const path of ['transactions/9', 'transactions/x', 'nothing'])
    expect((await stage.call('GET', `/sandbox/${path}`)).status).toBe(404);
  const wrong = await stage.call('GET', '/sandbox/collections');
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  for (const [body, type, message] of [
    ['{', 'application/json', 'The body is not valid JSON.'],
    ['[]', 'application/json', 'The body: must be an object'],
    ['a=b', 'text/plain', 'The body must be JSON (content-type: application/json).'],
  ] as const) {
    const headers = { ...keysOf(stage.sandbox), 'content-type': type };
    const address = 'http://127.0.0.1/sandbox/collections';
    const response = await stage.sandbox.fetch(address, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ code: 400, message });
  }
});

test('the clock can be read and moved', async () => {
  open();
  const { body: before } = await stage.call('GET', '/sandbox/clock');
  expect(before.data).toEqual({ now: '2026-01-02T03:04:05.000Z', advanced_seconds: 0 });
  const { body } = await post('clock', { advance_seconds: 3600 });
  expect(body.data).toEqual({ now: '2026-01-02T04:04:05.000Z', advanced_seconds: 3600 });
  expect((await post('clock', { advance_seconds: -1 })).status).toBe(400);
});
