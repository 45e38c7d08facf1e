import { expect, onTestFinished, test, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import type { FetchInit } from '../../src/client/client.ts';
import { ApiError } from '../../src/errors.ts';
import {
  attempt,
  balances,
  clientAt,
  type clientWith,
  providers,
  providersOf,
  reply,
  serve,
  success,
  successBody,
} from './local-service.ts';
import { bank, exactWallet, provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const wallets = success({ merchant_wallets: [wallet] });
const VERSION = `payment-service-sdk/${manifest.version}`;

test('each call sends one GET of protocol §4 with its filters, and only the balance call the secret key (protocol §5.1)', async () => {
  const banks = success({ payout_banks: [bank] });
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
  const headers = {
    ...{ accept: 'application/json', 'x-api-version': '1', 'public-key': publicKey },
    'user-agent': `${VERSION} node/${process.versions.node}`,
  };
  expect(requests).toMatchObject(Array(4).fill({ method: 'GET', headers }));
  const secret = requests.map((request) => request.headers['secret-key']);
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
    const location = `${elsewhere.baseUrl}/data/wallet-balances?stolen=${encodeURIComponent(secretKey)}`;
    const { error, sent } = await attempt(reply(status, '', { location }), {}, balances);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status, attempts: 1 });
    expect(String(error)).toContain(new URL(elsewhere.baseUrl).host);
    expect(String(error)).not.toMatch(/wallet-balances\?|stolen/);
    expect([elsewhere.requests.length, sent]).toEqual([0, 1]);
  },
);

test('the response of a fetch that has followed a redirect in spite of its init is refused', async () => {
  const fetch = (url: string, init: FetchInit) => globalThis.fetch(url, { ...init, redirect: 'follow' });
  const { error, sent } = await attempt([reply(307, '', { location: '/b' }), providers], { fetch });
  const message = expect.stringContaining('A fetch option must honour `redirect: "manual"`.');
  expect(error).toMatchObject({ code: 'api_error', message });
  expect(sent).toBe(2);
});

async function sent(): Promise<Parameters<NonNullable<Parameters<typeof clientWith>[0]>>> {
  const fetch = vi.fn((_url: string, _init: FetchInit) =>
    Response.json(successBody({ payment_providers: [] })),
  );
  expect(await providersOf(clientAt('https://service.example/pay', { fetch }).client)).toEqual([]);
  expect(fetch).toHaveBeenCalledOnce();
  return fetch.mock.calls[0] ?? expect.fail('Nothing was sent.');
}

test('the fetch option gets the URL and an init that forbids redirects and HTTP caches', async () => {
  const headers = expect.objectContaining({ 'public-key': publicKey });
  const signal = expect.any(AbortSignal);
  expect(await sent()).toEqual([
    'https://service.example/pay/data/payment-providers',
    { method: 'GET', headers, redirect: 'manual', cache: 'no-store', signal },
  ]);
});

test.each([
  ['has no node part in a runtime without process', 'process', undefined, VERSION],
  ['is left out in a browser, which sends its own', 'document', {}, undefined],
])('the User-Agent %s', async (_, global, value, userAgent) => {
  vi.stubGlobal(global, value);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect((await sent())[1].headers['user-agent']).toBe(userAgent);
});
