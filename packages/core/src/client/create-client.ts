import type { PaymentProvider, PayoutBank } from '../wire.ts';
import { noteUnverifiedTls, refuseUnverifiedTls } from './base-url.ts';
import { RetryBudget, runCall } from './call.ts';
import type { Client, ClientOptions, ClientOptionsWithSecretKey, ClientWithSecretKey } from './client.ts';
import { BANKS, type List, PROVIDERS, readList, WALLETS } from './envelope.ts';
import { ReferenceCache } from './reference-cache.ts';
import { type ClientSettings, readClientSettings } from './settings.ts';

/**
 * Makes a client for the reference-data endpoints (protocol §4). It has `getWalletBalances()` if `secretKey` is given.
 *
 * A call retries network errors, 408, 429, 500, 502, 503 and 504, up to `maxAttempts` requests and inside one deadline
 * of `timeoutMs`. The retries of all calls together stay within a tenth of the calls, after a burst of 10. Redirects are
 * never followed. No error, log line or inspected object shows a key.
 *
 * @throws {ConfigurationError} naming the option if one is missing, invalid or unknown.
 *
 * @example
 * const client = createClient({
 *   baseUrl: process.env.PAYMENT_SERVICE_URL,
 *   publicKey: process.env.PUBLIC_KEY,
 *   secretKey: process.env.SECRET_KEY,
 * });
 * const wallets = await client.getWalletBalances({ currency: 'UGX' });
 */
export function createClient(options: ClientOptionsWithSecretKey): ClientWithSecretKey;
export function createClient(options: ClientOptions): Client;
export function createClient(
  options: ClientOptions | ClientOptionsWithSecretKey,
): Client | ClientWithSecretKey {
  const settings = readClientSettings(options);
  const { base, secretKey, cache, timing, strict, onDeviation } = settings;
  const budget = new RetryBudget();

  const request = <T>(
    list: List<T>,
    query: string,
    signal: AbortSignal | undefined,
    headers = settings.headers,
  ): Promise<T[]> => {
    noteUnverifiedTls();
    const { operation, path } = list;
    const url = `${base.text}${path}${query === '' ? '' : `?${query}`}`;
    const read = (text: string): T[] => readList(text, list, strict, onDeviation);
    return runCall({ operation, url, headers, read }, settings, budget, signal);
  };

  const providers = cache && new ReferenceCache<PaymentProvider[]>(cache, timing);
  const banks = cache && new ReferenceCache<PayoutBank[]>(cache, timing);
  const client: Client = {
    // The query is read now: a retry must send, and the cache must keep, what the call began with.
    async listPaymentProviders(filters, { signal } = {}) {
      const query = serializeQuery(filters);
      if (providers === undefined) return request(PROVIDERS, query, signal);
      return providers.read(query, (until) => request(PROVIDERS, query, until), signal);
    },
    async listPayoutBanks(filters, { signal } = {}) {
      const query = serializeQuery(filters);
      if (banks === undefined) return request(BANKS, query, signal);
      return banks.read(query, (until) => request(BANKS, query, until), signal);
    },
  };
  if (secretKey === undefined) return redacted(client, settings);
  const withSecretKey: ClientWithSecretKey = {
    ...client,
    async getWalletBalances(filters, { signal } = {}) {
      noteUnverifiedTls();
      refuseUnverifiedTls(base, settings.allowUnverifiedTls);
      // The only place where the secret key is attached; the address is always the configured one.
      const headers = { ...settings.headers, 'secret-key': secretKey };
      return request(WALLETS, serializeQuery(filters), signal, headers);
    },
  };
  return redacted(withSecretKey, settings);
}

/** Undefined filters are left out. Sorted, so that equal queries are equal strings. */
function serializeQuery(query: object | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) params.append(name, String(value));
  }
  params.sort();
  return params.toString();
}

/** What `JSON.stringify` and Node's `util.inspect` show of a client. The keys themselves exist in closures only. */
function redacted<T extends Client>(client: T, { base, secretKey }: ClientSettings): T {
  const shown = {
    baseUrl: base.text,
    publicKey: '[redacted]',
    ...(secretKey === undefined ? {} : { secretKey: '[redacted]' }),
  };
  return Object.defineProperties(client, {
    toJSON: { value: () => shown },
    [Symbol.for('nodejs.util.inspect.custom')]: { value: () => shown },
  });
}
