import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/create-client.ts';
import { failure, startService, success } from '../local-service.ts';
import { bank, exactWallet, publicKey, wallet } from '../wire-samples.ts';
import { cachingClient, named, nameOf, TTL_MS } from './caching-client.ts';

describe('the cache serves an answer for its time to live', () => {
  test('the cache is off by default', async () => {
    const service = await startService(named('one'), named('two'));
    const client = createClient({ baseUrl: service.baseUrl, publicKey });
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    expect(await nameOf(client.listPaymentProviders())).toBe('two');
  });

  test('an answer is served until its time to live is over', async () => {
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

  test('changing the query object during the call has no effect', async () => {
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

  test('payout banks and payment providers are cached separately', async () => {
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
    expect(await client.getWalletBalances()).toEqual([exactWallet]);
    expect(await client.getWalletBalances()).toEqual([]);
    await expect(client.getWalletBalances()).rejects.toMatchObject({ status: 503 });
  });

  test('a failure is not cached', async () => {
    const service = await startService(failure(503), named('one'));
    const { client } = cachingClient(service, { staleIfErrorMs: 60_000 });
    await expect(client.listPaymentProviders()).rejects.toMatchObject({ status: 503 });
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
  });

  test('the cache keeps 256 queries and drops the oldest one', async () => {
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
