/**
 * What the sandbox does wrong on purpose with the callbacks of a transaction, so that a merchant sees its own software
 * survive it. All of it is simulated: how the real service repeats and orders callbacks is not shown (protocol §6).
 */
export interface Misbehaviour {
  /** Sends no callback. A composition of the transaction sends it later. */
  readonly lost?: boolean;
  /** Sends the callback this many times more: the next one starts when the first attempt of the previous one is over. 0 to 10. */
  readonly duplicate?: number;
  /** Waits this many milliseconds before the first attempt. At most 7 days. */
  readonly late_ms?: number;
  /** Holds the callback back until one of a later transaction is through, at most 60 seconds. */
  readonly out_of_order?: boolean;
  /**
   * Puts this amount (whole units) into the first copy, under a signature that is valid: the amount is not signed.
   * Copies of `duplicate` stay genuine, with this change and those below, so `{ forged_amount: 1, duplicate: 1 }` sends
   * the forged body first.
   */
  readonly forged_amount?: number;
  /** Puts this currency in, with or without `forged_amount`; charge and total follow it. */
  readonly forged_currency?: string;
  /** Signs the first copy with another account's key. Copies of `duplicate` stay genuine. */
  readonly bad_signature?: boolean;
  /** Moves `t` by so many seconds, back when negative. At most 10 years. `t` is not signed (threat A28). */
  readonly t_offset_seconds?: number;
  /** Writes `t` in this unit. @default the sandbox's `timestampUnit` */
  readonly t_unit?: 'seconds' | 'milliseconds';
  /** Another `event`. */
  readonly event?: string;
  /** Another `transaction_status`. */
  readonly status?: string;
  /** Fields that are added to the payload, or replaced there. */
  readonly extra_fields?: Readonly<Record<string, unknown>>;
  /** Fields that are left out: of the payload, and `event`. */
  readonly omit_fields?: readonly string[];
  /** The body itself, as text, in place of everything above that changes it. It need not be JSON. */
  readonly body?: string;
  /**
   * `'anew'` signs the five fields that the changed body has. `'keep'` sends the signature that the callback had before
   * the changes; with `t_offset_seconds`, `t_unit` or `bad_signature` only the five fields that were signed are kept.
   *
   * @default 'anew'
   */
  readonly signature?: 'anew' | 'keep';
  /** Sends the customer's browser back first, and the callback `redirect_lead_ms` later. */
  readonly redirect_first?: boolean;
  /** How long the redirect is ahead, in milliseconds. At most 7 days. @default 2000 */
  readonly redirect_lead_ms?: number;
}

/** How often, and after which answers, a callback is sent again. Simulated: the service's rule is not shown. */
export interface RetryRules {
  /** Attempts in all, the first one included. 1 to 50. */
  readonly max_attempts: number;
  /** Milliseconds before the second attempt. */
  readonly backoff_ms: number;
  /** Each further wait is this many times longer. */
  readonly backoff_factor: number;
  /** No wait is longer than this, in milliseconds. */
  readonly max_backoff_ms: number;
  /** The statuses that count as delivered: exact ones, or classes such as "2xx". */
  readonly accepted: readonly (number | string)[];
  /** The statuses after which it is sent again, and so is an attempt without a complete answer. Empty: never. */
  readonly repeated: readonly (number | string)[];
  /** Signs each attempt afresh, with a new `t`. False repeats the first `t` (threat A28). */
  readonly resign: boolean;
}

/**
 * A common rule for the answers that make a sender repeat a callback: `none` never repeats, `not-2xx` is anything but
 * 2xx, `5xx-and-429` only these, `below-500` anything but 2xx that is below 500.
 */
export type RetryPreset = 'none' | 'not-2xx' | '5xx-and-429' | 'below-500';

/** Some of the rules. Those of `preset` hold first; a rule that is given beside it wins. */
export interface RetrySettings extends Partial<RetryRules> {
  readonly preset?: RetryPreset;
}

/** What to send of a transaction or a delivery: the callback with these changes. */
export interface Composition extends Omit<Misbehaviour, 'lost'> {
  /** Where it goes. @default where the callback of the transaction or the delivery went, or the sandbox's own */
  readonly callback_url?: string;
  /** On top of the rules of the transaction or the delivery. */
  readonly retry?: RetrySettings;
}

/** A composition as it was read. */
export interface ComposedChanges extends Omit<Composition, 'retry'> {
  readonly retry?: Partial<RetryRules>;
}

export const retryPresets: Readonly<Record<RetryPreset, Pick<RetryRules, 'accepted' | 'repeated'>>> = {
  none: { accepted: ['2xx'], repeated: [] },
  'not-2xx': { accepted: ['2xx'], repeated: ['1xx', '2xx', '3xx', '4xx', '5xx'] },
  '5xx-and-429': { accepted: ['2xx'], repeated: ['5xx', 429] },
  'below-500': { accepted: ['2xx'], repeated: ['1xx', '2xx', '3xx', '4xx'] },
};

export const defaultRetry: RetryRules = {
  max_attempts: 5,
  backoff_ms: 1000,
  backoff_factor: 2,
  max_backoff_ms: 60_000,
  ...retryPresets['not-2xx'],
  resign: false,
};

export const HOLD_MS = 60_000;
export const REDIRECT_LEAD_MS = 2000;

/** Whether a status is named by such a list. */
export function namesStatus(list: readonly (number | string)[], status: number): boolean {
  return list.includes(status) || list.includes(`${Math.floor(status / 100)}xx`);
}

/** The wait after this many failed attempts, in milliseconds. */
export function backoff(rules: RetryRules, attempts: number): number {
  return Math.min(rules.backoff_ms * rules.backoff_factor ** (attempts - 1), rules.max_backoff_ms);
}
