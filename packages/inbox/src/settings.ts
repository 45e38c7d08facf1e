import { ConfigurationError } from '@payment-service/core';
import type { RetrySettings } from './backoff.ts';
import type { AllowedTransitions } from './evaluation.ts';
import { type Emit, emitter, type InboxEvent } from './events.ts';
import type { Store } from './store.ts';

/** Options of `createInbox()`. */
export interface InboxOptions<Tx> {
  /** `postgres(pool)` for several machines, `sqlite(path)` for one. */
  readonly store: Store<Tx>;
  /**
   * A label of the merchant account, for several accounts in one database: each inbox sees and works on its own. The
   * verifier's `account` must be the same: `receive()` refuses a callback of another account.
   *
   * @default ''
   */
  readonly account?: string | undefined;
  /**
   * The path of a SQLite file on a local disk. While the store is away, callbacks are kept there and acknowledged; they
   * are handed over by themselves afterwards. Without it, the answer to such a callback is `failureStatus` (429).
   */
  readonly spool?: string | undefined;
  /** Called with everything that happens, for logs and metrics. Errors in it change nothing. */
  readonly onEvent?: ((event: InboxEvent) => unknown) | undefined;
  /**
   * Which statuses may follow an applied one, for the same internal_reference; a status that is not named allows every
   * next one. Default `{ COMPLETED: [] }`: nothing undoes a completed transaction.
   */
  readonly allowTransitions?: AllowedTransitions | undefined;
  /**
   * How a handler that fails is tried again. Default 40 attempts, 1 s doubled up to 1 h: about 14 to 28 hours. The numbers
   * go up to 2^31 - 1, which is 24 days of milliseconds.
   */
  readonly retry?: Partial<RetrySettings> | undefined;
  /** How long `receive()` waits for the store, in milliseconds. Default 3000, at most 600 000 (ten minutes). */
  readonly storeTimeoutMs?: number | undefined;
  /**
   * How long one run of the handler, or of the body of `transaction()`, may take, in milliseconds. Default 30 000, at most
   * 3 600 000 (an hour).
   */
  readonly handlerTimeoutMs?: number | undefined;
  /** The clock, in milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  /** A number from 0 to 1, for the jitter of retries. */
  readonly random?: (() => number) | undefined;
}

/** Checked options. */
export interface Settings {
  readonly account: string;
  readonly spool: string | undefined;
  readonly emit: Emit;
  readonly allowTransitions: AllowedTransitions;
  readonly retry: RetrySettings;
  readonly storeTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

const RETRY: RetrySettings = { attempts: 40, firstDelayMs: 1000, longestDelayMs: 3_600_000 };

export function checkOptions<Tx>(options: InboxOptions<Tx>): Settings {
  if (typeof options?.store?.open !== 'function') {
    throw new ConfigurationError('store', 'createInbox needs a store: sqlite(path) or postgres(pool).');
  }
  const {
    account = '',
    spool,
    onEvent,
    allowTransitions = {},
    now = Date.now,
    random = Math.random,
  } = options;
  const { storeTimeoutMs = 3000, handlerTimeoutMs = 30_000 } = options;
  const retry = { ...RETRY, ...definedOnly(options.retry ?? {}) };
  checkAccount(account);
  checkFunctions({ onEvent, now, random });
  checkTransitions(allowTransitions);
  checkNumbers({ storeTimeoutMs, handlerTimeoutMs, ...retry });
  return Object.freeze({
    account,
    spool,
    emit: emitter(onEvent),
    allowTransitions: Object.freeze({ COMPLETED: [], ...allowTransitions }),
    retry: Object.freeze(retry),
    storeTimeoutMs,
    handlerTimeoutMs,
    // Columns of time are whole numbers, and a clock may not be: performance.now() is none.
    now: () => Math.floor(now()),
    random,
  });
}

/**
 * The timeouts are added up and multiplied for timers and for settings of PostgreSQL, which all end at 2^31 - 1. The
 * delays only become a time in the future.
 */
const MOST = {
  storeTimeoutMs: 600_000,
  handlerTimeoutMs: 3_600_000,
  attempts: 2 ** 31 - 1,
  firstDelayMs: 2 ** 31 - 1,
  longestDelayMs: 2 ** 31 - 1,
};

function checkNumbers(numbers: Readonly<Record<string, unknown>>): void {
  for (const [name, most] of Object.entries(MOST)) checkWholeNumber(name, numbers[name], most);
}

/** @throws {ConfigurationError} that names the option, for what is no whole number from 1 to `most`. */
export function checkWholeNumber(name: string, value: unknown, most: number): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return;
  throw new ConfigurationError(name, `${name} must be a whole number from 1 to ${most}.`);
}

function checkAccount(account: unknown): void {
  const isLabel = typeof account === 'string' && account.length <= 200 && account.isWellFormed();
  if (!isLabel || account.includes('\0')) {
    throw new ConfigurationError('account', 'account must be a text of at most 200 characters: a label.');
  }
}

function checkFunctions(functions: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(functions)) {
    if (value !== undefined && typeof value !== 'function') {
      throw new ConfigurationError(name, `${name} must be a function, or be left out.`);
    }
  }
}

function checkTransitions(allowed: unknown): void {
  const isMap =
    typeof allowed === 'object' &&
    allowed !== null &&
    Object.values(allowed).every(
      (statuses) => Array.isArray(statuses) && statuses.every((status) => typeof status === 'string'),
    );
  if (isMap) return;
  throw new ConfigurationError(
    'allowTransitions',
    "allowTransitions must map a status to the statuses that may follow it, such as { COMPLETED: ['REVERSED'] }.",
  );
}

function definedOnly<T extends object>(values: T): Partial<T> {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Partial<T>;
}
