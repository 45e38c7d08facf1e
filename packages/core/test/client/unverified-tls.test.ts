import { createServer } from 'node:https';
import { afterEach, expect, test, vi } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { listening } from '../listening.ts';
import { clientWith, successBody } from './local-service.ts';
import { cert, key } from './unverified-certificate.ts';
import { provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const VARIABLE = 'NODE_TLS_REJECT_UNAUTHORIZED';
const baseUrl = 'https://service.example';
const refused = { code: 'invalid_configuration', option: 'allowUnverifiedTls' };

afterEach(() => {
  vi.unstubAllEnvs();
  // Each test runs as if in a new process.
  Reflect.deleteProperty(globalThis, Symbol.for('@payment-service/core: certificate checks were off'));
});

/** A real HTTPS server whose certificate no authority has signed. */
async function startStranger(): Promise<{ baseUrl: string; secretKeys: unknown[] }> {
  const secretKeys: unknown[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    if (request.headers['secret-key'] !== undefined) secretKeys.push(request.headers['secret-key']);
    const data = { payment_providers: [provider], merchant_wallets: [wallet] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(successBody(data)));
  });
  return { baseUrl: `https://127.0.0.1:${await listening(server)}`, secretKeys };
}

test('threat A35: a call of a client without a secret key is enough, and removing the variable does not help', async () => {
  const stranger = await startStranger();
  const options = { baseUrl: stranger.baseUrl, publicKey, maxAttempts: 1 };
  const early = createClient({ ...options, secretKey });
  const open = createClient(options);
  vi.stubEnv(VARIABLE, '0');
  expect(await open.listPaymentProviders()).toEqual([provider]);
  vi.unstubAllEnvs();
  await expect(early.getWalletBalances()).rejects.toMatchObject(refused);
  expect(() => createClient({ ...options, secretKey })).toThrow(expect.objectContaining(refused));
  expect(stranger.secretKeys).toEqual([]);
  const allowed = createClient({ ...options, secretKey, allowUnverifiedTls: true });
  await allowed.getWalletBalances().catch(() => undefined);
  expect(await open.listPaymentProviders()).toEqual([provider]);
});

test('threat A35: the construction of a client without a secret key is enough, in a second copy of this package too', async () => {
  vi.stubEnv(VARIABLE, '0');
  expect(() => createClient({ baseUrl, publicKey })).not.toThrow();
  expect(() => createClient({ baseUrl: 'http://127.0.0.1:1', publicKey, secretKey })).not.toThrow();
  expect(() => createClient({ baseUrl, publicKey, secretKey })).toThrow(VARIABLE);
  vi.unstubAllEnvs();
  vi.resetModules();
  const copy = await import('../../src/client/create-client.ts');
  expect(copy.createClient).not.toBe(createClient);
  for (const make of [createClient, copy.createClient])
    expect(() => make({ baseUrl, publicKey, secretKey })).toThrow(expect.objectContaining(refused));
});

test('threat A35: a variable that is set after construction is refused before the request is sent', async () => {
  let sent = 0;
  const fetch = (): never => {
    sent += 1;
    throw new TypeError('fetch failed');
  };
  const client = clientWith(fetch, { maxAttempts: 1 });
  vi.stubEnv(VARIABLE, '0');
  await expect(client.getWalletBalances()).rejects.toMatchObject(refused);
  expect(sent).toBe(0);
  const allowed = clientWith(fetch, { maxAttempts: 1, allowUnverifiedTls: true });
  await expect(allowed.getWalletBalances()).rejects.toMatchObject({ code: 'connection_failed' });
  expect(sent).toBe(1);
});
