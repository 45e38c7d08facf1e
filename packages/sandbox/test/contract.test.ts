import { afterAll, describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { createSandbox } from '../src/index.ts';
import { type Answer, call, collection, keysOf, listOf, payout } from './support/api.ts';
import { callbackProblems, responseProblems } from './support/contract.ts';
import { startMerchant } from './support/merchant.ts';

const merchant = await startMerchant();
const sandbox = createSandbox({ seed: 'contract', callbackUrl: merchant.url });
afterAll(async () => {
  await sandbox.close();
  await merchant.close();
});

async function get(path: string, headers: Record<string, string> = keysOf(sandbox)) {
  const answer = await call(sandbox, 'GET', path, undefined, { 'x-api-version': '1', ...headers });
  return { ...answer, problems: problemsOf(path, answer) };
}

function problemsOf(path: string, { status, headers, body }: Answer): string[] {
  const [route = ''] = path.split('?');
  return responseProblems(route, status, headers.get('content-type') ?? '', body);
}

const publicOnly = { 'public-key': sandbox.account.publicKey };

describe('every answer of the three endpoints conforms to the contract', () => {
  test.each([
    '/data/payment-providers',
    '/data/payment-providers?currency=UGX&transaction_type=COLLECTION',
    '/data/payment-providers?currency=XXX',
    '/data/payout-bank-codes?provider_code=example_bank',
    '/data/payout-bank-codes?provider_code=unknown',
    '/data/wallet-balances',
    '/data/wallet-balances?currency=KES',
    '/data/wallet-balances?currency=XXX',
  ])('GET %s', async (path) => {
    const { status, body, problems } = await get(path);
    expect(problems).toEqual([]);
    expect({ status, code: body.code }).toEqual({ status: 200, code: 200 });
  });

  test('GET /data/payout-bank-codes without provider_code', async () => {
    const { status, body, problems } = await get('/data/payout-bank-codes');
    expect(problems).toEqual([]);
    expect(status).toBe(400);
    expect(body).toEqual({ code: 400, status: 'error', message: 'provider_code is required', data: {} });
  });

  test('balances conform while money moves', async () => {
    sandbox.collect({ ...collection, amount: 4_000_000 });
    sandbox.collect({ ...collection, provider_code: 'example_card_usd', currency: 'USD', amount: 19.99 });
    sandbox.transfer({ currency: 'UGX', amount: 1_000_000 });
    sandbox.payout(payout);
    const { problems } = await get('/data/wallet-balances');
    expect(problems).toEqual([]);
  });
});

describe('every callback conforms to the contract', () => {
  test.each([
    ['completed', { outcome: 'completed' }],
    ['failed', { outcome: 'failed' }],
    ['charge on the customer', { charge_customer: true }],
    ['forged amount', { misbehave: { forged_amount: 1 } }],
    ['bad signature', { misbehave: { bad_signature: true }, retry: { max_attempts: 1 } }],
    ['a hostile name', { customer_name: '\u0000\ud800<script>' }],
  ] as const)('%s', async (_, extra) => {
    const from = merchant.received.length;
    sandbox.collect({ ...collection, ...extra });
    await sandbox.idle();
    const [received] = merchant.received.slice(from);
    expect(callbackProblems(received?.data)).toEqual([]);
    expect(received?.method).toBe('POST');
    expect(received?.headers['content-type']).toBe('application/json');
    expect(received?.headers['user-agent']).toBe(`payment-service-sandbox/${manifest.version}`);
    expect(received?.headers['hmac-signature']).toMatch(/^t=\d{10},s=[0-9a-f]{64}$/);
  });

  test('a payout to a bank', async () => {
    const from = merchant.received.length;
    sandbox.collect({ ...collection, amount: 4_000_000 });
    sandbox.transfer({ currency: 'UGX', amount: 5000 });
    sandbox.payout({ ...payout, provider_code: 'example_bank', bank_code: 'EX001', amount: 5000 });
    await sandbox.idle();
    const data = merchant.received.slice(from).map((one) => one.data);
    expect(data.flatMap(callbackProblems)).toEqual([]);
    expect(data.map(({ payload }) => payload.transaction_type).sort()).toEqual(['COLLECTION', 'PAYOUT']);
  });
});

describe('control: the validator reports a wrong answer', () => {
  const json = 'application/json';
  const right = { code: 200, status: 'success', message: 'm', data: { merchant_wallets: [] } };

  test('accepts the right one', () => {
    expect(responseProblems('/data/wallet-balances', 200, json, right)).toEqual([]);
  });
  test.each([
    [
      'a string where a number belongs',
      { ...right, data: { merchant_wallets: [{ currency: 'UGX', available_balance: '1' }] } },
    ],
    ['a code that disagrees', { ...right, code: 201 }],
    ['another status', { ...right, status: 'error' }],
    ['no list in data', { ...right, data: {} }],
    ['the data of another endpoint', { ...right, data: { payout_banks: [] } }],
  ])('%s', (_, wrong) => {
    expect(responseProblems('/data/wallet-balances', 200, json, wrong)).not.toEqual([]);
  });
  test('an error with something in data', () => {
    const body = { code: 400, status: 'error', message: 'm', data: { reason: 'x' } };
    expect(responseProblems('/data/payout-bank-codes', 400, json, body)).not.toEqual([]);
    expect(responseProblems('/data/payout-bank-codes', 401, json, { ...body, code: 401 })).not.toEqual([]);
  });
  test('another content type, and a success under another status', () => {
    expect(responseProblems('/data/wallet-balances', 200, 'text/html', right)).not.toEqual([]);
    expect(responseProblems('/data/wallet-balances', 500, json, { ...right, code: 500 })).not.toEqual([]);
  });
  test('an error under a status that the contract does not name, without its message', () => {
    const error = { code: 401, status: 'error', message: 'm', data: {} };
    expect(responseProblems('/data/wallet-balances', 401, json, error)).toEqual([]);
    const { message, ...rest } = error;
    expect(responseProblems('/data/wallet-balances', 401, json, rest)).not.toEqual([]);
  });
  test('a callback without a field', () => {
    const { total_credit, ...payload } = { total_credit: 1, id: 1 };
    expect(callbackProblems({ event: 'transaction.completed', payload })).not.toEqual([]);
  });
});

describe('the reference data', () => {
  test('providers: mobile money with prefixes in two currencies, bank, card, and one that is inactive', async () => {
    const list = listOf(await get('/data/payment-providers', publicOnly), 'payment_providers');
    const of = (method: string) => list.filter(({ transaction_method }) => transaction_method === method);
    expect(new Set(of('MOBILE_MONEY').map(({ transaction_currency }) => transaction_currency))).toEqual(
      new Set(['UGX', 'KES']),
    );
    expect(
      of('MOBILE_MONEY').every(
        ({ option_prefixes }) => Array.isArray(option_prefixes) && option_prefixes.length > 0,
      ),
    ).toBe(true);
    expect(of('BANK').length).toBeGreaterThan(0);
    expect(of('CARD').length).toBeGreaterThan(0);
    expect(list.filter(({ is_active }) => is_active === false)).toHaveLength(1);
  });

  test('filters: currency, and transaction_type in upper case against a list in mixed case', async () => {
    const codes = async (query: string) => {
      const list = listOf(await get(`/data/payment-providers?${query}`, publicOnly), 'payment_providers');
      return list.map(
        (one) => `${one['provider_code']} ${one['transaction_type']} ${one['transaction_currency']}`,
      );
    };
    expect(await codes('currency=KES&transaction_type=COLLECTION')).toEqual([
      'savanna_mobile_money Collection KES',
      'rift_mobile_money Collection KES',
    ]);
    expect(await codes('currency=KES&transaction_type=PAYOUT')).toEqual([
      'savanna_mobile_money Payout KES',
      'example_bank_ke Payout KES',
    ]);
    // Our choice: the filter is upper case, as the specification shows it, and nothing else matches.
    expect(await codes('transaction_type=Collection')).toEqual([]);
    expect(await codes('currency=EUR')).toEqual([]);
    expect(await codes('currency=')).toHaveLength(11);
  });

  test('banks belong to one provider, and one is inactive', async () => {
    const banks = async (code: string) => {
      const list = listOf(
        await get(`/data/payout-bank-codes?provider_code=${code}`, publicOnly),
        'payout_banks',
      );
      return list.map(({ bank_code, is_active }) => `${bank_code} ${is_active}`);
    };
    expect(await banks('example_bank')).toEqual(['EX001 true', 'EX002 true', 'EX003 false']);
    expect(await banks('example_bank_ke')).toEqual(['EK001 true', 'EK002 true']);
    // Our choice where the specification is silent: no error for a provider without banks, or unknown.
    expect(await banks('example_mobile_money')).toEqual([]);
    expect(await banks('unknown')).toEqual([]);
  });

  test('wallets: one of each type for each currency, before any transaction', async () => {
    const fresh = createSandbox();
    const { body } = await call(fresh, 'GET', '/data/wallet-balances?currency=UGX');
    const empty = { available_balance: 0, actual_balance: 0, uncleared_balance: 0, reserve_balance: 0 };
    expect(body.data['merchant_wallets']).toEqual([
      { currency: 'UGX', wallet_type: 'MERCHANT_COLLECTION', ...empty },
      { currency: 'UGX', wallet_type: 'MERCHANT_PAYOUT', ...empty },
    ]);
    await fresh.close();
  });
});

describe('errors are in the envelope, with empty data', () => {
  const { publicKey, secretKey } = sandbox.account;
  test.each([
    ['public-key missing', '/data/payment-providers', {}, 401, 'public-key'],
    ['public-key wrong', '/data/payment-providers', { 'public-key': 'x' }, 401, 'public-key'],
    [
      'the secret key as public key',
      '/data/payout-bank-codes?provider_code=x',
      { 'public-key': secretKey },
      401,
      'public-key',
    ],
    ['keys come before parameters', '/data/payout-bank-codes', {}, 401, 'public-key'],
    ['secret-key missing', '/data/wallet-balances', { 'public-key': publicKey }, 401, 'secret-key'],
    [
      'secret-key wrong',
      '/data/wallet-balances',
      { 'public-key': publicKey, 'secret-key': publicKey },
      401,
      'secret-key',
    ],
    [
      'provider_code empty',
      '/data/payout-bank-codes?provider_code=',
      { 'public-key': publicKey },
      400,
      'provider_code is required',
    ],
    [
      'a filter given twice',
      '/data/payment-providers?currency=UGX&currency=KES',
      { 'public-key': publicKey },
      400,
      'currency must be given once',
    ],
    [
      'another version',
      '/data/payment-providers',
      { 'public-key': publicKey, 'x-api-version': '2' },
      400,
      'x-api-version must be 1',
    ],
    ['unknown path', '/data/nothing', { 'public-key': publicKey }, 404, '/data/nothing'],
    ['unknown path', '/payment-providers', { 'public-key': publicKey }, 404, '/payment-providers'],
  ] as const)('%s: GET %s', async (_, path, headers, status, says) => {
    const answer = await call(sandbox, 'GET', path, undefined, headers);
    expect(answer.status).toBe(status);
    expect(problemsOf(path, answer)).toEqual([]);
    expect(answer.body.message).toContain(says);
    expect(answer.headers.get('content-type')).toContain('application/json');
    // No answer repeats a key.
    expect(JSON.stringify(answer.body)).not.toContain('SANDBOX');
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('405 for %s', async (method) => {
    for (const path of ['payment-providers', 'payout-bank-codes', 'wallet-balances']) {
      const answer = await call(sandbox, method, `/data/${path}`);
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('GET, HEAD');
      expect(problemsOf(`/data/${path}`, answer)).toEqual([]);
    }
  });

  test('x-api-version may be missing, and the two lists take no secret key', async () => {
    for (const path of ['/data/payment-providers', '/data/payout-bank-codes?provider_code=example_bank']) {
      expect((await call(sandbox, 'GET', path, undefined, publicOnly)).status).toBe(200);
      expect((await call(sandbox, 'GET', path, undefined, { ...publicOnly, 'secret-key': 'x' })).status).toBe(
        200,
      );
    }
  });

  test('HEAD is GET without a body', async () => {
    const response = await sandbox.fetch('http://127.0.0.1/data/payment-providers', {
      method: 'HEAD',
      headers: publicOnly,
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});
