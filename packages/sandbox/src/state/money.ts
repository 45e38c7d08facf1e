import { refuse } from './refusal.ts';

/**
 * Everywhere in the sandbox, money is an integer number of the currency's smallest unit ("minor"): 500 UGX is 500, 12.50 KES is
 * 1250. Only the wire has numbers in whole units. No sum and no share ever goes through a float.
 */
export type Minor = number;

const digitsByCurrency = new Map<string, number>();

/** How many decimals the currency has (ISO 4217): 0 for UGX, 2 for KES and USD. Throws a RangeError for a string that is not a currency code. */
export function fractionDigits(currency: string): number {
  let digits = digitsByCurrency.get(currency);
  if (digits === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    digitsByCurrency.set(currency, digits);
  }
  return digits;
}

/**
 * An amount of the wire for people: the currency, a no-break space, and the grouped digits with unchanged decimals.
 *
 * @example amountText(5000000, 'UGX') // 'UGX 5,000,000'
 */
export const amountText = (
  amount: number,
  currency: string,
  signDisplay: 'auto' | 'exceptZero' = 'auto',
): string =>
  amount.toLocaleString('en', {
    style: 'currency',
    currencyDisplay: 'code',
    minimumFractionDigits: 0,
    maximumFractionDigits: 20,
    currency,
    signDisplay,
  });

/**
 * An amount of the wire in minor units; undefined if it is not exact: more decimals than the currency has, not finite, or
 * beyond 2^53. Shifts the decimal digits, since 1.15 * 100 is 114.99999999999999.
 *
 * @example toMinor(12.5, 'KES') // 1250
 */
export function toMinor(amount: number, currency: string): Minor | undefined {
  const minor = Number(`${amount}e${fractionDigits(currency)}`);
  return Number.isSafeInteger(minor) && toAmount(minor, currency) === amount ? minor : undefined;
}

/** The number on the wire for an amount in minor units: the double nearest to the exact decimal. */
export const toAmount = (minor: Minor, currency: string): number =>
  Number(`${minor}e-${fractionDigits(currency)}`);

/** A share in basis points (300 = 3 %), rounded half up to a minor unit, exactly. */
export function shareOf(minor: Minor, basisPoints: number): Minor {
  return Number((BigInt(minor) * BigInt(basisPoints) + 5000n) / 10000n);
}

/** The same whole units in another currency, rounded half up if that has fewer decimals: 15.50 KES is 16 UGX. */
export function rescale(minor: Minor, from: string, to: string): Minor {
  const digits = fractionDigits(to) - fractionDigits(from);
  if (digits >= 0) return minor * 10 ** digits;
  const divisor = 10n ** BigInt(-digits);
  return Number((BigInt(minor) + divisor / 2n) / divisor);
}

/** The amount in minor units, exactly. */
export function exactAmount(amount: number, currency: string, field = 'amount'): Minor {
  if (!/^[A-Z]{3}$/.test(currency)) {
    return refuse('malformed_request', 'currency: must be three capital letters, such as UGX', 'currency');
  }
  const minor = toMinor(amount, currency);
  if (minor !== undefined) return minor;
  const message = `${field}: must be exact, with at most ${fractionDigits(currency)} decimals in ${currency}`;
  return refuse('malformed_request', message, field);
}
