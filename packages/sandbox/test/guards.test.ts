import { beforeEach, describe, expect, test } from 'vitest';
import { type SandboxOptions, SandboxRefusal } from '../src/index.ts';
import { exchange, keysOf, payout } from './support/api.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
let port: number;
const reopen = async (options: SandboxOptions = {}): Promise<void> => {
  ({ port } = await stage.open(options).listen());
};
beforeEach(() => reopen());

const send = async (method: string, path: string, headers: Record<string, string>) =>
  (await exchange(port, method, path, headers)).status;
const post = (path: string, headers: Record<string, string>) =>
  send('POST', path, { 'content-type': 'application/x-www-form-urlencoded', ...headers });

/** Names and addresses that are not this computer, though some look like it. */
const ELSEWHERE =
  'example.com 127.0.0.1.example.com localhost.example.com app.localhost 192.168.0.1 0.0.0.0'.split(' ');

describe('threat A27: DNS rebinding: the Host header must be this computer', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]', '127.0.0.1:1', 'localhost:4010'])(
    'a request to %s is answered',
    async (host) => {
      expect(await send('GET', '/', { host })).toBe(200);
    },
  );
  test.each([...ELSEWHERE, 'example.com:4010'])('a request to %s is refused on every path', async (host) => {
    const headers = { host, ...keysOf(stage.sandbox) };
    for (const path of ['', 'data/payment-providers', 'sandbox/transactions', 'sandbox/pay/x', 'nothing'])
      expect(await send('GET', `/${path}`, headers)).toBe(421);
    // Without a socket, the address counts.
    expect((await stage.sandbox.fetch(`http://${host}/`)).status).toBe(421);
  });
});

describe('a form of a page is accepted with 303, and one of another site refused with 403', () => {
  test.each([
    [403, 'another site', { origin: 'http://example.com' }],
    [403, 'another port of this computer', { origin: 'http://127.0.0.1:1' }],
    [403, 'a sandboxed frame', { origin: 'null' }],
    [403, 'a browser that sends no Origin', { 'sec-fetch-site': 'cross-site' }],
    [403, 'a neighbour without Origin', { 'sec-fetch-site': 'same-site' }],
    [303, 'our own page', { origin: 'http://127.0.0.1:PORT' }],
    [303, 'our own page behind a proxy that ends TLS', { origin: 'https://127.0.0.1:PORT' }],
    [303, 'our own page, by its fetch metadata', { 'sec-fetch-site': 'same-origin' }],
    [303, 'a program', {}],
  ])('%i for %s', async (status, _, from: Record<string, string>) => {
    const headers = Object.entries(from).map(([name, value]) => [name, value.replace('PORT', String(port))]);
    const host = `127.0.0.1:${port}`;
    expect(await post('/dashboard/reset', { host, ...Object.fromEntries(headers) })).toBe(status);
  });

  test('behind a proxy that ends TLS, under a listed name', async () => {
    await reopen({ allowedHosts: ['sandbox.example'] });
    const host = 'sandbox.example';
    const site = { 'sec-fetch-site': 'same-origin' };
    expect(await post('/dashboard/reset', { host, origin: `https://${host}`, ...site })).toBe(303);
    expect(await post('/dashboard/reset', { host, origin: `https://${host}` })).toBe(303);
    expect(await post('/dashboard/reset', { host, origin: `https://evil.${host}` })).toBe(403);
  });

  test('on the payment page and the JSON API as well', async () => {
    const { pathname } = new URL(stage.collect({ mode: 'page' }).payment_page_url ?? '');
    const foreign = { host: `127.0.0.1:${port}`, origin: 'http://example.com' };
    expect(await post(pathname, foreign)).toBe(403);
    expect(await post('/sandbox/reset', { ...foreign, ...keysOf(stage.sandbox) })).toBe(403);
  });
});

describe('threat A63: a body is read after the host, the origin and the keys were checked', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const json = { 'content-type': 'application/json' };
  const foreign = { origin: 'http://example.com' };

  /** The status, and how many pieces were read of a body. */
  const post = async (url: string, headers: Record<string, string>, piece = '{}') => {
    let read = 0;
    const pull = (controller: ReadableStreamDefaultController): void => {
      read += 1;
      if (read === 1) controller.enqueue(Buffer.from(piece));
      else controller.close();
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const init = { method: 'POST', headers, body, duplex: 'half' };
    const { status } = await stage.sandbox.fetch(url, init as RequestInit);
    return { status, read };
  };

  test.each([
    ['of another site', 'http://localhost/dashboard/reset', { ...form, ...foreign }, 403],
    [
      'of another site, on the JSON API',
      'http://localhost/sandbox/collections',
      { ...json, ...foreign },
      403,
    ],
    ['under a foreign name', 'http://example.com/dashboard/reset', form, 421],
    ['without the keys', 'http://localhost/sandbox/collections', json, 401],
    ['for a payment that does not exist', 'http://localhost/sandbox/pay/INT-1', form, 404],
  ])('nothing is read of a body %s', async (_, url, headers, status) => {
    expect(await post(url, headers)).toEqual({ status, read: 0 });
  });

  test('the body of a request that passes them is read (control)', async () => {
    const keys = { ...json, ...keysOf(stage.sandbox) };
    expect((await post('http://localhost/sandbox/collections', keys)).read).toBe(2);
    expect((await post('http://localhost/dashboard/reset', form)).read).toBe(2);
  });

  test('a form of more than 100 fields is refused', async () => {
    const reset = (count: number) =>
      post('http://localhost/dashboard/reset', form, `a${'&a'.repeat(count - 1)}`);
    expect((await reset(100)).status).toBe(303);
    expect((await reset(101)).status).toBe(413);
  });
});

describe('threat A27: a sandbox for other computers', () => {
  const wrong = { code: 'invalid_configuration', option: 'host' };
  test.each(['', '192.0.2.1', 'sandbox.invalid'])(
    'does not listen on %j, which is no address of this computer',
    (host) => expect(stage.sandbox.listen({ host })).rejects.toMatchObject(wrong),
  );

  test('answers under the listed names, and under no other', async () => {
    await reopen({ allowedHosts: ['sandbox', 'shop:8080'] });
    for (const host of ['sandbox', `sandbox:${port}`, 'shop:8080', 'localhost', '127.0.0.1'])
      expect(await send('GET', '/', { host }), host).toBe(200);
    for (const host of ['shop', 'shop:8081', 'a.sandbox', 'sandbox.', 'example.com', '0.0.0.0'])
      expect(await send('GET', '/', { host }), host).toBe(421);
  });
});

const NETWORK = ['10.0.0.1', '169.254.169.254', '0', '[::]', '[fe80::1]', '[::ffff:10.0.0.1]', 'localhost.'];
const MISLEADING = ['127.0.0.1@example.com', 'user:pass@127.0.0.1'];
test.each([
  ...[...ELSEWHERE, ...NETWORK, ...MISLEADING].map((host) => `http://${host}/callbacks`),
  ...['ftp://127.0.0.1/callbacks', 'file:///etc/passwd', 'javascript:alert(1)', '/callbacks', ''],
])('threat A27: no callback goes to %j, which is not this computer', async (callback_url) => {
  const refusal = { status: 422, reason: 'destination_refused', field: 'callback_url' };
  const message = expect.stringMatching(/^callback_url: must /);
  const error = expect.objectContaining({ ...refusal, name: 'SandboxRefusal', message });
  expect(() => stage.collect({ callback_url })).toThrow(error);
  const { status, body } = await stage.call('POST', '/sandbox/payouts', { ...payout, callback_url });
  expect({ status, ...body.data }).toEqual(refusal);
  expect(stage.sandbox.deliveries()).toEqual([]);
});

test('threat A27: a callback may go to a listed host, with or without its port, and to no other', async () => {
  const allowedHosts = ['shop.internal', 'other.internal:8080'];
  stage.open({ allowedHosts, fetch: async () => new Response('ok') });
  for (const callback_url of ['https://shop.internal:444/', 'http://other.internal:8080/'])
    await stage.deliver({ callback_url });
  for (const callback_url of ['http://other.internal:8081/', 'http://a.shop.internal/'])
    expect(() => stage.collect({ callback_url })).toThrow(SandboxRefusal);
  expect(stage.sandbox.deliveries().map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});

test.each([
  ['Node', undefined],
  ['fetch', globalThis.fetch],
])('threat A27: a callback that is sent with %s follows no redirect', async (_, fetch) => {
  stage.merchant.answer = (response, { path }) => {
    response.writeHead(path === '/detour' ? 307 : 200, { location: '/callbacks' }).end();
  };
  const callback_url = stage.merchant.url.replace('callbacks', 'detour');
  stage.open({ retry: { max_attempts: 1 }, fetch });
  await stage.deliver({ callback_url });
  expect(stage.merchant.received).toHaveLength(1);
  expect(stage.sandbox.deliveries()).toMatchObject([{ state: 'given_up', attempts: [{ status: 307 }] }]);
});
