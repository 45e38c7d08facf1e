import { describe, expect, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { ApiError } from '../../src/errors.ts';
import { type LocalService, reply, startService, success } from './local-service.ts';
import { bank, provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const providers = success({ payment_providers: [provider] });
const banks = success({ payout_banks: [bank] });
const wallets = success({ merchant_wallets: [wallet] });

function clientFor({ baseUrl }: LocalService, prefix = ''): ReturnType<typeof make> {
  return make(`${baseUrl}${prefix}`);
}

function make(baseUrl: string) {
  return createClient({ baseUrl, publicKey, secretKey });
}

describe('the three calls (protocol §4)', () => {
  test('4.1: payment options, with both filters', async () => {
    const service = await startService(providers);
    const found = await clientFor(service).listPaymentProviders({
      currency: 'UGX',
      transaction_type: 'COLLECTION',
    });
    expect(found).toEqual([provider]);
    const [request] = service.requests;
    expect(request?.method).toBe('GET');
    expect(request?.url).toBe('/data/payment-providers?currency=UGX&transaction_type=COLLECTION');
  });

  test('4.1: filters are optional', async () => {
    const service = await startService(providers);
    const client = clientFor(service);
    await client.listPaymentProviders();
    await client.listPaymentProviders({});
    expect(service.requests.map(({ url }) => url)).toEqual([
      '/data/payment-providers',
      '/data/payment-providers',
    ]);
  });

  test('4.2: payout banks', async () => {
    const service = await startService(banks);
    expect(await clientFor(service).listPayoutBanks({ provider_code: 'a&b=c d/é' })).toEqual([bank]);
    const url = new URL(service.requests[0]?.url ?? '', service.baseUrl);
    expect(url.pathname).toBe('/data/payout-bank-codes');
    expect([...url.searchParams]).toEqual([['provider_code', 'a&b=c d/é']]);
  });

  test('4.3: balances', async () => {
    const service = await startService(wallets);
    expect(await clientFor(service).getWalletBalances({ currency: 'UGX' })).toEqual([wallet]);
    expect(service.requests[0]?.url).toBe('/data/wallet-balances?currency=UGX');
  });

  test('5.1 and 9: the headers, and the secret key on the balance call only', async () => {
    const service = await startService(providers, banks, wallets);
    const client = clientFor(service);
    await client.listPaymentProviders();
    await client.listPayoutBanks({ provider_code: 'x' });
    await client.getWalletBalances();
    for (const { headers } of service.requests) {
      expect(headers).toMatchObject({
        accept: 'application/json',
        'x-api-version': '1',
        'public-key': publicKey,
      });
    }
    expect(service.requests.map(({ headers }) => headers['secret-key'])).toEqual([
      undefined,
      undefined,
      secretKey,
    ]);
  });

  test('the methods work without their object', async () => {
    const service = await startService(providers);
    const { listPaymentProviders } = clientFor(service);
    expect(await listPaymentProviders()).toEqual([provider]);
  });
});

describe('baseUrl', () => {
  test.each(['/pay/v2', '/pay/v2/', '/pay/v2//'])('its prefix %s is kept', async (prefix) => {
    const service = await startService(wallets);
    await clientFor(service, prefix).getWalletBalances();
    expect(service.requests[0]?.url).toBe('/pay/v2/data/wallet-balances');
  });
});

describe('redirects are never followed', () => {
  test.each([301, 302, 303, 307, 308])(
    '%s to another origin: an ApiError, and no key arrives there',
    async (status) => {
      const elsewhere = await startService(wallets);
      const target = `${elsewhere.baseUrl}/data/wallet-balances?stolen=${encodeURIComponent(secretKey)}`;
      const service = await startService(reply(status, '', { location: target }));
      const error = await clientFor(service)
        .getWalletBalances()
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status, attempts: 1 });
      expect(String(error)).toContain(new URL(elsewhere.baseUrl).host);
      expect(String(error)).not.toContain('wallet-balances?');
      expect(String(error)).not.toContain('stolen');
      expect(elsewhere.requests).toEqual([]);
      expect(service.requests).toHaveLength(1);
    },
  );

  test.each([
    ['within the same origin', '/elsewhere'],
    ['without a readable target', 'http://'],
    ['to a scheme without a host', 'data:text/plain,x'],
  ])('%s: the same', async (_name, location) => {
    const service = await startService(reply(302, '', { location }), wallets);
    await expect(clientFor(service).getWalletBalances()).rejects.toMatchObject({
      code: 'api_error',
      status: 302,
    });
    expect(service.requests).toHaveLength(1);
  });

  test('300 and 304 are no success either', async () => {
    for (const status of [300, 304]) {
      const service = await startService(reply(status, ''));
      await expect(clientFor(service).listPaymentProviders()).rejects.toMatchObject({
        code: 'api_error',
        status,
      });
    }
  });

  test('a fetch that follows all the same is found out', async () => {
    const elsewhere = await startService(providers);
    const service = await startService(reply(302, '', { location: elsewhere.baseUrl }));
    const client = createClient({
      baseUrl: service.baseUrl,
      publicKey,
      fetch: ({ url, headers }) => fetch(url, { headers }),
    });
    await expect(client.listPaymentProviders()).rejects.toThrow(/followed a redirect/);
  });

  test('an opaque redirect, as browsers make it, is one', async () => {
    const opaque = new Proxy(Response.error(), {
      get: (response, name) => (name === 'type' ? 'opaqueredirect' : Reflect.get(response, name, response)),
    });
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', publicKey, fetch: () => opaque });
    await expect(client.listPaymentProviders()).rejects.toMatchObject({
      code: 'api_error',
      status: 0,
      message: expect.stringContaining('redirect'),
    });
  });
});

describe('fetch is passed in', () => {
  test('it gets a Request that forbids redirects and HTTP caches', async () => {
    const seen: Request[] = [];
    const client = createClient({
      baseUrl: 'https://service.example/pay',
      publicKey,
      fetch: (request) => {
        seen.push(request);
        return Response.json({ code: 200, status: 'success', message: '', data: { payment_providers: [] } });
      },
    });
    expect(await client.listPaymentProviders()).toEqual([]);
    expect(seen[0]).toMatchObject({
      url: 'https://service.example/pay/data/payment-providers',
      redirect: 'manual',
      cache: 'no-store',
      method: 'GET',
    });
  });

  test('the global one is looked up when the call is made', async () => {
    const service = await startService(providers);
    const client = clientFor(service);
    const original = globalThis.fetch;
    let calls = 0;
    globalThis.fetch = (...parameters) => {
      calls += 1;
      return original(...parameters);
    };
    try {
      await client.listPaymentProviders();
    } finally {
      globalThis.fetch = original;
    }
    expect(calls).toBe(1);
  });
});
