import { METHODS, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../src/index.ts';
import { collection, keysOf } from './support/api.ts';

const errors: unknown[] = [];
let sandbox: Sandbox;
let port: number;
beforeAll(async () => {
  sandbox = createSandbox({ onError: (error) => errors.push(error) });
  ({ port } = await sandbox.listen());
});
afterAll(() => sandbox.close());

interface Sent {
  readonly headers?: Record<string, string>;
  readonly chunks?: readonly string[];
}

/** One request on a socket of its own. With `chunks` and no content-length, Node sends them chunked. */
function send(
  method: string,
  path: string,
  { headers = {}, chunks = [] }: Sent = {},
): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers: { ...keysOf(sandbox), ...headers } };
    const sent = request({ ...options, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
      response.on('error', reject);
    });
    sent.on('error', reject);
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

const json = { 'content-type': 'application/json' };
const chunked = { 'transfer-encoding': 'chunked' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const order = JSON.stringify(collection);

// CONNECT asks a proxy for a tunnel: Node closes the connection.
const methods = METHODS.filter((method) => method !== 'CONNECT');
const paths = [
  '/',
  '/data/payment-providers',
  '/sandbox/collections',
  '/sandbox/clock',
  '/dashboard/release',
  '/nothing',
];
const bodies: readonly (readonly [name: string, sent: Sent])[] = [
  ['no body', {}],
  ['an empty body', { headers: { 'content-length': '0' } }],
  ['an empty chunked body', { headers: chunked }],
  ['a body with its length', { headers: { 'content-length': '2', ...json }, chunks: ['{}'] }],
  ['a chunked body', { headers: { ...chunked, ...json }, chunks: ['{', '}'] }],
];

describe('every method, with every kind of body, on a socket', () => {
  test.each(bodies)('no request with %s is answered with 500', async (_, sent) => {
    const answers = methods.flatMap((method) =>
      paths.map(async (path) => [method, path, (await send(method, path, sent))[0]] as const),
    );
    const failed = (await Promise.all(answers)).filter(([, , status]) => status >= 500);
    expect(failed).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('a chunked request is read as one with a length', async () => {
    const half = order.length / 2;
    const pieces = [order.slice(0, half), order.slice(half)];
    const length = { 'content-length': String(Buffer.byteLength(order)) };
    expect(
      (await send('POST', '/sandbox/collections', { headers: { ...json, ...length }, chunks: pieces }))[0],
    ).toBe(201);
    expect(
      (await send('POST', '/sandbox/collections', { headers: { ...json, ...chunked }, chunks: pieces }))[0],
    ).toBe(201);
    const fields = { headers: { ...form, ...chunked }, chunks: ['advance_seconds=', '60'] };
    expect((await send('POST', '/dashboard/clock', fields))[0]).toBe(303);
    const [, text] = await send('GET', '/sandbox/clock');
    expect(JSON.parse(text).data.advanced_seconds).toBe(60);
  });

  test('a character that is split over two chunks is read correctly', async () => {
    const body = Buffer.from(JSON.stringify({ ...collection, merchant_reference: 'ORD-é' }));
    const cut = body.indexOf(0xc3) + 1;
    const status = await new Promise((resolve, reject) => {
      const headers = { ...keysOf(sandbox), ...json };
      const sent = request({
        host: '127.0.0.1',
        port,
        method: 'POST',
        path: '/sandbox/collections',
        headers,
      });
      sent.on('error', reject);
      sent.on('response', (response) => resolve(response.resume().statusCode));
      sent.write(body.subarray(0, cut), () => sent.end(body.subarray(cut)));
    });
    expect(status).toBe(201);
    const [, text] = await send(
      'GET',
      `/sandbox/transactions?merchant_reference=${encodeURIComponent('ORD-é')}`,
    );
    expect(JSON.parse(text).data.transactions).toHaveLength(1);
  });

  test('an empty body has no fields', async () => {
    for (const headers of [{}, chunked, { 'content-length': '0' }]) {
      const [status, text] = await send('POST', '/sandbox/collections', { headers: { ...json, ...headers } });
      expect([status, JSON.parse(text).data.field]).toEqual([400, 'merchant_reference']);
    }
  });
});

describe('a body longer than 64 KiB', () => {
  const chunks = Array.from({ length: 65 }, () => ' '.repeat(1024));
  const length = { 'content-length': String(65 * 1024) };

  test.each([
    ['chunked', chunked],
    ['with its length', length],
  ])('gets 413 where it is read: %s', async (_, headers) => {
    for (const [path, type] of [
      ['/sandbox/collections', json],
      ['/dashboard/release', form],
    ] as const) {
      const [status, text] = await send('POST', path, { headers: { ...headers, ...type }, chunks });
      expect([status, JSON.parse(text)]).toEqual([
        413,
        {
          code: 413,
          status: 'error',
          message: 'The body is longer than 64 KiB.',
          data: { reason: 'malformed_request' },
        },
      ]);
    }
  });

  test('control: exactly 64 KiB is read', async () => {
    const body = {
      headers: { ...chunked, ...json },
      chunks: [...chunks.slice(1, -1), ' '.repeat(1022), '{}'],
    };
    expect((await send('POST', '/sandbox/clearing', body))[0]).toBe(200);
  });

  test('changes nothing on a route that does not read it', async () => {
    expect((await send('POST', '/nothing', { headers: chunked, chunks }))[0]).toBe(404);
    expect((await send('PUT', '/data/wallet-balances', { headers: chunked, chunks }))[0]).toBe(405);
  });
});
