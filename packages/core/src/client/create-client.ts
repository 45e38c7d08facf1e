import * as z from 'zod';
import type { paths } from '../generated/payment-service.ts';
import type { PaymentProvider, PayoutBank } from '../wire.ts';
import type {
  Client,
  ClientOptions,
  ClientOptionsWithSecretKey,
  ClientWithSecretKey,
} from './client-options.ts';
import { type ClientSettings, readClientSettings } from './client-settings.ts';
import { createApi } from './create-api.ts';
import { readEnvelope } from './envelope.ts';
import { serializeQuery } from './query.ts';
import { ReferenceCache } from './reference-cache.ts';
import { RetryBudget } from './retry-budget.ts';
import { type OperationCall, runOperation } from './run-operation.ts';
import { paymentProviderSchema, payoutBankSchema, walletSchema } from './schemas.ts';
import { refuseUnverifiedTls } from './unverified-tls.ts';

const providersData = z.looseObject({ payment_providers: z.array(paymentProviderSchema) });
const banksData = z.looseObject({ payout_banks: z.array(payoutBankSchema) });
const walletsData = z.looseObject({ merchant_wallets: z.array(walletSchema) });

/** Protocol §9: sent with value 1 on every request shown. */
const header = { 'x-api-version': '1' } as const;

/**
 * Makes a client for the reference-data endpoints (protocol §4). It has `getWalletBalances()` when it is made with
 * `secretKey`.
 *
 * A call repeats network errors, 408, 429, 500, 502, 503 and 504, up to `maxAttempts` requests and inside one deadline
 * of `timeoutMs`; retries of all calls together stay within a tenth of the calls, after a burst of 10. Redirects are
 * never followed. Keys show up in no error, log line or inspected object.
 *
 * @throws {ConfigurationError} that names the option, when a key or the address is missing or has no sense.
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
  const { base, keys, cache, timing } = settings;
  const budget = new RetryBudget();
  const run = <T>(call: OperationCall<T>, signal: AbortSignal | undefined): Promise<T> =>
    runOperation(call, settings, budget, signal);
  const api = createApi<paths>({
    baseUrl: base.text,
    headers: { accept: 'application/json', 'public-key': keys.publicKey },
    querySerializer: serializeQuery,
    redirect: 'manual',
    // Frameworks cache GETs behind fetch; only the cache option of this client may. Some runtimes know no such field.
    ...('cache' in Request.prototype ? { cache: 'no-store' } : {}),
  });
  const providers = cache && new ReferenceCache<PaymentProvider[]>(cache, timing);
  const banks = cache && new ReferenceCache<PayoutBank[]>(cache, timing);

  // Each call copies its query: a retry must ask, and the cache must keep, what was asked for in the beginning.
  const client: Client = {
    async listPaymentProviders(filters, { signal } = {}) {
      const query = { ...filters };
      const load = (until: AbortSignal | undefined): Promise<PaymentProvider[]> =>
        run(
          {
            operation: 'listPaymentProviders',
            request: (init) => api.GET('/data/payment-providers', { ...init, params: { query, header } }),
            read: (text) => readEnvelope(text, providersData).payment_providers,
          },
          until,
        );
      return providers === undefined ? load(signal) : providers.read(serializeQuery(query), load, signal);
    },
    async listPayoutBanks(filters, { signal } = {}) {
      const query = { ...filters };
      const load = (until: AbortSignal | undefined): Promise<PayoutBank[]> =>
        run(
          {
            operation: 'listPayoutBanks',
            request: (init) => api.GET('/data/payout-bank-codes', { ...init, params: { query, header } }),
            read: (text) => readEnvelope(text, banksData).payout_banks,
          },
          until,
        );
      return banks === undefined ? load(signal) : banks.read(serializeQuery(query), load, signal);
    },
  };
  const { secretKey } = keys;
  if (secretKey === undefined) return redacted(client, settings);
  const withSecretKey: ClientWithSecretKey = {
    ...client,
    async getWalletBalances(filters, { signal } = {}) {
      const query = { ...filters };
      refuseUnverifiedTls(base, settings.allowUnverifiedTls);
      return run(
        {
          operation: 'getWalletBalances',
          // The only place where the secret key is attached; the address is always the configured one.
          request: (init) =>
            api.GET('/data/wallet-balances', {
              ...init,
              params: { query, header },
              headers: { 'secret-key': secretKey },
            }),
          read: (text) => readEnvelope(text, walletsData).merchant_wallets,
        },
        signal,
      );
    },
  };
  return redacted(withSecretKey, settings);
}

/** What `JSON.stringify` and Node's `util.inspect` show of a client. The keys themselves are in closures only. */
function redacted<T extends Client>(client: T, { base, keys }: ClientSettings): T {
  const shown = {
    baseUrl: base.text,
    publicKey: '[redacted]',
    ...(keys.secretKey === undefined ? {} : { secretKey: '[redacted]' }),
  };
  return Object.defineProperties(client, {
    toJSON: { value: () => shown },
    [Symbol.for('nodejs.util.inspect.custom')]: { value: () => shown },
  });
}
