import { ConfigurationError, type VerifierOptions } from '@payment-service/core';
import { checkOptions, FUNCTION, type OptionRules } from '@payment-service/core/internal';
import { BodyContent, type BodyEncryption } from './delivery/stored-delivery.ts';
import { STRINGS, wholeNumber } from './option-rules.ts';
import { type Emit, emitter, type InboxEvent } from './reporting/events.ts';
import { type InboxProblem, type Report, reporter } from './reporting/problems.ts';
import { STATUS_MEANINGS, type StatusMeaning } from './states.ts';
import type { Store } from './store/store.ts';

/** How a failed handler is retried: numbers up to 2^31 - 1, which is 24 days of milliseconds. */
export interface RetrySettings {
  /** How many attempts are made before the transition is `dead`. @default 40 */
  readonly attempts: number;
  /**
   * The wait after the first attempt, in milliseconds; each further wait is twice as long. Every wait is then shortened at
   * random, by up to half.
   *
   * @default 1000
   */
  readonly firstDelayMs: number;
  /** The longest wait, in milliseconds. @default 3600000, an hour */
  readonly longestDelayMs: number;
}

/** Options of `createInbox()`. */
export interface InboxOptions<Tx> {
  /** `postgres(pool)` for several machines, `sqlite(path)` for one, or the entry for your ORM. */
  readonly store: Store<Tx>;
  /**
   * A label of the merchant account, for several accounts in one database: each inbox sees and works on its own account only.
   * The verifier's `account` must be the same. @default ''
   */
  readonly account?: string | undefined;
  /**
   * The verifier's own option. With `'merchant_reference'`, `expect()` accepts a reference with ':'; otherwise it refuses one,
   * since its callback would be refused too (decision D69). @default none
   */
  readonly colonIn?: VerifierOptions['colonIn'];
  /**
   * The path of a folder on a local disk, created if missing. While the store is unavailable, callbacks are kept there, in the
   * SQLite file `spool.db`, and acknowledged. Afterwards they are verified again under the keys of the routes of this process and
   * stored automatically, so spread `inbox.route` into `paymentCallbacks()`; a process without a route stores none. Several
   * inboxes and processes of one user may share it. Do not delete the file.
   *
   * @default on SQLite, the path of the database followed by `-spool`; none on PostgreSQL, where such a callback is answered
   * with `failureStatus` (429)
   */
  readonly spool?: string | undefined;
  /**
   * What is stored of a body. `'claims'` stores the amounts, the charge and the provider; names, accounts and free text never
   * reach the database or the spool. `report()` and a handler's `claimed` then contain no more than that.
   *
   * @default 'full', the whole body
   */
  readonly bodies?: 'full' | 'claims' | undefined;
  /** Encrypts what is stored of bodies, in the database and in the spool: `aesGcm()`, or your own functions. @default none */
  readonly encryption?: BodyEncryption | undefined;
  /** Called with everything that happens, for logs and metrics. Its own errors change nothing. */
  readonly onEvent?: ((event: InboxEvent) => unknown) | undefined;
  /**
   * Called with every handler error and every warning of the inbox, and with a description of the problem. Its own errors change
   * nothing. A handler error is the one that was thrown, with its stack, and may quote what the handler worked on.
   *
   * @default console.error, except for problems with `isRepeated`: it prints the first attempt, the last one, and each that
   * fails with another message than the attempt before it
   *
   * @example
   * createInbox({ store, onError: (error, { kind, isRepeated }) => isRepeated || tracker.capture(error, { tags: { kind } }) });
   */
  readonly onError?: ((error: unknown, problem: InboxProblem) => unknown) | undefined;
  /** The events that complete a transaction, with the status COMPLETED (protocol §6). @default ['transaction.completed'] */
  readonly completedEvents?: readonly string[] | undefined;
  /**
   * What a signed status means (protocol §3 shows only COMPLETED). `failed`: the payment is not waited for any longer, and a later
   * COMPLETED pays it. `reversed`: it takes back a payment of the same internal_reference; without it, every status after
   * COMPLETED waits for an operator. `interim`: it is not final; one that arrives late becomes `superseded`. @default {}
   */
  readonly statuses?: Readonly<Record<string, StatusMeaning>> | undefined;
  /**
   * How a failed handler is retried. @default 40 attempts, 1 s doubled up to 1 h: about 14 to 28 hours
   *
   * @example
   * createInbox({ store, retry: { attempts: 3, firstDelayMs: 10 } }); // for a test
   */
  readonly retry?: { readonly [Name in keyof RetrySettings]?: RetrySettings[Name] | undefined } | undefined;
  /** How long a callback waits for the store, in milliseconds, at most 600,000 (ten minutes). @default 3000 */
  readonly storeTimeoutMs?: number | undefined;
  /** How long one run of a handler may take, in milliseconds, at most 3,600,000 (an hour). @default 30000 */
  readonly handlerTimeoutMs?: number | undefined;
  /** How long a statement of a handler waits for a lock on PostgreSQL, in milliseconds. @default 10000 */
  readonly handlerLockTimeoutMs?: number | undefined;
  /** A number from 0 to 1, for the jitter of retries. @default Math.random */
  readonly random?: (() => number) | undefined;
}

type Derived = 'store' | 'colonIn' | 'spool' | 'bodies' | 'encryption' | 'onEvent' | 'onError' | 'retry';

/** Checked options, with their defaults. */
export type Settings = {
  readonly [Name in Exclude<keyof InboxOptions<never>, Derived>]-?: NonNullable<InboxOptions<never>[Name]>;
} & {
  readonly colonIn: InboxOptions<never>['colonIn'];
  readonly spool: string | undefined;
  readonly emit: Emit;
  readonly report: Report;
  readonly retry: RetrySettings;
  readonly bodyContent: BodyContent;
};

const RULES: OptionRules<InboxOptions<unknown>> = {
  store: [
    (value) => typeof value === 'object' && value !== null && 'query' in value && 'transaction' in value,
    'a store: sqlite(path), postgres(pool), or the entry for your ORM',
    true,
  ],
  account: [
    (value) =>
      typeof value === 'string' && value.length <= 200 && value.isWellFormed() && !value.includes('\0'),
    'a label of at most 200 characters',
  ],
  colonIn: [
    (value) => value === 'merchant_reference' || value === 'internal_reference',
    'merchant_reference or internal_reference, as in the verifier',
  ],
  spool: undefined,
  bodies: [(value) => value === 'full' || value === 'claims', "'full' or 'claims'"],
  encryption: undefined,
  onEvent: FUNCTION,
  onError: FUNCTION,
  completedEvents: STRINGS,
  statuses: [
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      Object.entries(value).every(
        ([status, meaning]) => status !== 'COMPLETED' && STATUS_MEANINGS.includes(meaning),
      ),
    "a map from a status to 'failed', 'reversed' or 'interim', such as { FAILED: 'failed' }; COMPLETED always pays",
  ],
  retry: undefined,
  storeTimeoutMs: wholeNumber(600_000),
  handlerTimeoutMs: wholeNumber(3_600_000),
  handlerLockTimeoutMs: wholeNumber(3_600_000),
  random: FUNCTION,
};

/** @throws {ConfigurationError} Names the option. */
export function settingsOf<Tx>(options: InboxOptions<Tx>): Settings {
  checkOptions('createInbox()', options, RULES);
  const { retry = {}, store } = options;
  const rules = { attempts: wholeNumber(), firstDelayMs: wholeNumber(), longestDelayMs: wholeNumber() };
  checkOptions('createInbox()', retry, rules, 'retry.');
  const { attempts = 40, firstDelayMs = 1000, longestDelayMs = 3_600_000 } = retry;
  const [account, report] = [options.account ?? '', reporter(options.onError)];
  const { bodies = 'full', encryption, handlerTimeoutMs = 30_000 } = options;
  if (store.maxTransactionMs !== undefined && store.maxTransactionMs <= handlerTimeoutMs) {
    throw new ConfigurationError(
      'handlerTimeoutMs',
      `The library of the store ends a transaction after ${store.maxTransactionMs} ms (its timeout), and a handler may take ` +
        `${handlerTimeoutMs} ms (handlerTimeoutMs), so payments would fail. Make timeout longer than handlerTimeoutMs.`,
    );
  }
  return {
    account,
    colonIn: options.colonIn,
    spool: options.spool ?? store.spool,
    emit: emitter(options.onEvent),
    report,
    bodyContent: new BodyContent({ account, bodies, encryption, report }),
    completedEvents: options.completedEvents ?? ['transaction.completed'],
    statuses: options.statuses ?? {},
    retry: { attempts, firstDelayMs, longestDelayMs },
    storeTimeoutMs: options.storeTimeoutMs ?? 3000,
    handlerTimeoutMs,
    handlerLockTimeoutMs: options.handlerLockTimeoutMs ?? 10_000,
    random: options.random ?? Math.random,
  };
}

/** While the store is unavailable. */
export const STORE_RETRY: RetrySettings = {
  attempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 250,
  longestDelayMs: 5000,
};

/**
 * How a transition that waits for an expectation or another body is rechecked: for some hours, whatever `retry` says (decision
 * D36).
 */
export const LOOKS: RetrySettings = { attempts: 16, firstDelayMs: 1000, longestDelayMs: 3_600_000 };

/**
 * The wait in milliseconds after an attempt, counted from 1: doubled every time up to the longest, then reduced to between half
 * and all of it, so that attempts that failed together are not retried together.
 */
export function backoff(attempt: number, { retry, random }: Pick<Settings, 'retry' | 'random'>): number {
  const delay = Math.min(retry.longestDelayMs, retry.firstDelayMs * 2 ** (attempt - 1));
  return Math.round(delay * (0.5 + random() / 2));
}
