import { afterAll, describe, expect, test } from 'vitest';
import { createSandbox } from '../src/index.ts';
import { call, collection, keysOf, listOf, payout } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';

const clock = createManualClock();
const sandbox = createSandbox({ seed: 'collections', clock });
afterAll(() => sandbox.close());

const post = (path: string, body: unknown) => call(sandbox, 'POST', path, body);
const refusalOf = async (path: string, body: unknown) => {
  const { status, body: envelope } = await post(path, body);
  expect(envelope).toMatchObject({ code: status, status: 'error' });
  return [status, envelope.data['reason'], envelope.data['field'], envelope.message];
};

describe('POST /sandbox/collections', () => {
  test('answers 201 with the transaction, decided immediately without a redirect address', async () => {
    const { status, body } = await post('/sandbox/collections', collection);
    expect(status).toBe(201);
    expect(body).toMatchObject({ code: 201, status: 'success' });
    expect(body.data['payment_page_url']).toBeNull();
    expect(body.data['transaction']).toMatchObject({
      merchant_reference: 'ORD-1',
      internal_reference: expect.stringMatching(/^SBX-\d+-[A-Za-z0-9]{10}$/),
      transaction_type: 'COLLECTION',
      transaction_status: 'COMPLETED',
      provider_code: 'example_mobile_money',
      customer_name: 'Sandbox Customer',
      charge_customer: false,
      mode: 'direct',
      callback_url: null,
      created_at: '2026-01-02T03:04:05.000Z',
      decided_at: '2026-01-02T03:04:05.000Z',
    });
  });

  test('a pending collection is decided once, later', async () => {
    const { body } = await post('/sandbox/collections', { ...collection, mode: 'pending' });
    const id = Object(body.data['transaction']).id;
    const decide = (outcome: string) => post(`/sandbox/transactions/${id}/outcome`, { outcome });
    expect((await decide('maybe')).status).toBe(400);
    expect((await decide('failed')).body.data['transaction']).toMatchObject({ transaction_status: 'FAILED' });
    const again = await decide('completed');
    expect(again.status).toBe(409);
    expect(again.body.data).toEqual({ reason: 'already_decided' });
  });

  test.each([
    ['a string as amount', { amount: '500' }, 'amount'],
    ['no amount', { amount: undefined }, 'amount'],
    ['nothing', { amount: 0 }, 'amount'],
    ['a negative amount', { amount: -500 }, 'amount'],
    ['half a shilling of a currency without decimals', { amount: 500.5 }, 'amount'],
    ['an empty reference', { merchant_reference: '' }, 'merchant_reference'],
    ["threat A3: ':' in the reference", { merchant_reference: 'ORD:1' }, 'merchant_reference'],
    [
      'threat A8: half a surrogate pair in the reference',
      { merchant_reference: 'ORD-\ud800' },
      'merchant_reference',
    ],
    ['a field that is not known', { callbackUrl: 'http://127.0.0.1/' }, 'callbackUrl'],
    ['an unknown mode', { mode: 'later' }, 'mode'],
    ['an unknown misbehaviour', { misbehave: { explode: true } }, 'misbehave.explode'],
    ['an unknown retry preset', { retry: { preset: 'never' } }, 'retry.preset'],
    ['a wrong status class', { retry: { accepted: ['6xx'] } }, 'retry.accepted.0'],
    ['a forged amount that is not exact', { misbehave: { forged_amount: 0.5 } }, 'misbehave.forged_amount'],
    ['a redirect to a script', { redirect_url: 'javascript:alert(1)' }, 'redirect_url'],
    ['a redirect that names a signed field', { redirect_url: 'http://127.0.0.1/?event=x' }, 'redirect_url'],
    ['a redirect that names an unsigned field', { redirect_url: 'http://127.0.0.1/?id=7' }, 'redirect_url'],
  ])('400 for %s', async (_, change, field) => {
    const [status, reason, blamed, message] = await refusalOf('/sandbox/collections', {
      ...collection,
      ...change,
    });
    expect([status, reason, blamed]).toEqual([400, 'malformed_request', field]);
    expect(message).toMatch(/^[\w.]+: |^A callback for this merchant reference /);
  });

  test.each([
    ['unknown provider', { provider_code: 'nobody' }, 'unknown_provider', 'provider_code'],
    [
      'a payout provider',
      { provider_code: 'example_bank_ke', currency: 'KES' },
      'unknown_provider',
      'provider_code',
    ],
    [
      'an inactive provider',
      { provider_code: 'rift_mobile_money', currency: 'KES', account: '254730000001' },
      'provider_inactive',
      'provider_code',
    ],
    ['another currency', { currency: 'KES' }, 'currency_not_served', 'currency'],
    ['an account without its prefix', { account: '256700000001' }, 'account_not_served', 'account'],
    ['less than min_amount', { amount: 499 }, 'amount_too_small', 'amount'],
    ['more than max_amount', { amount: 5_000_001 }, 'amount_too_large', 'amount'],
  ])('422 for %s', async (_, change, reason, field) => {
    const refusal = await refusalOf('/sandbox/collections', { ...collection, ...change });
    expect(refusal.slice(0, 3)).toEqual([422, reason, field]);
  });

  test('takes exactly min_amount and exactly max_amount', async () => {
    expect((await post('/sandbox/collections', { ...collection, amount: 500 })).status).toBe(201);
    expect((await post('/sandbox/collections', { ...collection, amount: 5_000_000 })).status).toBe(201);
  });

  test("':' in a reference is allowed where the verifier's colonIn allows it", async () => {
    const other = createSandbox({ colonIn: 'merchant_reference' });
    expect(
      (await call(other, 'POST', '/sandbox/collections', { ...collection, merchant_reference: 'A:1' }))
        .status,
    ).toBe(201);
    await other.close();
  });
});

describe('max_daily_amount', () => {
  test('counts by the day of the sandbox clock, pending collections included, and releases what failed', async () => {
    const time = createManualClock(Date.UTC(2026, 0, 2, 23));
    const other = createSandbox({ clock: time });
    const request = { ...collection, provider_code: 'lake_mobile_money', account: '256700000001' };
    const status = async (amount: number, mode = 'direct') =>
      (await call(other, 'POST', '/sandbox/collections', { ...request, amount, mode })).status;
    // 8 000 000 a day, 2 000 000 each.
    for (const mode of ['direct', 'direct', 'direct', 'pending'])
      expect(await status(2_000_000, mode)).toBe(201);
    const over = await call(other, 'POST', '/sandbox/collections', { ...request, amount: 1000 });
    expect(over.body.data).toEqual({ reason: 'daily_limit_reached', field: 'amount' });
    // Another provider has a limit of its own.
    expect((await call(other, 'POST', '/sandbox/collections', collection)).status).toBe(201);
    const pending = listOf(
      await call(other, 'GET', '/sandbox/transactions?transaction_status=PENDING'),
      'transactions',
    );
    other.decide(Number(pending[0]?.['id']), 'failed');
    expect(await status(2_000_000)).toBe(201);
    expect(await status(1000)).toBe(422);
    other.advance(3600);
    expect(await status(2_000_000)).toBe(201);
    await other.close();
  });
});

describe('POST /sandbox/payouts and /sandbox/transfers', () => {
  test('bank payouts need the code of an active bank of that provider', async () => {
    const bank = { ...payout, provider_code: 'example_bank', amount: 5000 };
    const reason = async (change: object) =>
      (await refusalOf('/sandbox/payouts', { ...bank, ...change })).slice(0, 3);
    expect(await reason({})).toEqual([422, 'unknown_bank', 'bank_code']);
    expect(await reason({ bank_code: 'EK001' })).toEqual([422, 'unknown_bank', 'bank_code']);
    expect(await reason({ bank_code: 'EX003' })).toEqual([422, 'bank_inactive', 'bank_code']);
    expect(await reason({ bank_code: 'EX001', amount: 50_000_000 })).toEqual([
      422,
      'insufficient_balance',
      'amount',
    ]);
    const mobile = await refusalOf('/sandbox/payouts', { ...payout, bank_code: 'EX001' });
    expect(mobile.slice(0, 3)).toEqual([422, 'unknown_bank', 'bank_code']);
  });

  test('transfers move exact amounts, and are listed', async () => {
    expect((await refusalOf('/sandbox/transfers', { currency: 'UGX', amount: 0.5 }))[0]).toBe(400);
    expect((await refusalOf('/sandbox/transfers', { currency: 'shillings', amount: 5 }))[0]).toBe(400);
    const { status, body } = await post('/sandbox/transfers', { currency: 'UGX', amount: 7000 });
    expect(status).toBe(201);
    expect(body.data['transfer']).toMatchObject({ currency: 'UGX', amount: 7000 });
    const list = listOf(await call(sandbox, 'GET', '/sandbox/transfers'), 'transfers');
    expect(list).toEqual([body.data['transfer']]);
  });

  test('a payout moves the payout wallet by exactly its amount, without a charge', async () => {
    const { body } = await post('/sandbox/payouts', payout);
    expect(body.data['transaction']).toMatchObject({
      transaction_type: 'PAYOUT',
      transaction_status: 'COMPLETED',
      transaction_amount: 1000,
      transaction_charge: 0,
      total_credit: 1000,
    });
    const [, wallet] = listOf(
      await call(sandbox, 'GET', '/data/wallet-balances?currency=UGX'),
      'merchant_wallets',
    );
    expect(wallet?.['available_balance']).toBe(6000);
  });
});

describe('the simulation is separate from the contract', () => {
  const paths = ['collections', 'payouts', 'transfers', 'clearing', 'clock', 'reset', 'deliveries/release'];

  test.each(paths)('POST /sandbox/%s needs both keys', async (path) => {
    const { publicKey, secretKey } = sandbox.account;
    for (const headers of [
      {},
      { 'public-key': publicKey },
      { 'secret-key': secretKey },
      { 'public-key': publicKey, 'secret-key': 'x' },
    ]) {
      const answer = await call(sandbox, 'POST', `/sandbox/${path}`, {}, headers as Record<string, string>);
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ code: 401, status: 'error', data: {} });
    }
  });

  test('lists transactions, the newest first, by reference and status', async () => {
    sandbox.collect({ ...collection, merchant_reference: 'LIST-1' });
    sandbox.collect({ ...collection, merchant_reference: 'LIST-1', outcome: 'failed' });
    const list = async (query: string) =>
      listOf(await call(sandbox, 'GET', `/sandbox/transactions?${query}`), 'transactions').map(
        (one) => `${one['merchant_reference']} ${one['transaction_status']}`,
      );
    expect(await list('merchant_reference=LIST-1')).toEqual(['LIST-1 FAILED', 'LIST-1 COMPLETED']);
    expect(await list('merchant_reference=LIST-1&transaction_status=FAILED')).toEqual(['LIST-1 FAILED']);
  });

  test('unknown paths, wrong methods and bodies that are not JSON are refused', async () => {
    expect((await call(sandbox, 'GET', '/sandbox/transactions/9')).status).toBe(404);
    expect((await call(sandbox, 'GET', '/sandbox/transactions/x')).status).toBe(404);
    expect((await call(sandbox, 'GET', '/sandbox/nothing')).status).toBe(404);
    const wrong = await call(sandbox, 'GET', '/sandbox/collections');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    const send = async (body: string, type = 'application/json') => {
      const headers = { ...keysOf(sandbox), 'content-type': type };
      const response = await sandbox.fetch('http://127.0.0.1/sandbox/collections', {
        method: 'POST',
        headers,
        body,
      });
      return [response.status, JSON.parse(await response.text()).message];
    };
    expect(await send('{')).toEqual([400, 'The body is not valid JSON.']);
    expect(await send('[]')).toEqual([400, 'The body: Invalid input: expected object, received array']);
    expect(await send('a=b', 'text/plain')).toEqual([
      400,
      'The body must be JSON (content-type: application/json).',
    ]);
    expect((await send(`"${'x'.repeat(70_000)}"`))[0]).toBe(413);
  });

  test('the clock can be read and moved', async () => {
    const before = await call(sandbox, 'GET', '/sandbox/clock');
    expect(before.body.data).toEqual({ now: '2026-01-02T03:04:05.000Z', advanced_seconds: 0 });
    const { body } = await post('/sandbox/clock', { advance_seconds: 3600 });
    expect(body.data).toEqual({ now: '2026-01-02T04:04:05.000Z', advanced_seconds: 3600 });
    expect((await post('/sandbox/clock', { advance_seconds: -1 })).status).toBe(400);
  });
});
