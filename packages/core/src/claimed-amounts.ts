import { type Decimal, decimalFrom, formatDecimal, parseDecimal } from './decimal.ts';
import { ConfigurationError } from './errors.ts';
import { payloadValueStart } from './verify/json-members.ts';
import { Evidence, Verified, VerifiedCallback } from './verify/verified.ts';

/** What a callback says about money. Claims: the signature covers none of it. */
export interface ClaimedAmounts {
  readonly request: Claim;
  readonly transaction: Claim;
}

/** One currency and amount of a callback. */
export interface Claim {
  readonly currency: string | undefined;
  /**
   * Canonical decimal text, such as `1999.9`, read without passing through a float; undefined where the field is
   * missing, not a number, or not exact any more.
   */
  readonly amount: string | undefined;
  /** A body parser has rounded the amount: it had more than 15 digits, and no exact value is left. */
  readonly isInexact: boolean;
}

/**
 * What a callback claims about money, in exact decimal text: to show or to store. To credit a payment use
 * `confirmAmount()`, since no amount is signed (protocol §5.2).
 *
 * @throws {ConfigurationError} when the value does not come from `verifyCallback()`.
 *
 * @example
 * claimedAmounts(callback).transaction; // { currency: 'UGX', amount: '500', isInexact: false }
 */
export function claimedAmounts(callback: VerifiedCallback | Evidence): ClaimedAmounts {
  if (!VerifiedCallback.isGenuine(callback) && !Evidence.isGenuine(callback)) {
    throw new ConfigurationError(
      'callback',
      'Amounts are read from what verifyCallback() made. A redirect, a copy or a parsed body proves nothing.',
    );
  }
  return { request: claim(callback, 'request'), transaction: claim(callback, 'transaction') };
}

function claim(callback: Verified, side: 'request' | 'transaction'): Claim {
  const currency = callback.unsigned[`${side}_currency`];
  const field = `${side}_amount` as const;
  const value = callback.unsigned[field];
  if (value === undefined) return { currency, amount: undefined, isInexact: false };
  const text = Verified.textOf(callback);
  const decimal = text === undefined ? decimalFrom(value) : numberInPayload(text, field);
  return { currency, amount: decimal && formatDecimal(decimal), isInexact: decimal === undefined };
}

const NUMBER = /[-+.0-9eE]+/y;

/** The number as it stands in the JSON text. */
function numberInPayload(text: string, field: string): Decimal | undefined {
  const start = payloadValueStart(text, field);
  if (start === undefined) return undefined;
  NUMBER.lastIndex = start;
  const [found] = NUMBER.exec(text) ?? [];
  return found === undefined ? undefined : parseDecimal(found);
}
