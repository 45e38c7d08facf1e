import { compareDecimals, type Decimal, decimalFrom, parseDecimal } from './decimal.ts';
import { ConfigurationError } from './errors.ts';
import { isTransactionCompleted } from './transaction-completed.ts';
import { visitMembers } from './verify/json-members.ts';
import { VerifiedCallback } from './verify/verified.ts';

/** What the merchant itself knows that the payment must be. */
export interface ExpectedAmount {
  /** Currency code, compared letter by letter. */
  readonly currency: string;
  /**
   * In whole units of the currency, as decimal text ("1999.90"), bigint, or a number of at most 15 significant digits.
   */
  readonly amount: string | number | bigint;
  /**
   * Which of the callback's two amounts must equal it. Both by default. `'request'` for an account where
   * `transaction_amount` may differ (a conversion, a charge on the customer: cases that the specification does not
   * show).
   */
  readonly compare?: 'both' | 'request' | 'transaction' | undefined;
}

/** One way in which the callback is not the payment that the merchant expects. */
export interface AmountMismatch {
  readonly field:
    | 'transaction_status'
    | 'request_currency'
    | 'request_amount'
    | 'transaction_currency'
    | 'transaction_amount';
  /** `inexact`: a body parser has already turned a number of more than 15 digits into a float. */
  readonly reason: 'missing' | 'different' | 'inexact';
}

export type AmountConfirmation =
  | { readonly ok: true }
  | { readonly ok: false; readonly mismatches: readonly AmountMismatch[] };

/**
 * Compares a verified callback with what the merchant expects, exactly and never through floats. Amounts are not
 * signed (specification 5.2): one customer can send the signature of a small payment with a large amount. Credit the
 * amount that you expected, and only when this says `ok`.
 *
 * A callback of another outcome than a completed transaction does not confirm an amount either.
 *
 * @throws {ConfigurationError} when `callback` is not a result of `verifyCallback()` (a redirect, a copy), or the
 * expectation is not a currency and a decimal amount.
 *
 * @example
 * const confirmed = confirmAmount(callback, { currency: 'UGX', amount: '500' });
 * if (!confirmed.ok) console.warn(confirmed.mismatches); // [{ field: 'request_amount', reason: 'different' }, …]
 */
export function confirmAmount(callback: VerifiedCallback, expected: ExpectedAmount): AmountConfirmation {
  if (!VerifiedCallback.isGenuine(callback)) {
    throw new ConfigurationError(
      'callback',
      'confirmAmount() takes the result of verifyCallback() itself. A redirect, a copy or a parsed body proves nothing.',
    );
  }
  const amount = checkExpectation(expected);
  const mismatches: AmountMismatch[] = [];
  if (!isTransactionCompleted(callback))
    mismatches.push({ field: 'transaction_status', reason: 'different' });
  for (const side of ['request', 'transaction'] as const) {
    const { compare = 'both' } = expected;
    if (compare !== 'both' && compare !== side) continue;
    const currency = callback.unsigned[`${side}_currency`];
    if (currency !== expected.currency) {
      mismatches.push({
        field: `${side}_currency`,
        reason: currency === undefined ? 'missing' : 'different',
      });
    }
    const reason = amountMismatch(callback, `${side}_amount`, amount);
    if (reason !== undefined) mismatches.push({ field: `${side}_amount`, reason });
  }
  return mismatches.length === 0 ? { ok: true } : { ok: false, mismatches };
}

function checkExpectation({ currency, amount, compare }: ExpectedAmount): Decimal {
  if (typeof currency !== 'string' || currency === '') {
    throw new ConfigurationError('currency', 'The expected currency must be a currency code, such as "UGX".');
  }
  if (compare !== undefined && compare !== 'both' && compare !== 'request' && compare !== 'transaction') {
    throw new ConfigurationError(
      'compare',
      "compare must be 'both', 'request' or 'transaction', or be left out.",
    );
  }
  const decimal = isAmount(amount) ? decimalFrom(amount) : undefined;
  if (decimal === undefined) {
    throw new ConfigurationError(
      'amount',
      'The expected amount must be a decimal text such as "1999.90", a bigint, or a number of at most 15 digits.',
    );
  }
  return decimal;
}

function isAmount(value: unknown): value is string | number | bigint {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}

function amountMismatch(
  callback: VerifiedCallback,
  field: 'request_amount' | 'transaction_amount',
  expected: Decimal,
): AmountMismatch['reason'] | undefined {
  const value = callback.unsigned[field];
  if (value === undefined) return 'missing';
  const text = VerifiedCallback.textOf(callback);
  const actual = text === undefined ? decimalFrom(value) : numberInPayload(text, field);
  if (actual === undefined) return 'inexact';
  return compareDecimals(actual, expected) === 0 ? undefined : 'different';
}

/** The number as it stands in the JSON text; the last one where the name is repeated, as JSON.parse has it. */
function numberInPayload(text: string, field: string): Decimal | undefined {
  let found: string | undefined;
  visitMembers(text, (parent, name, valueStart) => {
    if (parent === 'payload' && name === field) found = /^[-+.0-9eE]+/.exec(text.slice(valueStart))?.[0];
  });
  return found === undefined ? undefined : parseDecimal(found);
}
