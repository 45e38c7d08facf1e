import type { RetryRules, RetrySettings } from './retries.ts';

/**
 * What the sandbox deliberately does wrong with the callbacks of a transaction, so that merchants can check that their software
 * survives it. All of it is simulated: how the service repeats and orders callbacks is not shown (protocol §6).
 */
export interface Misbehaviour {
  /** Sends no callback. Composing one for the transaction sends it later. */
  readonly lost?: boolean | undefined;
  /** Sends the callback this many more times; each starts when the first attempt of the previous one has ended. 0 to 10. */
  readonly duplicate?: number | undefined;
  /** Waits this many milliseconds before the first attempt. At most 7 days. */
  readonly late_ms?: number | undefined;
  /** Holds the callback until one of a later transaction has been sent, for at most 60 seconds. */
  readonly out_of_order?: boolean | undefined;
  /**
   * Puts this amount (in whole units) into the first copy, with a valid signature, since the amount is not signed. With this
   * change and those below, copies of `duplicate` stay genuine, so `{ forged_amount: 1, duplicate: 1 }` sends the forged body
   * first.
   */
  readonly forged_amount?: number | undefined;
  /** Replaces the currency, with or without `forged_amount`; charge and total follow it. */
  readonly forged_currency?: string | undefined;
  /** Signs the first copy with another account's key. Copies of `duplicate` stay genuine. */
  readonly bad_signature?: boolean | undefined;
  /** Shifts `t` by this many seconds, at most 10 years in either direction. `t` is not signed (threat A28). */
  readonly t_offset_seconds?: number | undefined;
  /** The unit of `t`. @default the sandbox's `timestampUnit` */
  readonly t_unit?: 'seconds' | 'milliseconds' | undefined;
  /** Another `event`. */
  readonly event?: string | undefined;
  /** Another `transaction_status`. */
  readonly status?: string | undefined;
  /** Fields to add to the payload, or to replace there. */
  readonly extra_fields?: Readonly<Record<string, unknown>> | undefined;
  /** Fields to omit: those of the payload, and `event`. */
  readonly omit_fields?: readonly string[] | undefined;
  /** The body itself, instead of all changes above. It need not be JSON. */
  readonly body?: string | undefined;
  /**
   * `'anew'` signs the five fields of the changed body. `'keep'` sends the signature from before the changes; with
   * `t_offset_seconds`, `t_unit` or `bad_signature`, it keeps only the five signed fields.
   *
   * @default 'anew'
   */
  readonly signature?: 'anew' | 'keep' | undefined;
  /** The customer's browser returns first, and the callback follows `redirect_lead_ms` later. */
  readonly redirect_first?: boolean | undefined;
  /** How far the redirect is ahead, in milliseconds. At most 7 days. @default 2000 */
  readonly redirect_lead_ms?: number | undefined;
}

/** What to send for a transaction or a delivery: its callback with these changes. */
export interface Composition extends Omit<Misbehaviour, 'lost'> {
  /** Where it is sent. @default where the callback of the transaction or the delivery went, or the sandbox's own */
  readonly callback_url?: string | undefined;
  /** Merged with the rules of the transaction or the delivery. */
  readonly retry?: RetrySettings | undefined;
}

/** A parsed composition. */
export interface ComposedChanges extends Omit<Composition, 'retry'> {
  readonly retry?: Partial<RetryRules> | undefined;
}
