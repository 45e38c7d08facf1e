import { ConfigurationError } from '@payment-service/core';
import { type Emit, emitter, type InboxEvent } from './events.ts';
import type { Store } from './store/store.ts';

/** How a handler that fails is tried again. */
export interface RetrySettings {
  /** How often a handler is tried before the transition is `dead`. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

/** The statuses that are allowed after an applied one; a status that is not named allows every next one. */
export type AllowedTransitions = Readonly<Record<string, readonly string[]>>;

/** Options of `createInbox()`. */
export interface InboxOptions<Tx> {
  /** `postgres(pool)` for several machines, `sqlite(path)` for one, or the entry for your ORM. */
  readonly store: Store<Tx>;
  /**
   * A label of the merchant account, for several accounts in one database: each inbox sees and works on its own. The
   * verifier's `account` must be the same: `receive()` refuses a callback of another account.
   *
   * @default ''
   */
  readonly account?: string | undefined;
  /**
   * The path of a file on a local disk. While the store is away, callbacks are kept there and acknowledged; they are handed
   * over by themselves afterwards.
   *
   * @default none on PostgreSQL: the answer to such a callback is `failureStatus` (429). On SQLite the database's path and
   * `-spool`
   */
  readonly spool?: string | undefined;
  /** Called with everything that happens, for logs and metrics. Errors in it change nothing. */
  readonly onEvent?: ((event: InboxEvent) => unknown) | undefined;
  /**
   * The events that, with the status COMPLETED, say that a transaction completed. The protocol shows one name and no list
   * (protocol §6).
   *
   * @default ['transaction.completed']
   */
  readonly completedEvents?: readonly string[] | undefined;
  /**
   * Which statuses may follow an applied one, for the same internal_reference; a status that is not named allows every
   * next one.
   *
   * @default { COMPLETED: [] }: nothing undoes a completed transaction
   */
  readonly allowTransitions?: AllowedTransitions | undefined;
  /**
   * Statuses that say that a transaction is not over. One that comes late, after a status that allows no next one, becomes
   * `superseded`, which needs nobody; every other late status waits for a person. The protocol shows no list of statuses
   * (protocol §3).
   *
   * @default ['PENDING', 'PROCESSING']
   */
  readonly interimStatuses?: readonly string[] | undefined;
  /**
   * How a handler that fails is tried again. The numbers go up to 2^31 - 1, which is 24 days of milliseconds.
   *
   * @default 40 attempts, 1 s doubled up to 1 h: about 14 to 28 hours
   */
  readonly retry?: Partial<RetrySettings> | undefined;
  /** How long `receive()` waits for the store, in milliseconds, at most 600,000 (ten minutes). @default 3000 */
  readonly storeTimeoutMs?: number | undefined;
  /**
   * How long one run of a handler may take, in milliseconds, at most 3,600,000 (an hour).
   *
   * @default 30000
   */
  readonly handlerTimeoutMs?: number | undefined;
  /** How long a statement of a handler waits for a lock on PostgreSQL, in milliseconds. @default 10000 */
  readonly handlerLockTimeoutMs?: number | undefined;
  /** A number from 0 to 1, for the jitter of retries. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** Checked options. */
export interface Settings {
  readonly account: string;
  readonly spool: string | undefined;
  readonly emit: Emit;
  readonly completedEvents: readonly string[];
  readonly allowTransitions: AllowedTransitions;
  readonly interimStatuses: readonly string[];
  readonly retry: RetrySettings;
  readonly storeTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  readonly handlerLockTimeoutMs: number;
  readonly random: () => number;
}

const KNOWN = [
  'store',
  'account',
  'spool',
  'onEvent',
  'completedEvents',
  'allowTransitions',
  'interimStatuses',
  'retry',
  'storeTimeoutMs',
  'handlerTimeoutMs',
  'handlerLockTimeoutMs',
  'random',
];
const RETRY: RetrySettings = { attempts: 40, firstDelayMs: 1000, longestDelayMs: 3_600_000 };
const INTERIM_STATUSES = ['PENDING', 'PROCESSING'];

/** @throws {ConfigurationError} Names the option. */
export function checkOptions<Tx>(options: InboxOptions<Tx>): Settings {
  if (typeof options?.store?.query !== 'function' || typeof options.store.transaction !== 'function') {
    throw new ConfigurationError('store', 'createInbox() needs a store: sqlite(path) or postgres(pool).');
  }
  for (const name of Object.keys(options)) {
    if (KNOWN.includes(name)) continue;
    const known = `Known options: ${KNOWN.join(', ')}.`;
    throw new ConfigurationError(name, `createInbox() does not know the option "${name}". ${known}`);
  }
  const {
    account = '',
    onEvent,
    completedEvents = ['transaction.completed'],
    allowTransitions = {},
  } = options;
  const { interimStatuses = INTERIM_STATUSES, random = Math.random, spool = options.store.spool } = options;
  const { storeTimeoutMs = 3000, handlerTimeoutMs = 30_000, handlerLockTimeoutMs = 10_000 } = options;
  const retry = { ...RETRY, ...definedOnly(options.retry ?? {}) };
  checkAccount(account);
  checkFunctions({ onEvent, random });
  checkTexts({ completedEvents, interimStatuses });
  checkTransitions(allowTransitions);
  checkNumbers({ storeTimeoutMs, handlerTimeoutMs, handlerLockTimeoutMs, ...retry });
  return Object.freeze({
    account,
    spool,
    emit: emitter(onEvent),
    completedEvents,
    allowTransitions: Object.freeze({ COMPLETED: [], ...allowTransitions }),
    interimStatuses,
    retry: Object.freeze(retry),
    storeTimeoutMs,
    handlerTimeoutMs,
    handlerLockTimeoutMs,
    random,
  });
}

/** Timers and PostgreSQL's settings of time end at 2^31 - 1. */
const MAX_NUMBERS = {
  storeTimeoutMs: 600_000,
  handlerTimeoutMs: 3_600_000,
  handlerLockTimeoutMs: 3_600_000,
  attempts: 2 ** 31 - 1,
  firstDelayMs: 2 ** 31 - 1,
  longestDelayMs: 2 ** 31 - 1,
};

function checkNumbers(numbers: Readonly<Record<string, unknown>>): void {
  for (const [name, max] of Object.entries(MAX_NUMBERS)) checkWholeNumber(name, numbers[name], max);
}

/** @throws {ConfigurationError} Names the option, for anything but a whole number from 1 to `max`. */
export function checkWholeNumber(name: string, value: unknown, max: number): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return;
  throw new ConfigurationError(name, `${name} must be a whole number from 1 to ${max}.`);
}

function checkTexts(lists: Readonly<Record<string, unknown>>): void {
  for (const [name, list] of Object.entries(lists)) {
    if (Array.isArray(list) && list.every((text) => typeof text === 'string')) continue;
    throw new ConfigurationError(name, `${name} must be a list of strings, or be left out.`);
  }
}

function checkAccount(account: unknown): void {
  const isLabel = typeof account === 'string' && account.length <= 200 && account.isWellFormed();
  if (!isLabel || account.includes('\0')) {
    throw new ConfigurationError('account', 'account must be a string of at most 200 characters: a label.');
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

/**
 * The wait after an attempt, in milliseconds: doubled every time up to the longest, and then between half and all of it, so
 * that what failed together does not come back together.
 *
 * @param attempt The number of the attempt, from 1.
 */
export function backoff(attempt: number, { retry, random }: Pick<Settings, 'retry' | 'random'>): number {
  const delay = Math.min(retry.longestDelayMs, retry.firstDelayMs * 2 ** Math.min(attempt - 1, 50));
  return Math.round(delay * (0.5 + random() / 2));
}
