import { afterEach, describe, expect, test, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import type { FetchInit } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { ApiError } from '../../src/errors.ts';
import { type LocalService, reply, startService, success } from './local-service.ts';
import { bank, exactWallet, provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const providers = success({ payment_providers: [provider] });
const banks = success({ payout_banks: [bank] });
const wallets = success({ merchant_wallets: [wallet] });

function clientFor({ baseUrl }: LocalService, prefix = ''): ReturnType<typeof make> {
  return make(`${baseUrl}${prefix}`);
}

function make(baseUrl: string) {
  return createClient({ baseUrl, publicKey, secretKey });
}

describe('each call sends one GET of protocol §4', () => {
  test('listPaymentProviders sends both filters (protocol §4.1)', async () => {
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

  test('listPaymentProviders works without filters (protocol §4.1)', async () => {
    const service = await startService(providers);
    const client = clientFor(service);
    await client.listPaymentProviders();
    await client.listPaymentProviders({});
    expect(service.requests.map(({ url }) => url)).toEqual([
      '/data/payment-providers',
      '/data/payment-providers',
    ]);
  });

  test('listPayoutBanks escapes the provider code (protocol §4.2)', async () => {
    const service = await startService(banks);
    expect(await clientFor(service).listPayoutBanks({ provider_code: 'a&b=c d/é' })).toEqual([bank]);
    const url = new URL(service.requests[0]?.url ?? '', service.baseUrl);
    expect(url.pathname).toBe('/data/payout-bank-codes');
    expect([...url.searchParams]).toEqual([['provider_code', 'a&b=c d/é']]);
  });

  test('getWalletBalances sends the currency (protocol §4.3)', async () => {
    const service = await startService(wallets);
    expect(await clientFor(service).getWalletBalances({ currency: 'UGX' })).toEqual([exactWallet]);
    expect(service.requests[0]?.url).toBe('/data/wallet-balances?currency=UGX');
  });

  test('only the balance call carries the secret key (protocol §5.1)', async () => {
    const service = await startService(providers, banks, wallets);
    const client = clientFor(service);
    await client.listPaymentProviders();
    await client.listPayoutBanks({ provider_code: 'x' });
    await client.getWalletBalances();
    for (const { headers } of service.requests) {
      expect(headers).toMatchObject({
        'user-agent': `payment-service-sdk/${manifest.version} node/${process.versions.node}`,
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

  test('the methods work when they are detached from the client', async () => {
    const service = await startService(providers);
    const { listPaymentProviders } = clientFor(service);
    expect(await listPaymentProviders()).toEqual([provider]);
  });
});

describe('the path of baseUrl is kept', () => {
  test.each(['/pay/v2', '/pay/v2/', '/pay/v2//'])(
    'the prefix %s is part of the request path',
    async (prefix) => {
      const service = await startService(wallets);
      await clientFor(service, prefix).getWalletBalances();
      expect(service.requests[0]?.url).toBe('/pay/v2/data/wallet-balances');
    },
  );
});

describe('redirects are never followed', () => {
  test.each([301, 302, 303, 307, 308])(
    'a %s to another origin throws an ApiError, and no key arrives there',
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
  ])('a redirect %s throws an ApiError too', async (_name, location) => {
    const service = await startService(reply(302, '', { location }), wallets);
    await expect(clientFor(service).getWalletBalances()).rejects.toMatchObject({
      code: 'api_error',
      status: 302,
    });
    expect(service.requests).toHaveLength(1);
  });

  test('300 and 304 throw an ApiError', async () => {
    for (const status of [300, 304]) {
      const service = await startService(reply(status, ''));
      await expect(clientFor(service).listPaymentProviders()).rejects.toMatchObject({
        code: 'api_error',
        status,
      });
    }
  });

  test('a fetch that follows redirects anyway is detected', async () => {
    const elsewhere = await startService(providers);
    const service = await startService(reply(302, '', { location: elsewhere.baseUrl }));
    const client = createClient({
      baseUrl: service.baseUrl,
      publicKey,
      fetch: (url, { headers }) => fetch(url, { headers }),
    });
    await expect(client.listPaymentProviders()).rejects.toThrow(
      /answered with a redirect.*A fetch option must honour/,
    );
  });

  test('the opaque redirect of a browser throws an ApiError', async () => {
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

describe('the fetch option sends the requests', () => {
  test('fetch gets the URL and an init that forbids redirects and HTTP caches', async () => {
    const seen: [string, FetchInit][] = [];
    const client = createClient({
      baseUrl: 'https://service.example/pay',
      publicKey,
      fetch: (...parameters) => {
        seen.push(parameters);
        return Response.json({ code: 200, status: 'success', message: '', data: { payment_providers: [] } });
      },
    });
    expect(await client.listPaymentProviders()).toEqual([]);
    expect(seen).toEqual([
      [
        'https://service.example/pay/data/payment-providers',
        {
          method: 'GET',
          headers: {
            accept: 'application/json',
            'x-api-version': '1',
            'public-key': publicKey,
            'user-agent': expect.stringMatching(/^payment-service-sdk/),
          },
          redirect: 'manual',
          cache: 'no-store',
          signal: expect.any(AbortSignal),
        },
      ],
    ]);
  });

  test('the global fetch is looked up for every call', async () => {
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

describe('the User-Agent names the SDK', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  async function userAgentOf(): Promise<string | undefined> {
    let sent: string | undefined;
    const client = createClient({
      baseUrl: 'https://service.example',
      publicKey,
      fetch: (_url, { headers }) => {
        sent = headers['user-agent'];
        return Response.json({ status: 'success', data: { payment_providers: [] } });
      },
    });
    await client.listPaymentProviders();
    return sent;
  }

  test('a runtime without process has no node part', async () => {
    vi.stubGlobal('process', undefined);
    expect(await userAgentOf()).toBe(`payment-service-sdk/${manifest.version}`);
  });

  test('in a browser it is left out, since the browser sends its own', async () => {
    vi.stubGlobal('document', {});
    expect(await userAgentOf()).toBeUndefined();
  });
});
