import { PaymentServiceError } from '../errors.ts';
import { checkArgument, type OptionRule, RECORD, refuseArgument } from '../options/options.ts';
import { payloadValueStart } from '../verify/json-members.ts';
import type { SignedFields } from '../verify/signed-fields.ts';
import {
  type Evidence,
  isTransactionCompleted,
  openGenuine,
  type VerifiedCallback,
} from '../verify/verified.ts';
import { type Decimal, decimalFrom, formatDecimal, parseDecimal } from './decimal.ts';

/** The payment that the merchant expects. */
export interface ExpectedAmount {
  /** Currency code, compared character by character. */
  readonly currency: string;
  /**
   * In the unit of the callback's amounts, which is not shown (protocol §2.5): a decimal string ("1999.90"), a bigint, or a
   * number of at most 15 significant digits.
   */
  readonly amount: string | number | bigint;
  /** The signed transaction type. A payout under the same reference pays nothing. @default 'COLLECTION' */
  readonly transaction_type?: SignedFields['transaction_type'] | undefined;
  /**
   * Which of the callback's two amounts must be equal. `'request'` is for accounts where `transaction_amount` may differ (a
   * conversion, or a charge on the customer: cases that the protocol does not show).
   *
   * @default 'both'
   */
  readonly compare?: 'both' | 'request' | 'transaction' | undefined;
}

/** One difference between the callback and the payment that the merchant expects. */
export interface AmountMismatch {
  readonly field:
    | 'transaction_status'
    | 'transaction_type'
    | `${'request' | 'transaction'}_${'currency' | 'amount'}`;
  /**
   * `inexact`: a body parser has already turned a number of more than 15 digits into a float. `text`: the amount was sent as a
   * string, which the contract does not allow, and it is not a different amount. `case`: the currency differs only in upper and
   * lower case.
   */
  readonly reason: 'missing' | 'different' | 'inexact' | 'text' | 'case';
}

export type AmountConfirmation =
  | { readonly ok: true }
  | { readonly ok: false; readonly mismatches: readonly AmountMismatch[] };

/** Money that may be credited: the merchant's own expectation, never a claim of the callback. */
export interface ConfirmedAmount {
  readonly currency: string;
  /** As a canonical decimal string: `'1999.9'` for an expected `'1999.90'`. */
  readonly amount: string;
}

/**
 * The callback does not match the payment that the merchant expects. Thrown by `assertAmount()`. It names fields and contains no
 * value from the callback.
 *
 * @example
 * catch (error) {
 *   if (!(error instanceof AmountMismatchError)) throw error;
 *   await holdForReview(callback, error.mismatches);
 * }
 */
export class AmountMismatchError extends PaymentServiceError {
  override readonly name: string = 'AmountMismatchError';
  override readonly code = 'amount_mismatch';
  /** Every difference, at least one. */
  readonly mismatches: readonly AmountMismatch[];

  constructor(mismatches: readonly AmountMismatch[]) {
    const differences = mismatches.map(({ field, reason }) => `${field} (${reason}${ADVICE[reason] ?? ''})`);
    super(
      `The callback does not match the expected payment: ${differences.join(', ')}. Do not credit it. Hold it for ` +
        'manual review and return normally: an error thrown in the handler asks the sender to retry.',
    );
    this.mismatches = mismatches;
  }
}

const ADVICE: Partial<Record<AmountMismatch['reason'], string>> = {
  inexact: ': a body parser has rounded it; mount the route before the parser',
  text: ': it was sent as text, not as a number',
  case: ': upper and lower case differ',
};

/** What a callback says about money. These are claims: the signature covers none of them. */
export interface ClaimedAmounts {
  readonly request: Claim;
  readonly transaction: Claim;
}

/** One currency and amount of a callback. */
export interface Claim {
  readonly currency: string | undefined;
  /**
   * A canonical decimal string, such as `1999.9`, never read through a float; undefined if the field is missing, not a number,
   * or no longer exact.
   */
  readonly amount: string | undefined;
  /** A body parser has rounded the amount: it had more than 15 digits, and its exact value is lost. */
  readonly isInexact: boolean;
  /**
   * Set if the amount was sent as a string, which is not an amount: its canonical decimal, such as `500` for `"500.00"`, or `''`
   * for any other string.
   */
  readonly text?: string | undefined;
}

/**
 * Returns the money to credit: the amount that the merchant expects, once it has been compared with a verified callback, exactly
 * and never through floats. Throws unless the callback is a completed transaction of exactly this payment, so a forgotten check
 * credits nothing (threat A54). See `confirmAmount()` for what is compared, and for what no comparison can detect.
 *
 * When a handler throws, the route responds with `failureStatus`, which asks the sender to retry. A program that stores callbacks
 * should catch the error, hold the callback for manual review, and return.
 *
 * @throws {AmountMismatchError} When the callback is not the expected payment, or is not completed.
 * @throws {ConfigurationError} When `callback` is not a result of `verifyCallback()` (such as a redirect or a copy).
 * @throws {ConfigurationError} When the expectation is not a currency and a decimal amount.
 *
 * @example
 * const payment = assertAmount(callback, { currency: 'UGX', amount: '500' });
 * await credit(order, payment.amount); // '500'
 */
export function assertAmount(callback: VerifiedCallback, expected: ExpectedAmount): ConfirmedAmount {
  const mismatches = compared('assertAmount()', callback, expected);
  if (mismatches.length > 0) throw new AmountMismatchError(mismatches);
  return { currency: expected.currency, amount: canonicalAmount(expected.amount) };
}

/**
 * Compares a verified callback with what the merchant expects, exactly and never through floats. Credit the amount that you
 * expected, and only if the result is `ok`. The result is an object, so it is always true in a condition; `assertAmount()` is
 * the form whose check cannot be forgotten (threat A54).
 *
 * Amounts are not signed (protocol §5.2). The check catches mistakes and outsiders. It cannot catch the payer, who knows the
 * price and can send any amount (threat A31). So use a new merchant_reference for every attempt and every amount: then a
 * signature made for a small payment never matches a larger one.
 *
 * Only a completed transaction confirms an amount. A transaction of any type but `COLLECTION` does so only if the expectation
 * names that type.
 *
 * @throws {ConfigurationError} When `callback` is not a result of `verifyCallback()` (such as a redirect or a copy).
 * @throws {ConfigurationError} When the expectation is not a currency and a decimal amount.
 *
 * @example
 * const confirmed = confirmAmount(callback, { currency: 'UGX', amount: '500' });
 * if (!confirmed.ok) console.warn(confirmed.mismatches); // [{ field: 'request_amount', reason: 'different' }, …]
 */
export function confirmAmount(callback: VerifiedCallback, expected: ExpectedAmount): AmountConfirmation {
  const mismatches = compared('confirmAmount()', callback, expected);
  return mismatches.length === 0 ? { ok: true } : { ok: false, mismatches };
}

function compared(call: string, callback: VerifiedCallback, expected: ExpectedAmount): AmountMismatch[] {
  openGenuine(call, callback, ['callback']);
  checkExpectation(call, expected);
  const mismatches: AmountMismatch[] = [];
  if (!isTransactionCompleted(callback))
    mismatches.push({ field: 'transaction_status', reason: 'different' });
  if (callback.signed.transaction_type !== (expected.transaction_type ?? 'COLLECTION')) {
    mismatches.push({ field: 'transaction_type', reason: 'different' });
  }
  mismatches.push(...amountMismatches(claimedAmounts(callback), expected));
  return mismatches;
}

/**
 * Lists where a callback's claims differ from an expectation. `confirmAmount()` and the inbox both use this comparison, which
 * ignores the outcome of the transaction.
 *
 * @throws {ConfigurationError} When `claims` does not come from `claimedAmounts()`.
 * @throws {ConfigurationError} When the expectation is not a currency and a decimal amount.
 *
 * @example
 * amountMismatches(claimedAmounts(callback), { currency: 'UGX', amount: '500' }); // []
 */
export function amountMismatches(
  claims: ClaimedAmounts,
  expected: Pick<ExpectedAmount, 'currency' | 'amount' | 'compare'>,
): AmountMismatch[] {
  checkArgument('amountMismatches()', 'claims', claims, CLAIMS);
  checkExpectation('amountMismatches()', expected);
  const { currency, amount, compare = 'both' } = expected;
  const canonical = canonicalAmount(amount);
  const mismatches: AmountMismatch[] = [];
  for (const side of ['request', 'transaction'] as const) {
    if (compare !== 'both' && compare !== side) continue;
    const claim = claims[side];
    if (claim.currency !== currency) {
      const isCase =
        typeof claim.currency === 'string' && claim.currency.toUpperCase() === currency.toUpperCase();
      const reason = claim.currency === undefined ? 'missing' : isCase ? 'case' : 'different';
      mismatches.push({ field: `${side}_currency`, reason });
    }
    if (claim.amount !== canonical)
      mismatches.push({ field: `${side}_amount`, reason: amountReason(claim, canonical) });
  }
  return mismatches;
}

function amountReason({ amount, isInexact, text }: Claim, canonical: string): AmountMismatch['reason'] {
  if (isInexact) return 'inexact';
  if (text !== undefined) return text === '' || text === canonical ? 'text' : 'different';
  return amount === undefined ? 'missing' : 'different';
}

/**
 * A callback's claims about money, as exact decimal strings for display or storage. To credit a payment, use `confirmAmount()`,
 * since no amount is signed (protocol §5.2).
 *
 * @throws {ConfigurationError} When the value does not come from `verifyCallback()`.
 *
 * @example
 * claimedAmounts(callback).transaction; // { currency: 'UGX', amount: '500', isInexact: false }
 */
export function claimedAmounts(callback: VerifiedCallback | Evidence): ClaimedAmounts {
  const { text } = openGenuine('claimedAmounts()', callback, ['callback', 'evidence']);
  const claim = (side: 'request' | 'transaction'): Claim => {
    const currency = callback.unsigned[`${side}_currency`];
    const field = `${side}_amount` as const;
    const value = callback.unsigned[field];
    if (value === undefined) {
      const sent = Object(callback.raw['payload'])[field];
      const text = typeof sent === 'string' ? plainDecimal(sent) : undefined;
      return { currency, amount: undefined, isInexact: false, ...(text !== undefined && { text }) };
    }
    const decimal = text === undefined ? decimalFrom(value) : numberInPayload(text, field);
    return { currency, amount: decimal && formatDecimal(decimal), isInexact: decimal === undefined };
  };
  return { request: claim('request'), transaction: claim('transaction') };
}

/**
 * Returns the canonical decimal string of an amount: equal amounts are equal strings, as in `claimedAmounts()`. Use it to store
 * an expected amount for a later comparison.
 *
 * @param amount In any one unit: a decimal string ("1999.90"), a bigint, or a number of at most 15 significant
 * digits.
 * @throws {ConfigurationError} With `option: 'amount'` when the amount is not exact.
 *
 * @example
 * canonicalAmount('1999.90'); // '1999.9'
 */
export function canonicalAmount(amount: string | number | bigint): string {
  return exactAmount('canonicalAmount()', amount);
}

/** @param call The function, as the message names it. */
export function exactAmount(call: string, amount: string | number | bigint): string {
  const decimal = decimalFrom(amount);
  if (decimal !== undefined) return formatDecimal(decimal);
  const shape = 'a decimal string such as "1999.90", a bigint, or a number of at most 15 digits';
  return refuseArgument(call, 'amount', shape, amount);
}

const CLAIMS: OptionRule = [
  (claims) => Boolean(Object(claims).request && Object(claims).transaction),
  'the result of claimedAmounts()',
];
export const CURRENCY: OptionRule = [
  (currency) => typeof currency === 'string' && currency !== '',
  'a currency code, such as "UGX"',
];
const COMPARISON: OptionRule = [
  (compare) => ['both', 'request', 'transaction'].some((one) => one === compare),
  "'both', 'request' or 'transaction'",
];

function checkExpectation(
  call: string,
  expected: Pick<ExpectedAmount, 'currency' | 'amount' | 'compare'>,
): void {
  checkArgument(call, 'expected', expected, RECORD);
  const { currency, amount, compare = 'both' } = expected;
  checkArgument(call, 'currency', currency, CURRENCY);
  exactAmount(call, amount);
  checkArgument(call, 'compare', compare, COMPARISON);
}

/** Canonical; empty for any other string, such as `5e2`. */
function plainDecimal(text: string): string {
  const decimal = /^\d{1,40}(\.\d{1,40})?$/.test(text) ? parseDecimal(text) : undefined;
  return decimal === undefined ? '' : formatDecimal(decimal);
}

const NUMBER = /\s*([-+.0-9eE]+)/y;

/** The number exactly as written in the JSON. */
function numberInPayload(text: string, field: string): Decimal | undefined {
  const start = payloadValueStart(text, field);
  if (start === undefined) return undefined;
  NUMBER.lastIndex = start;
  const [, found] = NUMBER.exec(text) ?? [];
  return found === undefined ? undefined : parseDecimal(found);
}
