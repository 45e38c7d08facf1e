import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as undici from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { ConnectionError } from '../../src/errors.ts';
import { listening } from '../listening.ts';
import { clientAt, failureOf, providers, serve } from './local-service.ts';
import { provider, publicKey } from './wire-samples.ts';

/** A proxy on loopback that tunnels, and counts. */
async function openProxy(): Promise<{ readonly url: string; readonly tunnels: () => number }> {
  let tunnels = 0;
  const proxy = createServer((_request, response) => response.writeHead(400).end());
  proxy.on('connect', (request, socket, head) => {
    tunnels += 1;
    const [host, port] = String(request.url).split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const one of [socket, upstream]) one.on('error', () => undefined);
  });
  return { url: `http://127.0.0.1:${await listening(proxy)}`, tunnels: () => tunnels };
}

test('undici.fetch with a ProxyAgent of the same package goes through the proxy', async () => {
  const { baseUrl } = await serve(providers);
  const proxy = await openProxy();
  const dispatcher = new undici.ProxyAgent(proxy.url);
  onTestFinished(() => dispatcher.destroy());
  const fetch = (url: string, init: object) => undici.fetch(url, { ...init, dispatcher }) as never;
  expect(await clientAt(baseUrl, { fetch }).client.listPaymentProviders()).toEqual([provider]);
  expect(proxy.tunnels()).toBe(1);
});

test('NODE_USE_ENV_PROXY sends the calls of the global fetch through the proxy', async () => {
  const { baseUrl } = await serve(providers);
  const proxy = await openProxy();
  const index = join(import.meta.dirname, '../../src/client/index.ts');
  const program = `import { createClient } from ${JSON.stringify(index)};
    const client = createClient({ baseUrl: ${JSON.stringify(baseUrl)}, publicKey: ${JSON.stringify(publicKey)} });
    console.log((await client.listPaymentProviders()).length);`;
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, NO_PROXY: '' };
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
  expect((await run).stdout).toBe('1\n');
  expect(proxy.tunnels()).toBe(1);
});

test('a dispatcher of another version of undici is named, and not baseUrl', async () => {
  // What fetch of one major version throws with the dispatcher of another.
  const mismatch = Object.assign(new Error('invalid onRequestStart method'), { code: 'UND_ERR_INVALID_ARG' });
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: mismatch }));
  const error = await failureOf(
    clientAt('https://service.example', { fetch, maxAttempts: 1 }).client.listPaymentProviders(),
  );
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ sent: 'no' });
  expect(String(error)).toMatch(
    /failed \(invalid onRequestStart method\)\. The dispatcher is probably of another version of undici/,
  );
});
