import { METHODS } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../src/index.ts';
import { collection, exchange, keysOf } from './support/api.ts';

const errors: unknown[] = [];
let sandbox: Sandbox;
let port: number;
beforeAll(async () => {
  sandbox = createSandbox({ onError: (error) => errors.push(error) });
  ({ port } = await sandbox.listen());
});
afterAll(() => sandbox.close());

interface Body {
  readonly headers?: Record<string, string>;
  readonly chunks?: readonly (string | Buffer)[];
}

const send = (method: string, path: string, { headers, chunks }: Body = {}) =>
  exchange(port, method, path, { ...keysOf(sandbox), ...headers }, chunks);

const json = { 'content-type': 'application/json' };
const chunked = { 'transfer-encoding': 'chunked' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

// CONNECT asks a proxy for a tunnel: Node closes the connection.
const methods = METHODS.filter((method) => method !== 'CONNECT');
const routes = ['data/payment-providers', 'sandbox/collections', 'dashboard/release', 'nothing', ''];

test.each<[string, Body]>([
  ['no body', {}],
  ['an empty body', { headers: { 'content-length': '0' } }],
  ['an empty chunked body', { headers: chunked }],
  ['a body with its length', { headers: { 'content-length': '2', ...json }, chunks: ['{}'] }],
  ['a chunked body', { headers: { ...chunked, ...json }, chunks: ['{', '}'] }],
])('no request of any method with %s is answered with 500', async (_, sent) => {
  const answers = methods.flatMap((method) =>
    routes.map(async (route) => [method, route, (await send(method, `/${route}`, sent)).status] as const),
  );
  const failed = (await Promise.all(answers)).filter(([, , status]) => status >= 500);
  expect([failed, errors]).toEqual([[], []]);
});

test('a chunked request is read as one with a length, and a character that is split over two chunks too', async () => {
  const order = Buffer.from(JSON.stringify({ ...collection, merchant_reference: 'ORD-é' }));
  const cut = order.indexOf(0xc3) + 1;
  const chunks = [order.subarray(0, cut), order.subarray(cut)];
  for (const headers of [chunked, { 'content-length': String(order.length) }]) {
    const sent = { headers: { ...json, ...headers }, chunks };
    expect((await send('POST', '/sandbox/collections', sent)).status).toBe(201);
  }
  const { text } = await send('GET', `/sandbox/transactions?merchant_reference=ORD-%C3%A9`);
  expect(JSON.parse(text).data.transactions).toHaveLength(2);
});

const chunks = Array.from({ length: 65 }, () => ' '.repeat(1024));

test.each([
  ['POST', '/sandbox/collections', json, chunked],
  ['POST', '/sandbox/collections', json, { 'content-length': String(65 * 1024) }],
  ['POST', '/dashboard/release', form, chunked],
])(
  'a body longer than 64 KiB gets 413 from %s %s, which reads it (%o, %o)',
  async (method, path, type, length) => {
    const { status, text } = await send(method, path, { headers: { ...type, ...length }, chunks });
    const message = 'The body is longer than 64 KiB.';
    const data = { reason: 'malformed_request' };
    expect([status, JSON.parse(text)]).toEqual([413, { code: 413, status: 'error', message, data }]);
  },
);

test('control: exactly 64 KiB is read', async () => {
  const exact = [...chunks.slice(2), ' '.repeat(1022), '{}'];
  const sent = { headers: { ...chunked, ...json }, chunks: exact };
  expect((await send('POST', '/sandbox/deliveries/resend-failed', sent)).status).toBe(201);
});
