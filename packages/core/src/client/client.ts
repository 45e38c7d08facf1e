import type { PaymentServiceErrorCode } from '../errors.ts';
import type { components, operations } from '../generated/payment-service.ts';
import type { SendRequest } from './request/request.ts';

/**
 * A payment option of the account (protocol §2.2). The limits in the sample are whole units of a currency without minor units;
 * the unit in other currencies is not shown (protocol §8).
 */
export type PaymentProvider = components['schemas']['PaymentProvider'];
/** A bank that a provider with BANK payouts supports (protocol §2.3). */
export type PayoutBank = components['schemas']['PayoutBank'];
/** A currency wallet of the account (protocol §2.4). The unit of its balances is not shown. */
export type Wallet = components['schemas']['Wallet'];
/** Filters of the payment options (protocol §4.1). */
export type PaymentProviderQuery = Query<'listPaymentProviders'>;
/** The query of the payout banks (protocol §4.2). */
export type PayoutBankQuery = Query<'listPayoutBanks'>;
/** The filter of the balance inquiry (protocol §4.3). */
export type WalletQuery = Query<'getWalletBalances'>;

/** The query of a call as in the contract, with `undefined` for optional parameters. */
type Query<Name extends Operation> =
  NonNullable<operations[Name]['parameters']['query']> extends infer Given
    ? { [Field in keyof Given]: object extends Pick<Given, Field> ? Given[Field] | undefined : Given[Field] }
    : never;

/** The three calls, by their `operationId` in the contract. */
export type Operation = 'listPaymentProviders' | 'listPayoutBanks' | 'getWalletBalances';

/** Options of `createClient()`. An unknown option throws at construction. */
export interface ClientOptions {
  /**
   * The address that the merchant received with the account: https, or http for this machine (`localhost`,
   * `127.0.0.1`, `[::1]`). A path is kept: `https://host/pay` calls `https://host/pay/data/…`.
   */
  readonly baseUrl: string | URL | undefined;
  /**
   * Sent on every call (protocol §5.1). `undefined` compiles, so that `process.env.PUBLIC_KEY` can be passed directly,
   * and throws at construction.
   */
  readonly publicKey: string | undefined;
  /**
   * Sent with the balance inquiry (protocol §5.1), and with a `request()` that has `secretKey: true`. Without it,
   * `getWalletBalances()` does not compile, and rejects. If it is present but `undefined` (an unset environment variable),
   * construction throws.
   */
  readonly secretKey?: string;
  /**
   * The deadline of one call in milliseconds. It covers all attempts, the waits between them and the bodies.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How many requests one call may send, including the first one. 1 turns retries off.
   *
   * @default 3
   */
  readonly maxAttempts?: number | undefined;
  /**
   * Refuses the whole list with an `InvalidResponseError` if one payment provider or payout bank deviates from the
   * contract. Balances are always strict.
   *
   * @default false: a row that deviates is left out and reported to `onDeviation`, and missing `option_prefixes` read
   * as an empty list.
   */
  readonly strict?: boolean | undefined;
  /**
   * Called for every row that is left out, and for every wallet whose balances do not add up to `actual_balance`, at most 100
   * times per response. An error in it is logged and changes nothing.
   *
   * @default one `console.warn` per operation and field for the life of the client
   */
  readonly onDeviation?: ((deviation: Deviation) => unknown) | undefined;
  /**
   * Sends the requests. It takes the same URL and init as the global `fetch`, so you can pass `undici.fetch` or `sandbox.fetch`
   * directly. It must honour `redirect: 'manual'` and `signal`, and send each request once: a transport that retries can send a
   * payment twice, and the client can then no longer tell that nothing was sent.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: ((url: string, init: FetchInit) => Response | Promise<Response>) | undefined;
  /** Called after every attempt, for metrics. Receives no key, header or body. An error in it is logged and changes nothing. */
  readonly onResponse?: ((report: AttemptReport) => unknown) | undefined;
  /** Keeps payment providers and payout banks in memory. Balances are never cached. @default off */
  readonly cache?: CacheOptions | undefined;
  /**
   * One host, or a list, for which `http://` is allowed beyond this machine, such as `sandbox` in a container network.
   * Risk: anyone on the network path can read the keys and change the responses.
   */
  readonly allowInsecureHost?: string | readonly string[] | undefined;
  /**
   * Sends the secret key even though `NODE_TLS_REJECT_UNAUTHORIZED=0` turned certificate checks off. Never in production.
   *
   * @default false
   */
  readonly allowUnverifiedTls?: boolean | undefined;
  /** Clocks, timers and randomness, for tests. @default the machine's own */
  readonly timing?: { readonly [Name in keyof Timing]?: Timing[Name] | undefined } | undefined;
}

/** Options that make a client with `getWalletBalances()`. */
export interface ClientOptionsWithSecretKey extends Omit<ClientOptions, 'secretKey'> {
  /** As in `ClientOptions`. `undefined` compiles, so that `process.env.SECRET_KEY` can be passed directly, and throws. */
  readonly secretKey: string | undefined;
}

/** The second argument of `fetch`. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  /** JSON, only for a `request()` with a body. */
  readonly body?: string;
  readonly redirect: 'manual';
  /** Left out where the runtime does not know it. */
  readonly cache?: 'no-store';
  readonly signal: AbortSignal;
}

/**
 * The client's sources of time and randomness. A test can replace some or all of them.
 *
 * @example
 * createClient({ baseUrl, publicKey, timing: { random: () => 1 } }); // every retry waits as long as it may
 */
export interface Timing {
  /** Milliseconds since 1970. A `Retry-After` date is compared with it. */
  now(): number;
  /** Milliseconds of a clock that is never set back, for deadlines, durations and the age of cached data. */
  monotonic(): number;
  /** At least 0 and less than 1: the jitter of a retry. */
  random(): number;
  /** Calls `callback` once, after `delayMs`. Returns a function that cancels it. */
  schedule(callback: () => void, delayMs: number): () => void;
}

/** Options of the reference-data cache. Both times are in milliseconds. */
export interface CacheOptions {
  /** How long a response is served without a new request. */
  readonly ttlMs: number;
  /**
   * How much longer stale data is served when the service is unreachable, times out, responds with 408, 429 or 5xx, or
   * returns an invalid response. Other errors, such as a refused key, are passed through.
   *
   * @default 0
   */
  readonly staleIfErrorMs?: number | undefined;
  /**
   * Called when a new response differs from the one that it replaces: a provider or bank was added, removed, switched off or
   * on, or its prefixes or limits changed. An error in it is logged and changes nothing.
   *
   * @default none
   */
  readonly onChange?: ((change: ReferenceChange) => unknown) | undefined;
}

/** The difference between two responses to the same query: the rows that are in only one of them. */
export type ReferenceChange =
  | {
      readonly operation: 'listPaymentProviders';
      readonly before: readonly PaymentProvider[];
      readonly after: readonly PaymentProvider[];
    }
  | {
      readonly operation: 'listPayoutBanks';
      readonly before: readonly PayoutBank[];
      readonly after: readonly PayoutBank[];
    };

/** A row that deviates from the contract, or a wallet whose balances do not add up. */
export interface Deviation {
  readonly operation: Operation;
  /** Such as `data.payout_banks[3].bank_name`. */
  readonly path: string;
  /** The type found there, never the value: `null`, `missing`, `string`, `array`, `deeper nesting`, … */
  readonly received: string;
  /** False for a wallet: it is returned, and its `actual_balance` differs from the sum of the others. */
  readonly isLeftOut: boolean;
}

/** What `onResponse` receives after every attempt. */
export interface AttemptReport {
  readonly operation: Operation | 'request';
  /** For a `request()`: the method and path as passed, such as `POST /transfers/{id}`. */
  readonly request?: string;
  /** 1 for the first request of a call. */
  readonly attempt: number;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** From the start of this attempt to the end of its body, in milliseconds. */
  readonly durationMs: number;
  readonly outcome: 'success' | PaymentServiceErrorCode;
  /** The wait before the next attempt in milliseconds, if there is one. */
  readonly retryInMs: number | undefined;
}

/** The last argument of every call. An unknown option makes the call reject with a `ConfigurationError`. */
export interface CallOptions {
  /** Cancels the call, including the wait for a retry. The call then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Sends a request even if a response is cached, and caches the new one. An outage is then an error: no stale data is
   * served. Use it just before a transaction. @default false
   */
  readonly fresh?: boolean | undefined;
}

/** The balances of a wallet as canonical decimal strings, such as `1999.9`: equal amounts are equal strings. */
export type ExactBalances = {
  readonly [Field in keyof Wallet as Field extends `${string}_balance` ? Field : never]: string;
};

/** A wallet with its balances as exact strings in addition to the numbers. */
export interface ExactWallet extends Wallet {
  /** Read from the text of the response, never through a float. Replaces any field of this name that the service sends. */
  readonly exact: ExactBalances;
}

/**
 * The reference-data endpoints that need only the public key, each safe to repeat, and `request()` for all other endpoints.
 *
 * @typeParam Paths The `paths` that openapi-typescript generated from your own contract.
 */
export interface Client<Paths = never> {
  /**
   * Lists the payment options of the account (protocol §4.1). Call it before any transaction request.
   *
   * @param query Filters. `transaction_type` is upper case here (`COLLECTION`) and mixed case in the response
   * (`Collection`).
   * @throws {ApiError} if the service responds with an error.
   * @throws {ConnectionError} if there is no response.
   * @throws {TimeoutError} if the call takes longer than `timeoutMs`.
   * @throws {InvalidResponseError} if the response breaks the contract.
   * @throws {ConfigurationError} if the query or a call option is unknown or invalid, before a request is sent.
   *
   * @example
   * const providers = await client.listPaymentProviders({ currency: 'UGX', transaction_type: 'COLLECTION' });
   */
  listPaymentProviders(query?: PaymentProviderQuery, call?: CallOptions): Promise<PaymentProvider[]>;
  /**
   * Lists the banks of a provider with BANK payouts (protocol §4.2).
   *
   * @param query The `provider_code` of one of the payment options.
   * @throws {ApiError} if the service responds with an error.
   * @throws {ConnectionError} if there is no response.
   * @throws {TimeoutError} if the call takes longer than `timeoutMs`.
   * @throws {InvalidResponseError} if the response breaks the contract.
   * @throws {ConfigurationError} if the query or a call option is unknown or invalid, before a request is sent.
   *
   * @example
   * const banks = await client.listPayoutBanks({ provider_code: provider.provider_code });
   */
  listPayoutBanks(query: PayoutBankQuery, call?: CallOptions): Promise<PayoutBank[]>;
  /**
   * Calls any path below `baseUrl`, such as the endpoints that start payments, which the protocol does not show
   * (protocol §4.4), with the same keys, deadline, envelope and limits as the reference calls. GET and HEAD are retried. Every
   * other method is sent once, unless `repeat` says that repeating is safe; `error.sent` says whether it may have arrived.
   *
   * @throws {ApiError} if the service responds with an error.
   * @throws {ConnectionError} if there is no response.
   * @throws {TimeoutError} if the call takes longer than `timeoutMs`.
   * @throws {InvalidResponseError} if the response is not the envelope, or `data` does not match `schema`.
   * @throws {AbortedError} if `signal` aborts.
   * @throws {ConfigurationError} if an option is unknown or invalid, or the path leaves `baseUrl`. Nothing was sent.
   *
   * @example
   * const { data } = await client.request({ method: 'POST', path: '/transfers', body: { amount: 500 }, secretKey: true, schema });
   */
  readonly request: SendRequest<Paths, false>;
}

/** A client created without `secretKey`: it has no `getWalletBalances()`, and no `request()` with `secretKey: true`. */
export interface ClientWithoutSecretKey<Paths = never> extends Client<Paths> {}

/** A client created with `secretKey`. */
export interface ClientWithSecretKey<Paths = never> extends Omit<Client<Paths>, 'request'> {
  /** Like `request()` of `Client`, and also accepts `secretKey: true`. */
  readonly request: SendRequest<Paths, boolean>;
  /**
   * Lists the wallets of the account (protocol §4.3). A number is exact for 15 digits; `exact` of each wallet keeps all digits.
   * The protocol does not show the unit of balances, nor whether an account can have several wallets of one currency and type.
   *
   * @throws {ApiError} if the service responds with an error.
   * @throws {ConnectionError} if there is no response.
   * @throws {TimeoutError} if the call takes longer than `timeoutMs`.
   * @throws {InvalidResponseError} if the response breaks the contract.
   * @throws {ConfigurationError} if `NODE_TLS_REJECT_UNAUTHORIZED=0` was set at any time in this process.
   * @throws {ConfigurationError} if the query or a call option is unknown or invalid, before a request is sent.
   *
   * @example
   * const [wallet] = await client.getWalletBalances({ currency: 'UGX' });
   * console.log(wallet?.exact.available_balance); // '9007199254740993', where the number is 9007199254740992
   */
  getWalletBalances(query?: WalletQuery, call?: CallOptions): Promise<ExactWallet[]>;
}
