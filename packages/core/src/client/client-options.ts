import type { PaymentServiceErrorCode } from '../errors.ts';
import type {
  PaymentProvider,
  PaymentProviderQuery,
  PayoutBank,
  PayoutBankQuery,
  Wallet,
  WalletQuery,
} from '../wire.ts';
import type { Timing } from './timing.ts';

/** The three calls, by their `operationId` in the contract. */
export type Operation = 'listPaymentProviders' | 'listPayoutBanks' | 'getWalletBalances';

/** Options of `createClient()`. */
export interface ClientOptions {
  /**
   * The address that the merchant received with the account. https, or http for this machine (`localhost`,
   * `127.0.0.1`, `[::1]`). A path is kept: `https://host/pay` calls `https://host/pay/data/…`.
   */
  readonly baseUrl: string | undefined;
  /**
   * Sent on every call (protocol §5.1). `undefined` compiles, so that `process.env.PUBLIC_KEY` can be given as
   * it is, and throws at construction.
   */
  readonly publicKey: string | undefined;
  /**
   * Sent with the balance inquiry only (protocol §5.1). Leave it out for a client without `getWalletBalances()`;
   * given and `undefined` (an unset environment variable) it throws at construction.
   */
  readonly secretKey?: string;
  /** The deadline of one call, in milliseconds: attempts, the waits between them and bodies. Default 10 000. */
  readonly timeoutMs?: number | undefined;
  /** How many requests one call may send, the first one included. Default 3; 1 turns retries off. */
  readonly maxAttempts?: number | undefined;
  /**
   * Sends the requests; default `globalThis.fetch`. Gets a `Request` with `redirect: 'manual'` and a signal, and must
   * keep to both. For another implementation, such as undici with a proxy:
   * `fetch: (request) => undici.fetch(request.url, { headers: request.headers, redirect: 'manual', … })`.
   */
  readonly fetch?: ((request: Request) => Response | Promise<Response>) | undefined;
  /** Called after every attempt, for metrics. Holds no key, header or body. An error in it is logged and changes nothing. */
  readonly onResponse?: ((report: AttemptReport) => void) | undefined;
  /** Keeps payment providers and payout banks in memory. Off unless given; balances are never cached. */
  readonly cache?: CacheOptions | undefined;
  /** Sends the secret key although `NODE_TLS_REJECT_UNAUTHORIZED=0` turned certificate checks off. Never in production. */
  readonly allowUnverifiedTls?: boolean | undefined;
  /** Clocks, timers and randomness, for tests. */
  readonly timing?: Partial<Timing> | undefined;
}

/** Options that make a client with `getWalletBalances()`. */
export interface ClientOptionsWithSecretKey extends Omit<ClientOptions, 'secretKey'> {
  /** As in `ClientOptions`; `undefined` compiles, so that `process.env.SECRET_KEY` can be given as it is, and throws. */
  readonly secretKey: string | undefined;
}

/** Options of the reference-data cache. Both times in milliseconds. */
export interface CacheOptions {
  /** How long an answer is served without asking the service again. */
  readonly ttlMs: number;
  /**
   * How much longer an answer is served while the service cannot be asked: no connection, a timeout, 408, 429, 5xx, or
   * an answer that is none. Not after another error, such as a refused key. Default 0.
   */
  readonly staleIfErrorMs?: number | undefined;
}

/** What `onResponse` gets after every attempt. */
export interface AttemptReport {
  readonly operation: Operation;
  /** 1 for the first request of a call. */
  readonly attempt: number;
  /** The HTTP status, when one came. */
  readonly status: number | undefined;
  /** From the start of this attempt to the end of its body. */
  readonly durationMs: number;
  readonly outcome: 'success' | 'aborted' | PaymentServiceErrorCode;
  /** The wait before the next attempt, when there will be one. */
  readonly retryInMs: number | undefined;
}

/** The last argument of every call. */
export interface CallOptions {
  /** Gives the call up, also while it waits for a retry; it then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/** The reference-data endpoints that take only the public key. All calls may be repeated safely. */
export interface Client {
  /**
   * The payment options of the account (protocol §4.1). Call it before any transaction request.
   *
   * @param query filters; `transaction_type` in upper case (`COLLECTION`), unlike in the answer (`Collection`).
   * @throws {ApiError} the service answered with an error. {ConnectionError} none came. {TimeoutError} not within
   * `timeoutMs`. {InvalidResponseError} it is not what the contract says.
   *
   * @example
   * const providers = await client.listPaymentProviders({ currency: 'UGX', transaction_type: 'COLLECTION' });
   */
  listPaymentProviders(query?: PaymentProviderQuery, call?: CallOptions): Promise<PaymentProvider[]>;
  /**
   * The banks of a provider with BANK payouts (protocol §4.2).
   *
   * @param query `provider_code` of one of the payment options.
   * @throws {ApiError} with `status` 400 when the service misses the provider_code; otherwise as
   * `listPaymentProviders()`.
   *
   * @example
   * const banks = await client.listPayoutBanks({ provider_code: provider.provider_code });
   */
  listPayoutBanks(query: PayoutBankQuery, call?: CallOptions): Promise<PayoutBank[]>;
}

/** A client that was made with `secretKey`. */
export interface ClientWithSecretKey extends Client {
  /**
   * The wallets of the account (protocol §4.3), one per currency and wallet type; amounts in whole units.
   *
   * @throws {ConfigurationError} when `NODE_TLS_REJECT_UNAUTHORIZED=0` would send the secret key to anybody; otherwise
   * as `listPaymentProviders()`.
   *
   * @example
   * const wallets = await client.getWalletBalances({ currency: 'UGX' });
   */
  getWalletBalances(query?: WalletQuery, call?: CallOptions): Promise<Wallet[]>;
}
