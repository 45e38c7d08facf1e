import { describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { createSandbox } from '../src/index.ts';
import { type Answer, call, listOf, payout } from './support/api.ts';
import { callbackProblems, responseProblems } from './support/contract.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({ seed: 'contract' });
const { publicKey, secretKey } = createSandbox({ seed: 'contract' }).account;
const publicOnly = { 'public-key': publicKey };
const both = { ...publicOnly, 'secret-key': secretKey };

async function get(path: string, headers: Record<string, string> = both): Promise<Answer> {
  const answer = await call(stage.sandbox, 'GET', path, undefined, { 'x-api-version': '1', ...headers });
  expect(problemsOf(path, answer)).toEqual([]);
  return answer;
}

function problemsOf(path: string, { status, headers, body }: Answer): string[] {
  const [route = ''] = path.split('?');
  return responseProblems(route, status, headers.get('content-type') ?? '', body);
}

describe('every answer of the three endpoints conforms to the contract', () => {
  test('GET /data/payout-bank-codes without provider_code', async () => {
    const { body } = await get('/data/payout-bank-codes');
    expect(body).toEqual({ code: 400, status: 'error', message: 'provider_code is required', data: {} });
  });

  test('balances conform while money moves', async () => {
    stage.collect({ amount: 4_000_000 });
    stage.collect({ provider_code: 'example_card_usd', currency: 'USD', amount: 19.99 });
    stage.sandbox.transfer({ currency: 'UGX', amount: 1_000_000 });
    stage.sandbox.payout(payout);
    for (const query of ['', '?currency=KES', '?currency=XXX'])
      expect(await get(`/data/wallet-balances${query}`)).toMatchObject({ status: 200 });
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
    await stage.deliver(extra);
    const [received] = stage.merchant.received;
    expect(callbackProblems(received?.data)).toEqual([]);
    expect(received).toMatchObject({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `payment-service-sandbox/${manifest.version}`,
        'hmac-signature': expect.stringMatching(/^t=\d{10},s=[0-9a-f]{64}$/),
      },
    });
  });

  test('a payout to a bank', async () => {
    stage.sandbox.deposit({ currency: 'UGX', amount: 5000 });
    stage.sandbox.transfer({ currency: 'UGX', amount: 5000 });
    const bank = { provider_code: 'example_bank', bank_code: 'EX001', amount: 5000 };
    stage.sandbox.payout({ ...payout, ...bank });
    await stage.sandbox.idle();
    const [received] = stage.merchant.received;
    expect(callbackProblems(received?.data)).toEqual([]);
    expect(received?.data.payload.transaction_type).toBe('PAYOUT');
  });
});

describe('control: the validator', () => {
  const json = 'application/json';
  const right = { code: 200, status: 'success', message: 'm', data: { merchant_wallets: [] } };
  const error = { code: 401, status: 'error', message: 'm', data: {} };
  const { message, ...mute } = error;
  const named = { ...error, code: 400 };
  const problems = (status: number, body: typeof right | object, type = json, path = 'wallet-balances') =>
    responseProblems(`/data/${path}`, status, type, body as typeof right);

  const wallet = { currency: 'UGX', available_balance: '1' };
  test.each<[string, ...Parameters<typeof problems>]>([
    ['a string where a number belongs', 200, { ...right, data: { merchant_wallets: [wallet] } }],
    ['a code that disagrees', 200, { ...right, code: 201 }],
    ['the data of another endpoint', 200, { ...right, data: { payout_banks: [] } }],
    ['another content type', 200, right, 'text/html'],
    ['a success under another status', 500, { ...right, code: 500 }],
    ['an error without its message', 401, mute],
    ['an error with something in data', 400, { ...named, data: { x: 1 } }, json, 'payout-bank-codes'],
  ])(
    'reports %s, and nothing about a right answer or an error that the contract does not name',
    (_, ...answer) => {
      expect(problems(...answer)).not.toEqual([]);
      expect([...problems(200, right), ...problems(401, error)]).toEqual([]);
    },
  );

  test('reports a callback without a field', () => {
    expect(callbackProblems({ event: 'transaction.completed', payload: { id: 1 } })).not.toEqual([]);
  });
});

describe('the reference data', () => {
  test('providers: mobile money with prefixes in two currencies, bank, card, and one that is inactive', async () => {
    const list = listOf(await get('/data/payment-providers', publicOnly));
    const of = (method: string) => list.filter(({ transaction_method }) => transaction_method === method);
    const mobile = of('MOBILE_MONEY');
    const currencies = new Set(mobile.map(({ transaction_currency }) => transaction_currency));
    expect(currencies).toEqual(new Set(['UGX', 'KES']));
    expect(mobile.filter(({ option_prefixes }) => !Object(option_prefixes).length)).toEqual([]);
    expect(of('BANK').length * of('CARD').length).toBeGreaterThan(0);
    expect(list.filter(({ is_active }) => is_active === false)).toHaveLength(1);
  });

  test.each([
    ['currency=KES&transaction_type=PAYOUT', ['savanna_mobile_money Payout', 'example_bank_ke Payout']],
    // Our choice: the filter is upper case, as in the specification, and nothing else matches.
    ['transaction_type=Collection', []],
    ['currency=EUR', []],
  ])('the filter %s finds these providers in a list in mixed case: %j', async (query, found) => {
    const list = listOf(await get(`/data/payment-providers?${query}`, publicOnly));
    expect(list.map((one) => `${one['provider_code']} ${one['transaction_type']}`)).toEqual(found);
  });

  test('an empty filter finds every provider', async () => {
    expect(listOf(await get('/data/payment-providers?currency=', publicOnly))).toHaveLength(11);
  });

  test.each([
    ['example_bank', ['EX001 true', 'EX002 true', 'EX003 false']],
    ['example_bank_ke', ['EK001 true', 'EK002 true']],
    // Our choice, since the specification is silent: no error for a provider that has no banks or is unknown.
    ['example_mobile_money', []],
    ['unknown', []],
  ])('the provider %s has these banks: %j', async (code, found) => {
    const banks = listOf(await get(`/data/payout-bank-codes?provider_code=${code}`, publicOnly));
    expect(banks.map(({ bank_code, is_active }) => `${bank_code} ${is_active}`)).toEqual(found);
  });

  test('wallets: one of each type for each currency, before any transaction', async () => {
    const empty = { available_balance: 0, actual_balance: 0, uncleared_balance: 0, reserve_balance: 0 };
    expect(await stage.list('/data/wallet-balances?currency=UGX')).toEqual([
      { currency: 'UGX', wallet_type: 'MERCHANT_COLLECTION', ...empty },
      { currency: 'UGX', wallet_type: 'MERCHANT_PAYOUT', ...empty },
    ]);
  });
});

describe('errors are in the envelope, with empty data', () => {
  const [providers, banks] = ['/data/payment-providers', '/data/payout-bank-codes'];
  const twice = `${providers}?currency=UGX&currency=KES`;
  const bothWrong = { ...publicOnly, 'secret-key': publicKey };
  test.each([
    ['public-key missing', providers, {}, 401, 'public-key'],
    ['public-key wrong', providers, { 'public-key': 'x' }, 401, 'public-key'],
    ['the secret key as public key', providers, { 'public-key': secretKey }, 401, 'public-key'],
    ['keys come before parameters', banks, {}, 401, 'public-key'],
    ['secret-key missing', '/data/wallet-balances', publicOnly, 401, 'secret-key'],
    ['secret-key wrong', '/data/wallet-balances', bothWrong, 401, 'secret-key'],
    ['provider_code empty', `${banks}?provider_code=`, publicOnly, 400, 'provider_code is required'],
    ['a filter twice', twice, publicOnly, 400, 'currency must be given once'],
    ['another version', providers, { ...publicOnly, 'x-api-version': '2' }, 400, 'x-api-version must be 1'],
    ['unknown path', '/data/nothing', publicOnly, 404, '/data/nothing'],
    ['unknown path', '/payment-providers', publicOnly, 404, '/payment-providers'],
  ] as const)('%s: GET %s', async (_, path, headers, status, says) => {
    const { status: found, body } = await get(path, headers as Record<string, string>);
    expect([found, body.message]).toEqual([status, expect.stringContaining(says)]);
    // No response repeats a key.
    expect(JSON.stringify(body)).not.toContain('SANDBOX');
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('405 for %s', async (method) => {
    for (const path of [providers, banks, '/data/wallet-balances']) {
      const answer = await stage.call(method, path);
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(problemsOf(path, answer)).toEqual([]);
    }
  });

  test('x-api-version may be missing, and the two lists need no secret key', async () => {
    for (const path of [providers, `${banks}?provider_code=example_bank`])
      for (const headers of [publicOnly, { ...publicOnly, 'secret-key': 'x' }])
        expect((await call(stage.sandbox, 'GET', path, undefined, headers)).status).toBe(200);
  });

  test('HEAD is GET without a body', async () => {
    const request = { method: 'HEAD', headers: publicOnly };
    const response = await stage.sandbox.fetch('http://127.0.0.1/data/payment-providers', request);
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
});
