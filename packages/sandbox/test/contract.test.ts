import { expect, test } from 'vitest';
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

test('balances conform while money moves, and so does the callback of a payout', async () => {
  stage.collect({ amount: 4_000_000 });
  stage.collect({ provider_code: 'example_card_usd', currency: 'USD', amount: 19.99 });
  stage.sandbox.transfer({ currency: 'UGX', amount: 1_000_000 });
  stage.sandbox.payout(payout);
  for (const query of ['', '?currency=KES', '?currency=XXX'])
    expect(await get(`/data/wallet-balances${query}`)).toMatchObject({ status: 200 });
  await stage.sandbox.idle();
  const paid = stage.merchant.received.find(({ data }) => data.payload.transaction_type === 'PAYOUT');
  expect(callbackProblems(paid?.data)).toEqual([]);
});

test.each([
  ['completed', { outcome: 'completed' }],
  ['failed', { outcome: 'failed' }],
  ['charge on the customer', { charge_customer: true }],
  ['forged amount', { misbehave: { forged_amount: 1 } }],
  ['bad signature', { misbehave: { bad_signature: true }, retry: { max_attempts: 1 } }],
  ['a hostile name', { customer_name: '\u0000\ud800<script>' }],
] as const)('every callback conforms to the contract: %s', async (_, extra) => {
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

test('control: the validator reports what is wrong, and nothing about a right answer or an error', () => {
  const right = { code: 200, status: 'success', message: 'm', data: { merchant_wallets: [] } };
  const problems = (status: number, body: typeof right | object, type = 'application/json') =>
    responseProblems('/data/wallet-balances', status, type, body as typeof right);
  const error = { code: 401, status: 'error', message: 'm', data: {} };
  expect([...problems(200, right), ...problems(401, error)]).toEqual([]);
  const wallet = { currency: 'UGX', available_balance: '1' };
  for (const [status, body, type] of [
    [200, { ...right, data: { merchant_wallets: [wallet] } }],
    [200, { ...right, code: 201 }],
    [200, right, 'text/html'],
    [500, { ...right, code: 500 }],
    [401, { code: 401, status: 'error', data: {} }],
  ] as const)
    expect(problems(status, body, type)).not.toEqual([]);
  expect(callbackProblems({ event: 'transaction.completed', payload: { id: 1 } })).not.toEqual([]);
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
] as const)(
  'an error is in the envelope, with empty data: %s: GET %s',
  async (_, path, headers, status, says) => {
    const { status: found, body } = await get(path, headers as Record<string, string>);
    expect([found, body.message]).toEqual([status, expect.stringContaining(says)]);
    // No response repeats a key.
    expect(JSON.stringify(body)).not.toContain('SANDBOX');
  },
);

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('the answer is 405 for %s', async (method) => {
  for (const path of [providers, banks, '/data/wallet-balances']) {
    const answer = await stage.call(method, path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(problemsOf(path, answer)).toEqual([]);
  }
});
