import { createClient } from '@payment-service/core/client';
import { afterEach, describe, expect, test } from 'vitest';
import { createSandbox, exampleEndpoints, type Sandbox, type SandboxEndpoint } from '../src/index.ts';

const opened: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()));
});

/** A sandbox with these endpoints, and a client that calls it over a socket or in the process. */
async function open(endpoints: readonly SandboxEndpoint[], over: 'socket' | 'process', timeoutMs = 5000) {
  const sandbox = createSandbox({ endpoints });
  opened.push(sandbox);
  const { publicKey, secretKey } = sandbox.account;
  const { url } = await sandbox.listen();
  const fetch = over === 'process' ? { fetch: sandbox.fetch } : {};
  const client = createClient({ baseUrl: url, publicKey, secretKey, timeoutMs, ...fetch });
  const transactions = async (): Promise<readonly unknown[]> => {
    const { data } = await client.request({ method: 'GET', path: '/sandbox/transactions', secretKey: true });
    return (data as { transactions: unknown[] }).transactions;
  };
  return { sandbox, client, transactions };
}

const payment = (phone: string) => ({
  reference: 'ORD-1',
  money: { amount: '500', currency: 'UGX' },
  provider: 'example_mobile_money',
  payer: { phone, name: 'Ada' },
  return_url: 'http://127.0.0.1/return',
});
const start = (phone = '256772000001') =>
  ({ method: 'POST', path: '/example/collections', body: payment(phone), secretKey: true }) as const;

describe.each(['socket', 'process'] as const)('an endpoint of the merchant, over a %s', (over) => {
  test('starts a simulated collection from the members of its body, and answers with its template', async () => {
    const { client, transactions } = await open(exampleEndpoints, over);
    const { status, data } = await client.request(start());
    expect(status).toBe(201);
    expect(data).toEqual({
      id: 1001,
      reference: expect.stringMatching(/^SBX-/),
      state: 'PENDING',
      page: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/sandbox\/pay\/SBX-/),
    });
    expect(await transactions()).toEqual([
      expect.objectContaining({ merchant_reference: 'ORD-1', request_amount: 500, customer_name: 'Ada' }),
    ]);
  });

  test.each([
    ['256772000422', { code: 'api_error', status: 422, sent: 'refused' }, 0],
    ['256772000503', { code: 'api_error', status: 503, sent: 'unknown' }, 1],
    ['256772000444', { code: 'connection_failed', sent: 'unknown' }, 1],
    ['256772000408', { code: 'timeout', sent: 'unknown' }, 1],
  ])('the number %s fails as a caller meets it', async (phone, error, started) => {
    const { client, transactions } = await open(exampleEndpoints, over, 300);
    await expect(client.request(start(phone))).rejects.toMatchObject(error);
    expect(await transactions()).toHaveLength(started);
  });
});

test('payouts, transfers, parameters of the path, fixed fields and functions are answered', async () => {
  const endpoints: SandboxEndpoint[] = [
    ...exampleEndpoints,
    {
      method: 'PUT',
      path: '/top-ups/{order}',
      starts: 'collection',
      members: { merchant_reference: 'order', amount: 'amount', account: 'phone' },
      fixed: { currency: 'UGX', provider_code: 'example_mobile_money' },
      status: 202,
      answer: ({ id }: { id: number }, body: unknown) => [id, body],
      secretKey: false,
    },
  ];
  const { client, sandbox } = await open(endpoints, 'socket');
  const body = { amount: 50000, phone: '256772000001' };
  const put = { method: 'PUT', path: '/top-ups/{order}', params: { order: 'ORD-7' }, body } as const;
  expect(await client.request(put)).toMatchObject({ status: 202, data: [1001, body] });
  sandbox.advance(86_400);
  const transfer = {
    method: 'POST',
    path: '/example/wallets/{currency}/transfers',
    params: { currency: 'UGX' },
    secretKey: true,
  } as const;
  expect((await client.request({ ...transfer, body: { amount: '20000' } })).data).toMatchObject({
    amount: 20000,
  });
  const payout = {
    reference: 'PAY-1',
    money: { amount: 1000, currency: 'UGX' },
    provider: 'example_mobile_money',
    payee: { account: '256772000001' },
  };
  const paid = await client.request({
    method: 'POST',
    path: '/example/payouts',
    body: payout,
    secretKey: true,
  });
  expect(paid.data).toEqual({ id: expect.any(Number), reference: expect.any(String), state: 'COMPLETED' });
});

test('the refusals of the simulation, missing keys and other methods are answered as elsewhere', async () => {
  const { client, sandbox } = await open(exampleEndpoints, 'socket');
  const { body } = start();
  const tooSmall = { ...start(), body: { ...body, money: { amount: 1, currency: 'UGX' } } };
  await expect(client.request(tooSmall)).rejects.toMatchObject({ status: 422, sent: 'refused' });
  await expect(client.request({ ...start(), body: { ...body, reference: undefined } })).rejects.toMatchObject(
    {
      status: 400,
      serviceMessage: expect.stringContaining('merchant_reference'),
    },
  );
  await expect(client.request({ ...start(), secretKey: false })).rejects.toMatchObject({ status: 401 });
  const other = await sandbox.fetch('http://127.0.0.1/example/collections', { method: 'DELETE' });
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
});

test.each([
  ['endpoints[0].path', { path: '/data/x', starts: 'transfer', members: {} }],
  ['endpoints[0].path', { path: '/transactions', starts: 'transfer', members: {} }],
  ['endpoints[0].path', { path: 'collections', starts: 'transfer', members: {} }],
  ['endpoints[0].starts', { path: '/a', starts: 'refund', members: {} }],
  ['endpoints[0].members', { path: '/a', starts: 'payout', members: { iban: 'x' } }],
  ['endpoints[0].faults.1', { path: '/a', starts: 'payout', members: {}, faults: { 1: 'explode' } }],
  ['endpoints[0]', { path: '/a', starts: 'payout', members: {}, fault: {} }],
  ['endpoints', 'example'],
])('a wrong endpoint is refused at construction: %s', (where, endpoint) => {
  const endpoints = (typeof endpoint === 'string' ? endpoint : [endpoint]) as never;
  expect(() => createSandbox({ endpoints })).toThrow(where);
});
