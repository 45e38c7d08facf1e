import { afterEach, expect, test, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import type { FetchInit } from '../../src/client/client.ts';
import { ApiError } from '../../src/errors.ts';
import {
  balances,
  clientAt,
  clientWith,
  failureOf,
  failureWith,
  providers,
  reply,
  serve,
  success,
  successBody,
} from './local-service.ts';
import { bank, exactWallet, provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const banks = success({ payout_banks: [bank] });
const wallets = success({ merchant_wallets: [wallet] });

test('the three calls send their filters, and only the balance call carries the secret key (protocol §5.1)', async () => {
  const { client, requests, baseUrl } = await serve([providers, providers, banks, wallets]);
  const { listPaymentProviders } = client; // The methods work when they are detached from the client.
  const query = { currency: 'UGX', transaction_type: 'COLLECTION' };
  expect(await listPaymentProviders(query)).toEqual([provider]);
  await listPaymentProviders({ currency: undefined } as object);
  expect(await client.listPayoutBanks({ provider_code: 'a&b=c d/é' })).toEqual([bank]);
  expect(await client.getWalletBalances({ currency: 'UGX' })).toEqual([exactWallet]);
  expect(requests.map(({ url }) => url)).toEqual([
    '/data/payment-providers?currency=UGX&transaction_type=COLLECTION',
    '/data/payment-providers',
    '/data/payout-bank-codes?provider_code=a%26b%3Dc%20d%2F%C3%A9',
    '/data/wallet-balances?currency=UGX',
  ]);
  const { searchParams } = new URL(requests[2]?.url ?? '', baseUrl);
  expect([...searchParams]).toEqual([['provider_code', 'a&b=c d/é']]);
  for (const { method, headers } of requests) {
    expect(method).toBe('GET');
    expect(headers).toMatchObject({
      'user-agent': `payment-service-sdk/${manifest.version} node/${process.versions.node}`,
      accept: 'application/json',
      'x-api-version': '1',
      'public-key': publicKey,
    });
  }
  const secret = requests.map(({ headers }) => headers['secret-key']);
  expect(secret).toEqual([undefined, undefined, undefined, secretKey]);
});

test.each(['/pay/v2', '/pay/v2/', '/pay/v2//'])('the prefix %s of baseUrl is kept', async (prefix) => {
  const { baseUrl, requests } = await serve(wallets);
  await clientAt(baseUrl + prefix).client.getWalletBalances();
  expect(requests[0]?.url).toBe('/pay/v2/data/wallet-balances');
});

test.each([301, 302, 303, 307, 308])(
  'a %s to another origin throws an ApiError, and no key arrives there',
  async (status) => {
    const elsewhere = await serve(wallets);
    const target = `${elsewhere.baseUrl}/data/wallet-balances?stolen=${encodeURIComponent(secretKey)}`;
    const { client, requests } = await serve(reply(status, '', { location: target }));
    const error = await failureOf(client.getWalletBalances());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status, attempts: 1 });
    expect(String(error)).toContain(new URL(elsewhere.baseUrl).host);
    expect(String(error)).not.toMatch(/wallet-balances\?|stolen/);
    expect([elsewhere.requests.length, requests.length]).toEqual([0, 1]);
  },
);

test.each([
  [302, 'within the same origin', { location: '/elsewhere' }],
  [302, 'to a scheme without a host', { location: 'data:text/plain,x' }],
  [300, 'without a target', {}],
  [304, 'without a target', {}],
])('a %i %s throws an ApiError too', async (status, _name, headers) => {
  const error = await failureWith([reply(status, '', headers), wallets], {}, balances);
  expect(error).toMatchObject({ code: 'api_error', status });
});

test('a fetch that follows redirects anyway is detected', async () => {
  const elsewhere = await serve(providers);
  const follow = (url: string, { headers }: FetchInit) => fetch(url, { headers });
  const error = await failureWith(reply(302, '', { location: elsewhere.baseUrl }), { fetch: follow });
  expect(String(error)).toMatch(/answered with a redirect.*A fetch option must honour/);
});

test('the opaque redirect of a browser throws an ApiError', async () => {
  const opaque = new Proxy(Response.error(), {
    get: (response, name) => (name === 'type' ? 'opaqueredirect' : Reflect.get(response, name, response)),
  });
  const message = expect.stringContaining('redirect');
  const error = await failureOf(clientWith(() => opaque).listPaymentProviders());
  expect(error).toMatchObject({ code: 'api_error', status: 0, message });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

async function sent(): Promise<[string, FetchInit][]> {
  const seen: [string, FetchInit][] = [];
  const { client } = clientAt('https://service.example/pay', {
    fetch: (...parameters) => {
      seen.push(parameters);
      return Response.json(successBody({ payment_providers: [] }));
    },
  });
  expect(await client.listPaymentProviders()).toEqual([]);
  return seen;
}

test('fetch gets the URL and an init that forbids redirects and HTTP caches', async () => {
  expect(await sent()).toEqual([
    [
      'https://service.example/pay/data/payment-providers',
      {
        method: 'GET',
        headers: expect.objectContaining({ 'public-key': publicKey }),
        redirect: 'manual',
        cache: 'no-store',
        signal: expect.any(AbortSignal),
      },
    ],
  ]);
});

test('the global fetch is looked up for every call', async () => {
  const { client } = await serve(providers);
  const original = globalThis.fetch;
  const watched = vi.fn(original);
  globalThis.fetch = watched;
  await client.listPaymentProviders().finally(() => {
    globalThis.fetch = original;
  });
  expect(watched).toHaveBeenCalledOnce();
});

const version = `payment-service-sdk/${manifest.version}`;
test.each([
  ['has no node part in a runtime without process', 'process', undefined, version],
  ['is left out in a browser, which sends its own', 'document', {}, undefined],
])('the User-Agent %s', async (_, global, value, userAgent) => {
  vi.stubGlobal(global, value);
  expect((await sent())[0]?.[1].headers['user-agent']).toBe(userAgent);
});
