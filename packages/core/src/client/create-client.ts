import { ConfigurationError } from '../errors.ts';
import {
  BOOLEAN,
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  RECORD,
  REQUIRED,
} from '../options/options.ts';
import { MAX_CREDIT, runCall } from './call/call.ts';
import { referenceCache } from './call/reference-cache.ts';
import type {
  CallOptions,
  Client,
  ClientOptions,
  ClientOptionsWithSecretKey,
  ClientWithoutSecretKey,
  ClientWithSecretKey,
  Operation,
  ReferenceChange,
} from './client.ts';
import { queryText } from './request/address.ts';
import type { UntypedRequest } from './request/request.ts';
import { createRequest, SIGNAL } from './request/send-request.ts';
import { BANKS, type List, PROVIDERS, readList, WALLETS } from './response/envelope.ts';
import { readWallets } from './response/wallets.ts';
import { checkTls } from './settings/base-url.ts';
import { type ClientSettings, readClientSettings } from './settings/settings.ts';

/**
 * Creates a client for the reference-data endpoints (protocol §4). `getWalletBalances()` needs `secretKey`.
 *
 * A call retries network errors, 408, 429, 500, 502, 503 and 504, with up to `maxAttempts` requests and one deadline of
 * `timeoutMs`. Across all calls, retries stay within a tenth of the calls, after a burst of 10. Redirects are never
 * followed. No error, log line or inspected object shows a key.
 *
 * @throws {ConfigurationError} if an option is missing, invalid or unknown. The message names it.
 *
 * @example
 * const client = createClient({
 *   baseUrl: process.env.PAYMENT_SERVICE_URL,
 *   publicKey: process.env.PUBLIC_KEY,
 *   secretKey: process.env.SECRET_KEY,
 * });
 * const wallets = await client.getWalletBalances({ currency: 'UGX' });
 */
export function createClient<Paths extends object = never>(
  options: ClientOptionsWithSecretKey,
): ClientWithSecretKey<Paths>;
export function createClient<Paths extends object = never>(
  options: ClientOptions,
): ClientWithoutSecretKey<Paths>;
export function createClient(
  options: ClientOptions | ClientOptionsWithSecretKey,
): Client | ClientWithSecretKey {
  const settings = readClientSettings(options);
  const { base, secretKey, cache, timing } = settings;
  const budget = { credit: MAX_CREDIT };

  const reader = <T, Row>(
    list: List<T>,
    read: (text: string) => Row[],
    headers: ClientSettings['headers'],
  ): Reader<Row> => {
    const { operation, path } = list;
    const load = (query: string, signal: AbortSignal | undefined): Promise<Row[]> => {
      checkTls(base, list.isMoney === true, settings.allowUnverifiedTls);
      const url = `${base.text}${path}${query}`;
      return runCall({ settings, budget, operation, url, headers, read }, signal);
    };
    const onRefresh = (before: Row[], after: Row[]): void => {
      if (cache?.onChange === undefined) return;
      const change = changeOf(before, after);
      // The cast: the type cannot tell which of the two operations these rows belong to.
      if (change.before.length + change.after.length > 0)
        cache.onChange({ operation, ...change } as ReferenceChange);
    };
    const cached = cache && !list.isMoney && referenceCache<Row[]>(load, cache, timing, onRefresh);
    // The query is serialised now: retries and the cache must use it as it was when the call began.
    return async (query = {}, call = {}) => {
      checkArgument(`${operation}()`, 'query', query, RECORD);
      checkOptions(`${operation}()`, query, QUERIES[operation]);
      checkOptions(`${operation}()`, call, CALL_OPTIONS);
      const { signal } = call;
      signal?.throwIfAborted();
      const serialized = queryText(query);
      return cached ? cached(serialized, call) : load(serialized, signal);
    };
  };
  const listOf = <T>(list: List<T>): Reader<T> =>
    reader(list, (text) => readList(text, list, settings), settings.headers);

  const request = createRequest(settings, budget) as UntypedRequest<boolean>;
  const client: Client = {
    listPaymentProviders: listOf(PROVIDERS),
    listPayoutBanks: listOf(BANKS),
    request,
  };
  if (secretKey === undefined) return redacted({ ...client, getWalletBalances: refuseBalances }, settings);
  // The only place where the secret key is attached; the address is always the configured one.
  const headers = { ...settings.headers, 'secret-key': secretKey };
  const getWalletBalances = reader(WALLETS, (text) => readWallets(text, settings), headers);
  return redacted<ClientWithSecretKey>({ ...client, request, getWalletBalances }, settings);
}

const CALL_OPTIONS: OptionRules<CallOptions> = {
  signal: SIGNAL,
  fresh: BOOLEAN,
};

const TEXT: OptionRule = [
  (value) => typeof value === 'string' && value !== '' && value.isWellFormed(),
  'a non-empty string',
];
/** By operation. An undefined filter is left out; the provider code is required (protocol §4.2). */
const QUERIES: {
  readonly [Name in Operation]: OptionRules<NonNullable<Parameters<ClientWithSecretKey[Name]>[0]>>;
} = {
  listPaymentProviders: { currency: TEXT, transaction_type: TEXT },
  listPayoutBanks: { provider_code: [TEXT[0], TEXT[1], REQUIRED] },
  getWalletBalances: { currency: TEXT },
};

/** Without the key, this call does not exist in the types, but JavaScript can still make it. */
async function refuseBalances(): Promise<never> {
  const message = 'getWalletBalances() needs the secret key: pass secretKey to createClient().';
  throw new ConfigurationError('secretKey', message);
}

/** The rows that the other list does not contain unchanged. They are copies, since the cache keeps the originals. */
function changeOf<Row>(before: readonly Row[], after: readonly Row[]): Record<'before' | 'after', Row[]> {
  const without = (rows: readonly Row[], others: readonly Row[]): Row[] => {
    const known = new Set(others.map((row) => JSON.stringify(row)));
    return structuredClone(rows.filter((row) => !known.has(JSON.stringify(row))));
  };
  return { before: without(before, after), after: without(after, before) };
}

type Reader<T> = (query?: object, call?: CallOptions) => Promise<T[]>;

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
