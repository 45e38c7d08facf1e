import { describe, expect, test } from 'vitest';
import type { ClientOptions } from '../../../src/client/client.ts';
import { createClient } from '../../../src/client/create-client.ts';
import { type Answer, failure, reply, reset, startService } from '../local-service.ts';
import { publicKey } from '../wire-samples.ts';
import { cachingClient, named, nameOf, TTL_MS } from './caching-client.ts';

describe('stale data is served while the service fails', () => {
  test.each<[string, Answer]>([
    ['503', failure(503)],
    ['500', failure(500)],
    ['501', failure(501)],
    ['429', failure(429)],
    ['a reset connection', reset],
    ['a page under 200', reply(200, '<h1>Welcome</h1>', { 'content-type': 'text/html' })],
  ])('%s serves the stale answer until staleIfErrorMs is over', async (_name, answer) => {
    const service = await startService(named('one'), answer);
    const { client, clock } = cachingClient(service, { staleIfErrorMs: 60_000 });
    await client.listPaymentProviders();
    clock.ms = TTL_MS + 59_999;
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    expect(service.requests).toHaveLength(2);
    clock.ms = TTL_MS + 60_000;
    await expect(client.listPaymentProviders()).rejects.toHaveProperty('code');
  });

  test.each([400, 401, 403, 404])('%s is passed through instead of stale data', async (status) => {
    const service = await startService(named('one'), failure(status));
    const { client, clock } = cachingClient(service, { staleIfErrorMs: 60_000 });
    await client.listPaymentProviders();
    clock.ms = TTL_MS;
    await expect(client.listPaymentProviders()).rejects.toMatchObject({ status });
  });

  test('stale data is not served by default', async () => {
    const service = await startService(named('one'), failure(503));
    const { client, clock } = cachingClient(service);
    await client.listPaymentProviders();
    clock.ms = TTL_MS;
    await expect(client.listPaymentProviders()).rejects.toMatchObject({ status: 503 });
  });

  test('a service that is down gets one request every 5 seconds, not one per caller', async () => {
    const service = await startService(named('one'), failure(503), named('two'));
    const { client, clock } = cachingClient(service, { staleIfErrorMs: 60_000 });
    await client.listPaymentProviders();
    clock.ms = TTL_MS;
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    clock.ms = TTL_MS + 4999;
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    expect(service.requests).toHaveLength(2);
    clock.ms = TTL_MS + 5000;
    expect(await nameOf(client.listPaymentProviders())).toBe('two');
  });

  test('the hidden failure is still reported to onResponse', async () => {
    const outcomes: string[] = [];
    const service = await startService(named('one'), failure(503));
    const clock = { ms: 0 };
    const options: ClientOptions = {
      baseUrl: service.baseUrl,
      publicKey,
      maxAttempts: 1,
      cache: { ttlMs: TTL_MS, staleIfErrorMs: 60_000 },
      timing: { monotonic: () => clock.ms },
      onResponse: ({ outcome }) => outcomes.push(outcome),
    };
    const client = createClient(options);
    await client.listPaymentProviders();
    clock.ms = TTL_MS;
    await client.listPaymentProviders();
    expect(outcomes).toEqual(['success', 'api_error']);
  });
});
