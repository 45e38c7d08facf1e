import { readFileSync } from 'node:fs';
import { createClient } from '@payment-service/core/client';
import { expect, test } from 'vitest';
import { createSandbox, exampleEndpoints, type SandboxEndpoint } from '../src/index.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();

/** A sandbox with these endpoints, and a client that calls it over a socket. */
async function open(endpoints: readonly SandboxEndpoint[], timeoutMs = 5000) {
  const { account, listen } = stage.open({ endpoints });
  const { publicKey, secretKey } = account;
  const { url } = await listen();
  return createClient({ baseUrl: url, publicKey, secretKey, timeoutMs });
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

test('an endpoint of the merchant starts a simulated collection from the members of its body, and answers with its template', async () => {
  const client = await open(exampleEndpoints);
  const { status, data } = await client.request(start());
  expect(status).toBe(201);
  expect(data).toEqual({
    id: 1001,
    reference: expect.stringMatching(/^SBX-/),
    state: 'PENDING',
    page: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/sandbox\/pay\/SBX-/),
  });
  const started = { merchant_reference: 'ORD-1', request_amount: 500, customer_name: 'Ada' };
  expect(await stage.list('/sandbox/transactions')).toMatchObject([started]);
});

test.each([
  ['256772000422', { code: 'api_error', status: 422, sent: 'refused' }, 0],
  ['256772000503', { code: 'api_error', status: 503, sent: 'unknown' }, 1],
  ['256772000444', { code: 'connection_failed', sent: 'unknown' }, 1],
  ['256772000408', { code: 'timeout', sent: 'unknown' }, 1],
])('the number %s fails as a caller meets it', async (phone, error, started) => {
  const client = await open(exampleEndpoints, 5000);
  await expect(client.request(start(phone))).rejects.toMatchObject(error);
  expect(await stage.list('/sandbox/transactions')).toHaveLength(started);
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
  const client = await open(endpoints);
  const body = { amount: 50000, phone: '256772000001' };
  const put = { method: 'PUT', path: '/top-ups/{order}', params: { order: 'ORD-7' }, body } as const;
  expect(await client.request(put)).toMatchObject({ status: 202, data: [1001, body] });
  stage.sandbox.advance(86_400);
  const post = async (path: `/${string}`, asked: object, params: Record<string, string> = {}) =>
    (await client.request({ method: 'POST', path, params, body: asked, secretKey: true })).data;
  await post('/example/wallets/{currency}/transfers', { amount: '20000' }, { currency: 'UGX' });
  const { payer: _, ...order } = payment('');
  const paid = { ...order, money: { amount: 1000, currency: 'UGX' }, payee: { account: '256772000001' } };
  expect(await post('/example/payouts', paid)).toMatchObject({ state: 'COMPLETED' });
});

test('the refusals of the simulation, missing keys and other methods are answered as elsewhere', async () => {
  const client = await open(exampleEndpoints);
  const { body } = start();
  const tooSmall = { ...body, money: { amount: 1, currency: 'UGX' } };
  const serviceMessage = expect.stringContaining('merchant_reference');
  for (const [change, error] of [
    [{ body: tooSmall }, { status: 422, sent: 'refused' }],
    [{ body: { ...body, reference: undefined } }, { status: 400, serviceMessage }],
    [{ secretKey: false }, { status: 401 }],
  ] as const)
    await expect(client.request({ ...start(), ...change })).rejects.toMatchObject(error);
  const other = await stage.sandbox.fetch('http://127.0.0.1/example/collections', { method: 'DELETE' });
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
});

const sums = { amount: 'amount', currency: 'currency' };
test.each([
  ['endpoints[0].path', { path: '/data/x', starts: 'transfer', members: sums }],
  ['endpoints[0].path', { path: '/transactions', starts: 'transfer', members: sums }],
  ['endpoints[0].path', { path: 'collections', starts: 'transfer', members: sums }],
  [
    'endpoints[0].members: a payout needs currency, provider_code, account. Name the member',
    { path: '/a', starts: 'payout', members: { amount: 'sum' }, fixed: { merchant_reference: 'ORD-1' } },
  ],
  [
    'endpoints[0].members: a transfer has no account.',
    { path: '/a', starts: 'transfer', members: { ...sums, account: 'x' } },
  ],
  [
    'endpoints[0].members: a transfer has no note.',
    { path: '/a', starts: 'transfer', members: sums, fixed: { note: 'x' } },
  ],
  ['endpoints[0].starts', { path: '/a', starts: 'refund', members: {} }],
  ['endpoints[0].members', { path: '/a', starts: 'payout', members: { iban: 'x' } }],
  ['endpoints[0].faults.1', { path: '/a', starts: 'payout', members: {}, faults: { 1: 'explode' } }],
  ['endpoints[0]', { path: '/a', starts: 'payout', members: {}, fault: {} }],
  ['endpoints', 'example'],
])('a wrong endpoint is refused at construction: %s', (where, endpoint) => {
  const endpoints = (typeof endpoint === 'string' ? endpoint : [endpoint]) as never;
  expect(() => createSandbox({ endpoints })).toThrow(where);
});

test('the README has a table of the members of each made-up endpoint', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const rows = exampleEndpoints.flatMap(({ method = 'POST', path, starts, members }) => {
    const read = Object.entries(members).map(([field, member]) =>
      field === member ? `\`${member}\`` : `\`${member}\` (${field})`,
    );
    return `| \`${method} ${path}\` | ${starts} | ${read.join(', ')} |`;
  });
  expect(rows).toHaveLength(3);
  expect(text).toContain(['', ...rows, ''].join('\n'));
});
