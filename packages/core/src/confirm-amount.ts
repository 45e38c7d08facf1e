import { canonicalAmount } from './canonical-amount.ts';
import { claimedAmounts } from './claimed-amounts.ts';
import { ConfigurationError } from './errors.ts';
import { isTransactionCompleted } from './transaction-completed.ts';
import type { SignedFields } from './verify/signed-fields.ts';
import { VerifiedCallback } from './verify/verified.ts';

/** What the merchant itself knows that the payment must be. */
export interface ExpectedAmount {
  /** Currency code, compared letter by letter. */
  readonly currency: string;
  /**
   * In whole units of the currency, as decimal text ("1999.90"), bigint, or a number of at most 15 significant digits.
   */
  readonly amount: string | number | bigint;
  /** The signed transaction type that this is; `COLLECTION` by default. A payout under the same reference pays nothing. */
  readonly transaction_type?: SignedFields['transaction_type'] | undefined;
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
    | 'transaction_type'
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
 * signed (protocol §5.2): one customer can send the signature of a small payment with a large amount. Credit the
 * amount that you expected, and only when this says `ok`.
 *
 * A callback of another outcome than a completed transaction does not confirm an amount either, and one of another
 * transaction type only when the expectation names that type.
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
  const claims = claimedAmounts(callback);
  const mismatches: AmountMismatch[] = [];
  if (!isTransactionCompleted(callback))
    mismatches.push({ field: 'transaction_status', reason: 'different' });
  const { transaction_type = 'COLLECTION', compare = 'both' } = expected;
  if (callback.signed.transaction_type !== transaction_type) {
    mismatches.push({ field: 'transaction_type', reason: 'different' });
  }
  for (const side of ['request', 'transaction'] as const) {
    if (compare !== 'both' && compare !== side) continue;
    const claim = claims[side];
    if (claim.currency !== expected.currency) {
      mismatches.push({
        field: `${side}_currency`,
        reason: claim.currency === undefined ? 'missing' : 'different',
      });
    }
    if (claim.amount !== amount) {
      const reason = claim.isInexact ? 'inexact' : claim.amount === undefined ? 'missing' : 'different';
      mismatches.push({ field: `${side}_amount`, reason });
    }
  }
  return mismatches.length === 0 ? { ok: true } : { ok: false, mismatches };
}

/** The expected amount as canonical text, in which equal numbers are equal texts. */
function checkExpectation({ currency, amount, compare }: ExpectedAmount): string {
  if (typeof currency !== 'string' || currency === '') {
    throw new ConfigurationError('currency', 'The expected currency must be a currency code, such as "UGX".');
  }
  if (compare !== undefined && compare !== 'both' && compare !== 'request' && compare !== 'transaction') {
    throw new ConfigurationError(
      'compare',
      "compare must be 'both', 'request' or 'transaction', or be left out.",
    );
  }
  return canonicalAmount(amount);
}
