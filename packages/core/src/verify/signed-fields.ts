import { sha256Hex } from '#digest';
import { ConfigurationError } from '../errors.ts';
import type { TransactionCallback, TransactionPayload } from '../wire.ts';

/** The five strings that the signature proves, and nothing else (protocol §5.2, decision D1). */
export interface SignedFields {
  readonly event: TransactionCallback['event'];
  readonly merchant_reference: TransactionPayload['merchant_reference'];
  readonly internal_reference: TransactionPayload['internal_reference'];
  readonly transaction_type: TransactionPayload['transaction_type'];
  readonly transaction_status: TransactionPayload['transaction_status'];
}

export type SignedName = keyof SignedFields;

/** In the order in which the service joins them. */
export const SIGNED_NAMES: readonly SignedName[] = [
  'event',
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
];

/** A signed field that may contain ':', because the merchant's or the service's references do. */
export type ColonField = 'merchant_reference' | 'internal_reference';

/** Where ':' is allowed, and what tells the merchant's own references from other strings. */
export interface ColonRule {
  readonly colonIn?: ColonField | undefined;
  readonly isMerchantReference?: ((reference: string) => boolean) | undefined;
}

/**
 * Copies the five fields; undefined when one is not a well-formed string.
 *
 * Missing, null, numbers and one-element arrays stringify alike, and every lone surrogate encodes to U+FFFD: such values
 * would share a signature with others (threat A7, threat A8). An empty string is a string. Nothing is normalised (threat
 * A9, decision D5).
 */
export function readSignedFields(given: Readonly<Record<SignedName, unknown>>): SignedFields | undefined {
  const { event, merchant_reference, internal_reference, transaction_type, transaction_status } = given;
  if (!isSignable(event) || !isSignable(merchant_reference) || !isSignable(internal_reference))
    return undefined;
  if (!isSignable(transaction_type) || !isSignable(transaction_status)) return undefined;
  return Object.freeze({
    event,
    merchant_reference,
    internal_reference,
    transaction_type,
    transaction_status,
  });
}

function isSignable(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** The signed message: the five fields joined with ':'. */
export function signedMessage(fields: SignedFields): string {
  const { event, merchant_reference, internal_reference, transaction_type, transaction_status } = fields;
  // Joined, not a template, which makes a rope that the digest would have to flatten.
  return [event, merchant_reference, internal_reference, transaction_type, transaction_status].join(':');
}

/**
 * Whether the message could be read in a second way. `A:B` + `C` signs the same as `A` + `B:C`; the join is injective
 * exactly when at most one field may contain ':' (threat A3, decision D4).
 *
 * A merchant's customers may be able to put ':' into a reference (threat A32). So with a predicate for merchant
 * references, the two references are split at every ':', and exactly one split, this one, must satisfy the predicate.
 */
export function isAmbiguous(fields: SignedFields, rule: ColonRule): boolean {
  const { colonIn, isMerchantReference } = rule;
  if (SIGNED_NAMES.some((name) => name !== colonIn && fields[name].includes(':'))) return true;
  if (isMerchantReference === undefined) return false;
  const { merchant_reference, internal_reference } = fields;
  const joined = `${merchant_reference}:${internal_reference}`;
  for (let at = joined.indexOf(':'); at !== -1; at = joined.indexOf(':', at + 1)) {
    if (isSatisfied(isMerchantReference, joined.slice(0, at)) !== (at === merchant_reference.length))
      return true;
  }
  return false;
}

/** Verification is total: a predicate that throws on a string does not recognise it. */
function isSatisfied(predicate: (reference: string) => boolean, reference: string): boolean {
  try {
    return predicate(reference) === true;
  } catch {
    return false;
  }
}

/**
 * Refuses, before a transaction is started, a merchant reference whose callback could not be verified later: empty, with
 * ':' (the separator of the signed fields), or not well-formed Unicode.
 *
 * @param options.colonIn The verifier's own option: with `'merchant_reference'`, ':' is allowed.
 * @throws {ConfigurationError} With `option: 'merchant_reference'`. The message names the rule, never the reference.
 *
 * @example
 * assertMerchantReference(order.reference); // 'ORD-1001' passes, 'ORD:1001' throws
 */
export function assertMerchantReference(
  reference: unknown,
  options: { readonly colonIn?: ColonField | undefined } = {},
): asserts reference is string {
  const refuse = (why: string): never => {
    throw new ConfigurationError(
      'merchant_reference',
      `A callback for this merchant reference could not be verified: ${why}`,
    );
  };
  if (typeof reference !== 'string') refuse('the reference is not a string.');
  else if (reference === '') refuse('the reference is empty. Give every order its own.');
  else if (!reference.isWellFormed()) {
    refuse('the reference is not well-formed Unicode, it contains half of a surrogate pair.');
  } else if (reference.includes(':') && options.colonIn !== 'merchant_reference') {
    refuse(
      "the reference contains ':', which separates the signed fields. Remove it, or set colonIn here and in the verifier.",
    );
  }
}

const LENGTH_PREFIX = '\0\0\0\0';
const encoder = new TextEncoder();

/**
 * The identity of a transition: one account's transaction reaching one status. 64 hexadecimal digits, the same for every
 * repetition of the callback, with any body, timestamp or key.
 *
 * SHA-256 over the account label and the five signed fields, each preceded by its length in bytes (4 bytes, big endian).
 * Not the signature, which changes with the key, and not `payload.id`, which is not signed (threat A6).
 *
 * @param account The label given to the verifier as `account`. @default ''
 *
 * @example
 * transitionId(callback.signed, 'my-account'); // 'a3f0…'
 */
export function transitionId(fields: SignedFields, account = ''): string {
  const parts = [account, ...SIGNED_NAMES.map((name) => fields[name])];
  // Everything is encoded in one call, with space for the lengths, which are written afterwards.
  const text = LENGTH_PREFIX + parts.join(LENGTH_PREFIX);
  const bytes = encoder.encode(text);
  const isAscii = bytes.length === text.length;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let offset = 0;
  for (const part of parts) {
    const length = isAscii ? part.length : encoder.encode(part).length;
    view.setUint32(offset, length);
    offset += LENGTH_PREFIX.length + length;
  }
  return sha256Hex(bytes);
}
