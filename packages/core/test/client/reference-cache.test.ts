import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { CacheOptions, ClientOptions } from '../../src/client/client-options.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { PaymentProvider } from '../../src/wire.ts';
import {
  type Answer,
  failure,
  type LocalService,
  reply,
  reset,
  startService,
  success,
} from './local-service.ts';
import { bank, provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const TTL_MS = 1000;

function named(provider_name: string): Answer {
  return success({ payment_providers: [{ ...provider, provider_name }] });
}

/** A client whose cache clock stands still until the test moves it. */
function cachingClient({ baseUrl }: LocalService, cache: Partial<CacheOptions> = {}) {
  const clock = { ms: 0 };
  const client = createClient({
    baseUrl,
    publicKey,
    secretKey,
    maxAttempts: 1,
    cache: { ttlMs: TTL_MS, ...cache },
    timing: { monotonic: () => clock.ms },
  });
  return { client, clock };
}

async function nameOf(call: Promise<PaymentProvider[]>): Promise<string | undefined> {
  return (await call)[0]?.provider_name;
}

describe('time to live', () => {
  test('off unless asked for', async () => {
    const service = await startService(named('one'), named('two'));
    const client = createClient({ baseUrl: service.baseUrl, publicKey });
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    expect(await nameOf(client.listPaymentProviders())).toBe('two');
  });

  test('an answer is served until its time is over', async () => {
    const service = await startService(named('one'), named('two'));
    const { client, clock } = cachingClient(service);
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    clock.ms = TTL_MS - 1;
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    expect(service.requests).toHaveLength(1);
    clock.ms = TTL_MS;
    expect(await nameOf(client.listPaymentProviders())).toBe('two');
    clock.ms = TTL_MS + 999;
    expect(await nameOf(client.listPaymentProviders())).toBe('two');
    expect(service.requests).toHaveLength(2);
  });

  test('each query has its own answer, whatever the order of its filters', async () => {
    const service = await startService(named('one'), named('two'), named('three'));
    const { client } = cachingClient(service);
    const both = { currency: 'UGX', transaction_type: 'COLLECTION' };
    const turned = { transaction_type: 'COLLECTION', currency: 'UGX' };
    expect(await nameOf(client.listPaymentProviders(both))).toBe('one');
    expect(await nameOf(client.listPaymentProviders(turned))).toBe('one');
    expect(await nameOf(client.listPaymentProviders({ currency: 'UGX' }))).toBe('two');
    expect(await nameOf(client.listPaymentProviders())).toBe('three');
  });

  test('a query that is changed while its answer is on the way', async () => {
    const service = await startService(failure(503), named('one'), named('two'));
    const client = createClient({
      baseUrl: service.baseUrl,
      publicKey,
      cache: { ttlMs: TTL_MS },
      timing: { random: () => 0, monotonic: () => 0 },
      onResponse: () => {
        query.currency = 'KES';
      },
    });
    const query = { currency: 'UGX' };
    expect(await nameOf(client.listPaymentProviders(query))).toBe('one');
    expect(service.requests.map(({ url }) => url)).toEqual(
      Array(2).fill('/data/payment-providers?currency=UGX'),
    );
    expect(await nameOf(client.listPaymentProviders({ currency: 'KES' }))).toBe('two');
  });

  test('payout banks are cached apart from payment providers', async () => {
    const service = await startService(success({ payout_banks: [bank] }), named('one'));
    const { client } = cachingClient(service);
    await client.listPayoutBanks({ provider_code: 'x' });
    expect(await client.listPayoutBanks({ provider_code: 'x' })).toEqual([bank]);
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    expect(service.requests).toHaveLength(2);
  });

  test('balances are never cached', async () => {
    const service = await startService(
      success({ merchant_wallets: [wallet] }),
      success({ merchant_wallets: [] }),
      failure(503),
    );
    const { client } = cachingClient(service, { staleIfErrorMs: 60_000 });
    expect(await client.getWalletBalances()).toEqual([wallet]);
    expect(await client.getWalletBalances()).toEqual([]);
    await expect(client.getWalletBalances()).rejects.toMatchObject({ status: 503 });
  });

  test('a failure is not kept', async () => {
    const service = await startService(failure(503), named('one'));
    const { client } = cachingClient(service, { staleIfErrorMs: 60_000 });
    await expect(client.listPaymentProviders()).rejects.toMatchObject({ status: 503 });
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
  });

  test('queries of customers do not pile up: the oldest of more than 256 goes', async () => {
    const service = await startService(named('one'));
    const { client } = cachingClient(service);
    for (let index = 0; index < 257; index++) await client.listPaymentProviders({ currency: `C${index}` });
    await client.listPaymentProviders({ currency: 'C256' });
    await client.listPaymentProviders({ currency: 'C1' });
    expect(service.requests).toHaveLength(257);
    await client.listPaymentProviders({ currency: 'C0' });
    expect(service.requests).toHaveLength(258);
  });
});

describe('what one caller does to its answer, no other sees', () => {
  test('neither in the cache nor in a shared request', async () => {
    const service = await startService(
      success({ payment_providers: [{ ...provider, extra: { deep: ['kept'] } }] }),
    );
    const { client } = cachingClient(service);
    const together = await Promise.all([client.listPaymentProviders(), client.listPaymentProviders()]);
    const cached = await client.listPaymentProviders();
    expect(service.requests).toHaveLength(1);
    for (const found of [...together, cached]) {
      const [first] = found;
      if (first === undefined) return expect.fail();
      expect(first).toEqual({ ...provider, extra: { deep: ['kept'] } });
      first.max_amount = 1;
      first.option_prefixes.length = 0;
      const extra: unknown = Reflect.get(first, 'extra');
      if (typeof extra === 'object' && extra !== null) Reflect.set(extra, 'deep', 'changed');
      found.length = 0;
    }
    expect(await client.listPaymentProviders()).toEqual([{ ...provider, extra: { deep: ['kept'] } }]);
  });
});

describe('single flight', () => {
  /** Holds its answer back until told. */
  function held(answer: Answer): { answer: Answer; release: () => void } {
    let release = (): void => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    return {
      answer: (response, request) => void isReleased.then(() => answer(response, request)),
      release: () => release(),
    };
  }

  async function arrived({ requests }: LocalService, count = 1): Promise<void> {
    while (requests.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  test('callers that ask together share one request', async () => {
    const { answer, release } = held(named('one'));
    const service = await startService(answer, named('two'));
    const { client } = cachingClient(service);
    const calls = Array.from({ length: 20 }, () => nameOf(client.listPaymentProviders()));
    await arrived(service);
    release();
    expect(await Promise.all(calls)).toEqual(Array(20).fill('one'));
    expect(service.requests).toHaveLength(1);
  });

  test('one that gives up leaves the request to the others', async () => {
    const { answer, release } = held(named('one'));
    const service = await startService(answer);
    const { client } = cachingClient(service);
    const [first, second] = [new AbortController(), new AbortController()];
    const given = client.listPaymentProviders({}, { signal: first.signal });
    const kept = nameOf(client.listPaymentProviders({}, { signal: second.signal }));
    const plain = nameOf(client.listPaymentProviders());
    await arrived(service);
    const reason = new Error('the customer left');
    first.abort(reason);
    await expect(given).rejects.toBe(reason);
    release();
    expect(await Promise.all([kept, plain])).toEqual(['one', 'one']);
    expect(getEventListeners(first.signal, 'abort')).toEqual([]);
    expect(getEventListeners(second.signal, 'abort')).toEqual([]);
  });

  test('the last one takes the request along, and the next caller gets a new one', async () => {
    const { answer } = held(named('never'));
    const service = await startService(answer, named('two'));
    const { client } = cachingClient(service);
    const controllers = [new AbortController(), new AbortController()];
    const calls = controllers.map(({ signal }) => client.listPaymentProviders({}, { signal }));
    const outcomes = Promise.allSettled(calls);
    await arrived(service);
    for (const controller of controllers) controller.abort();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await service.requests[0]?.closed;
    expect(await nameOf(client.listPaymentProviders())).toBe('two');
  });

  test('a failure reaches everybody', async () => {
    const { answer, release } = held(failure(500));
    const service = await startService(answer);
    const { client } = cachingClient(service);
    const calls = Promise.allSettled([client.listPaymentProviders(), client.listPaymentProviders()]);
    await arrived(service);
    release();
    for (const outcome of await calls) expect(outcome).toMatchObject({ reason: { status: 500 } });
    expect(service.requests).toHaveLength(1);
  });

  test('a caller that has given up before gets nothing, cached or not', async () => {
    const service = await startService(named('one'));
    const { client } = cachingClient(service);
    await client.listPaymentProviders();
    const signal = AbortSignal.abort();
    await expect(client.listPaymentProviders({}, { signal })).rejects.toBe(signal.reason);
  });
});

describe('stale if error', () => {
  test.each<[string, Answer]>([
    ['503', failure(503)],
    ['500', failure(500)],
    ['501', failure(501)],
    ['429', failure(429)],
    ['a reset connection', reset],
    ['a page under 200', reply(200, '<h1>Welcome</h1>', { 'content-type': 'text/html' })],
  ])('%s: the old answer, until its grace is over too', async (_name, answer) => {
    const service = await startService(named('one'), answer);
    const { client, clock } = cachingClient(service, { staleIfErrorMs: 60_000 });
    await client.listPaymentProviders();
    clock.ms = TTL_MS + 59_999;
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    expect(service.requests).toHaveLength(2);
    clock.ms = TTL_MS + 60_000;
    await expect(client.listPaymentProviders()).rejects.toHaveProperty('code');
  });

  test.each([400, 401, 403, 404])('%s is an answer: it is not hidden', async (status) => {
    const service = await startService(named('one'), failure(status));
    const { client, clock } = cachingClient(service, { staleIfErrorMs: 60_000 });
    await client.listPaymentProviders();
    clock.ms = TTL_MS;
    await expect(client.listPaymentProviders()).rejects.toMatchObject({ status });
  });

  test('off by default', async () => {
    const service = await startService(named('one'), failure(503));
    const { client, clock } = cachingClient(service);
    await client.listPaymentProviders();
    clock.ms = TTL_MS;
    await expect(client.listPaymentProviders()).rejects.toMatchObject({ status: 503 });
  });

  test('while it is down, the service is asked every 5 seconds and not for every caller', async () => {
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

  test('the failure is still reported to onResponse', async () => {
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
