import { request } from 'node:http';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { urlOf } from '../src/http/listen.ts';
import { createSandbox } from '../src/index.ts';
import { collection, keysOf } from './support/api.ts';

const sandbox = createSandbox();
const { url, port } = await sandbox.listen();
afterAll(() => sandbox.close());

/** A raw request: fetch would not let the Host header be set. */
function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
  to = port,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: to, method, path, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('threat A27: DNS rebinding: the Host header must be this computer', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]', '127.0.0.1:1', 'localhost:4010'])(
    'takes %s',
    async (host) => {
      expect(await send('GET', '/', { host })).toBe(200);
    },
  );
  test.each([
    'example.com',
    'example.com:4010',
    '127.0.0.1.example.com',
    'localhost.example.com',
    'app.localhost',
    '192.168.0.1',
    '0.0.0.0',
  ])('refuses %s on every path', async (host) => {
    for (const path of [
      '/',
      '/data/payment-providers',
      '/sandbox/transactions',
      '/sandbox/pay/x',
      '/nothing',
    ]) {
      expect(await send('GET', path, { host, ...keysOf(sandbox) })).toBe(421);
    }
  });
  test('without a socket, the address must be this computer', async () => {
    expect((await sandbox.fetch('http://example.com/')).status).toBe(421);
  });
});

describe('forms of other sites are refused', () => {
  const host = `127.0.0.1:${port}`;
  const post = (headers: Record<string, string>) =>
    send('POST', '/dashboard/reset', { host, ...form, ...headers });

  test.each([
    ['another site', { origin: 'http://example.com' }],
    ['another port of this computer', { origin: 'http://127.0.0.1:1' }],
    ['another scheme', { origin: `https://127.0.0.1:${port}` }],
    ['a sandboxed frame', { origin: 'null' }],
    ['a browser that sends no Origin', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbour without Origin', { 'sec-fetch-site': 'same-site' }],
  ])('403 for %s', async (_, headers) => {
    expect(await post(headers)).toBe(403);
  });

  test.each([
    ['our own page', { origin: `http://127.0.0.1:${port}` }],
    ['our own page, by its fetch metadata', { 'sec-fetch-site': 'same-origin' }],
    ['a program', {}],
  ])('303 for %s', async (_, headers) => {
    expect(await post(headers)).toBe(303);
  });

  test('on the payment page and the JSON API as well', async () => {
    const started = sandbox.collect({ ...collection, mode: 'page' });
    const path = new URL(started.payment_page_url ?? '').pathname;
    const foreign = { host, origin: 'http://example.com' };
    expect(await send('POST', path, { ...foreign, ...form }, 'choice=pay')).toBe(403);
    expect(await send('POST', '/sandbox/reset', { ...foreign, ...keysOf(sandbox) })).toBe(403);
  });
});

test('threat A27: a host that is empty, or no address of this computer, is refused', async () => {
  for (const host of ['', '192.0.2.1', 'sandbox.invalid']) {
    await expect(sandbox.listen({ host })).rejects.toMatchObject({
      code: 'invalid_configuration',
      option: 'host',
    });
  }
});

describe('threat A27: a sandbox for other computers', () => {
  // An address of loopback that the sandbox does not know as one: the test opens nothing to the network.
  const beyond = '127.1';

  test('warns where it listens beyond loopback, and nowhere else', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    await (await sandbox.listen()).close();
    expect(warn).not.toHaveBeenCalled();
    await (await sandbox.listen({ host: beyond })).close();
    expect(warn.mock.calls).toEqual([
      ['The sandbox listens on 127.1: anyone on the network can read its keys and move the simulated money.'],
    ]);
    warn.mockRestore();
  });

  test('answers under the listed names, and under no other', async () => {
    const container = createSandbox({ allowedHosts: ['sandbox', 'shop:8080'] });
    const { port: there } = await container.listen();
    const ask = (host: string) => send('GET', '/', { host }, '', there);
    for (const host of ['sandbox', `sandbox:${there}`, 'shop:8080', 'localhost', '127.0.0.1']) {
      expect(await ask(host), host).toBe(200);
    }
    for (const host of ['shop', 'shop:8081', 'a.sandbox', 'sandbox.', 'example.com', '0.0.0.0']) {
      expect(await ask(host), host).toBe(421);
    }
    await container.close();
  });

  test('accepts forms of its own pages under a listed name, and of no other site', async () => {
    const container = createSandbox({ allowedHosts: ['sandbox'] });
    const { port: there } = await container.listen();
    const from = (origin: string) =>
      send('POST', '/dashboard/release', { host: 'sandbox:4010', origin, ...form }, '', there);
    expect(await from('http://sandbox:4010')).toBe(303);
    expect(await from('http://example.com')).toBe(403);
    await container.close();
  });

  test('shows a wildcard address as one that a client can use', () => {
    expect(urlOf('0.0.0.0', 4010)).toBe('http://127.0.0.1:4010');
    expect(urlOf('::', 4010)).toBe('http://[::1]:4010');
    expect(urlOf('::1', 4010)).toBe('http://[::1]:4010');
    expect(urlOf('sandbox', 4010)).toBe('http://sandbox:4010');
  });
});

test('listens on several addresses, and prints each', async () => {
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const other = await sandbox.listen({ host: 'localhost' });
  expect(other.url).toBe(`http://localhost:${other.port}`);
  expect((await fetch(other.url)).status).toBe(200);
  await other.close();
  await expect(fetch(other.url)).rejects.toThrow();
});

test('a port in use is a clear error', async () => {
  await expect(sandbox.listen({ port })).rejects.toMatchObject({
    option: 'port',
    message: `Port ${port} on 127.0.0.1 is taken by another program. Choose another port, or 0 for any free one.`,
  });
});
