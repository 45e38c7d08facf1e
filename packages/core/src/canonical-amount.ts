import { decimalFrom, formatDecimal } from './decimal.ts';
import { ConfigurationError } from './errors.ts';

/**
 * The canonical decimal text of an amount, in which equal amounts are equal texts: what `claimedAmounts()` gives for
 * the other side. To store an expected amount that is compared later.
 *
 * @param amount whole units of a currency: decimal text ("1999.90"), bigint, or a number of at most 15 significant
 * digits.
 * @throws {ConfigurationError} with `option: 'amount'` when the amount is not exact.
 *
 * @example
 * canonicalAmount('1999.90'); // '1999.9'
 */
export function canonicalAmount(amount: string | number | bigint): string {
  const decimal = isAmount(amount) ? decimalFrom(amount) : undefined;
  if (decimal === undefined) {
    throw new ConfigurationError(
      'amount',
      'The expected amount must be a decimal text such as "1999.90", a bigint, or a number of at most 15 digits.',
    );
  }
  return formatDecimal(decimal);
}

function isAmount(value: unknown): value is string | number | bigint {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}
