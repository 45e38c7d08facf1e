import { describe, expect, test, vi } from 'vitest';
import type { ReferenceChange } from '../../../src/client/client.ts';
import { failure, startService, success } from '../local-service.ts';
import { bank, provider } from '../wire-samples.ts';
import { cachingClient, named, nameOf, TTL_MS } from './caching-client.ts';

const FRESH = { fresh: true };

describe('a fresh call queries the service before a transaction', () => {
  test('it bypasses the cache, and its response is served from then on', async () => {
    const service = await startService(named('one'), named('two'));
    const { client } = cachingClient(service);
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
    expect(await nameOf(client.listPaymentProviders({}, FRESH))).toBe('two');
    expect(await nameOf(client.listPaymentProviders())).toBe('two');
    expect(service.requests).toHaveLength(2);
  });

  test('it serves no stale data in an outage, although other calls still do', async () => {
    const service = await startService(named('one'), failure(503), failure(503));
    const { client, clock } = cachingClient(service, { staleIfErrorMs: TTL_MS });
    await client.listPaymentProviders();
    clock.ms = TTL_MS;
    await expect(client.listPaymentProviders({}, FRESH)).rejects.toMatchObject({ status: 503 });
    expect(await nameOf(client.listPaymentProviders())).toBe('one');
  });

  test('concurrent fresh calls share one request, but not one that may serve stale data', async () => {
    const service = await startService(named('one'), named('two'));
    const { client } = cachingClient(service);
    const calls = [
      client.listPaymentProviders(),
      ...[1, 2, 3].map(() => client.listPaymentProviders({}, FRESH)),
    ];
    await Promise.all(calls);
    expect(service.requests).toHaveLength(2);
  });

  test('a value that is not a boolean is refused', async () => {
    const service = await startService();
    const { client } = cachingClient(service);
    const wrong = { fresh: 'yes' as never };
    await expect(client.listPaymentProviders({}, wrong)).rejects.toMatchObject({ option: 'fresh' });
  });
});

describe('cache.onChange receives what a new response changes', () => {
  const inactive = { ...provider, is_active: false };
  const other = { ...provider, provider_code: 'other', option_prefixes: ['25670'] };

  test('it receives the rows that differ, and is not called when no row does', async () => {
    const changes: ReferenceChange[] = [];
    const answers = [[provider, other], [other, provider], [inactive, other], [inactive]];
    const service = await startService(...answers.map((rows) => success({ payment_providers: rows })));
    const { client } = cachingClient(service, { onChange: (change) => changes.push(change) });
    for (const _ of answers) await client.listPaymentProviders({}, FRESH);
    const operation = 'listPaymentProviders';
    expect(changes).toEqual([
      { operation, before: [provider], after: [inactive] },
      { operation, before: [other], after: [] },
    ]);
  });

  test('it also receives banks, separately for each query, and changing a copy changes no cached row', async () => {
    const changes: ReferenceChange[] = [];
    const closed = { ...bank, is_active: false };
    const banks = [[bank], [bank], [closed]].map((rows) => success({ payout_banks: rows }));
    const service = await startService(...banks);
    const { client } = cachingClient(service, {
      onChange: (change) => {
        changes.push(structuredClone(change));
        for (const row of change.after) row.is_active = true;
      },
    });
    await client.listPayoutBanks({ provider_code: 'a' });
    await client.listPayoutBanks({ provider_code: 'b' });
    await client.listPayoutBanks({ provider_code: 'a' }, FRESH);
    expect(changes).toEqual([{ operation: 'listPayoutBanks', before: [bank], after: [closed] }]);
    expect(await client.listPayoutBanks({ provider_code: 'a' })).toEqual([closed]);
  });

  test('an error in it is logged and changes nothing', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    const service = await startService(named('one'), named('two'));
    const onChange = (): never => {
      throw new Error('broken');
    };
    const { client } = cachingClient(service, { onChange });
    await client.listPaymentProviders();
    expect(await nameOf(client.listPaymentProviders({}, FRESH))).toBe('two');
    await vi.waitFor(() => expect(log).toHaveBeenCalledOnce());
    log.mockRestore();
  });
});
