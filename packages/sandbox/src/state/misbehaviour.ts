import type { RetryRules, RetrySettings } from './retries.ts';

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
  /** The body itself, in place of everything above that changes it. It need not be JSON. */
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
