import { prepareKey, sha256Hex } from '#digest';
import { ConfigurationError } from '../errors.ts';
import type { components } from '../generated/payment-service.ts';
import { checkArgument, kindOf, type OptionRule, RECORD, STRING } from '../options/options.ts';
import { encoder } from './json-members.ts';

/** The object of a callback: `event` and `payload` (protocol §2.5). */
export type TransactionCallback = components['schemas']['TransactionCallback'];
/** The 16 fields of `payload` (protocol §2.5). */
export type TransactionPayload = components['schemas']['TransactionPayload'];

/** The five strings that the signature proves, and nothing else (protocol §5.2, decision D1). */
export interface SignedFields {
  readonly event: TransactionCallback['event'];
  readonly merchant_reference: TransactionPayload['merchant_reference'];
  readonly internal_reference: TransactionPayload['internal_reference'];
  readonly transaction_type: TransactionPayload['transaction_type'];
  readonly transaction_status: TransactionPayload['transaction_status'];
}

export type SignedName = keyof SignedFields;

const NO_FIELDS = {
  event: '',
  merchant_reference: '',
  internal_reference: '',
  transaction_type: '',
  transaction_status: '',
};

/** The names in the order in which the service joins the fields. */
export const SIGNED_NAMES = /* @__PURE__ */ Object.keys(NO_FIELDS) as readonly SignedName[];

/** Where ':' is allowed, and how to recognise the merchant's own references. */
export interface ColonRule {
  /**
   * The one signed field that may contain ':', which also joins the fields (decision D4). `'internal_reference'` needs
   * `isMerchantReference`.
   *
   * @default none
   */
  readonly colonIn?: 'merchant_reference' | 'internal_reference' | undefined;
  /**
   * Whether a string can be a reference of this merchant, such as `(text) => /^ORD-\d+$/.test(text)`. With it, a callback is
   * accepted only if exactly one way to split its two references satisfies it. Called at most 256 times: two references with more
   * than 256 ':' between and in them are `ambiguous`. Requires `colonIn`.
   *
   * @default none
   */
  readonly isMerchantReference?: ((reference: string) => boolean) | undefined;
}

/**
 * Copies the five fields; returns undefined if one is not a well-formed string.
 *
 * Missing values, null, numbers and one-element arrays can stringify like a string, and every lone surrogate encodes to U+FFFD:
 * such values would share a signature with others (threat A7, threat A8). An empty string is a string. Nothing is normalised
 * (threat A9, decision D5).
 */
export function readSignedFields(read: (name: SignedName) => unknown): SignedFields | undefined {
  const fields: Record<SignedName, string> = { ...NO_FIELDS };
  for (const name of SIGNED_NAMES) {
    const value = read(name);
    if (typeof value !== 'string' || !value.isWellFormed()) return undefined;
    fields[name] = value;
  }
  return Object.freeze(fields);
}

/** The signed message: the five fields joined with ':'. */
export function signedMessage(of: SignedFields): string {
  return `${of.event}:${of.merchant_reference}:${of.internal_reference}:${of.transaction_type}:${of.transaction_status}`;
}

/**
 * Whether the message could be read in a second way. `A:B` + `C` signs the same as `A` + `B:C`; the join is injective
 * exactly if at most one field may contain ':' (threat A3, decision D4).
 *
 * A merchant's customers may be able to put ':' into a reference (threat A32). So if there is a predicate for merchant
 * references, the two references are split at every ':', and exactly one split, the actual one, must satisfy it.
 */
export function isAmbiguous(fields: SignedFields, rule: ColonRule): boolean {
  const { colonIn, isMerchantReference } = rule;
  if (SIGNED_NAMES.some((name) => name !== colonIn && fields[name].includes(':'))) return true;
  if (isMerchantReference === undefined) return false;
  const { merchant_reference, internal_reference } = fields;
  const joined = `${merchant_reference}:${internal_reference}`;
  let colons = 0;
  for (let at = joined.indexOf(':'); at !== -1; at = joined.indexOf(':', at + 1)) {
    if (++colons > MAX_COLONS) return true;
    if (isSatisfied(isMerchantReference, joined.slice(0, at)) !== (at === merchant_reference.length))
      return true;
  }
  return false;
}

/** Limits the calls of the merchant's predicate: one string of 64 KiB would otherwise cause 30,000 (threat A32). */
const MAX_COLONS = 256;

/** Verification is total: a predicate that throws for a string does not recognise it. */
function isSatisfied(predicate: (reference: string) => boolean, reference: string): boolean {
  try {
    return predicate(reference) === true;
  } catch {
    return false;
  }
}

/**
 * Refuses a merchant reference whose callback could not be verified later: one that is empty, contains ':' (the separator of the
 * signed fields), or is not well-formed Unicode. Call it before you start a transaction.
 *
 * @param options.colonIn The same as the verifier's option: with `'merchant_reference'`, ':' is allowed.
 * @throws {ConfigurationError} With `option: 'merchant_reference'`. The message names the rule, never the reference.
 *
 * @example
 * assertMerchantReference(order.reference); // 'ORD-1001' passes, 'ORD:1001' throws
 */
export function assertMerchantReference(
  reference: unknown,
  options: Pick<ColonRule, 'colonIn'> = {},
): asserts reference is string {
  checkReference('assertMerchantReference()', reference, options);
}

/** @param call The function, as the message names it. */
export function checkReference(
  call: string,
  reference: unknown,
  options: Pick<ColonRule, 'colonIn'>,
): asserts reference is string {
  checkArgument(call, 'options', options, RECORD);
  const problem = problemOf(reference, options.colonIn === 'merchant_reference');
  if (problem === undefined) return;
  const message = `${call}: a callback for this merchant reference could not be verified. The reference ${problem}`;
  throw new ConfigurationError('merchant_reference', message);
}

function problemOf(reference: unknown, mayHaveColon: boolean): string | undefined {
  if (typeof reference !== 'string') return `must be a string. It is ${kindOf(reference)}.`;
  if (reference === '') return 'is empty. Give every order its own.';
  if (!reference.isWellFormed()) return 'is not well-formed Unicode: it contains half of a surrogate pair.';
  if (mayHaveColon || !reference.includes(':')) return undefined;
  return "contains ':', which separates the signed fields. Remove it, or set the same colonIn in the verifier, in createInbox() and in assertMerchantReference().";
}

const LENGTH_PREFIX = '\0\0\0\0';

/**
 * The identity of a transition: one account's transaction reaching one status. It has 64 hexadecimal digits and is the same for
 * every repetition of the callback, with any body, timestamp or key.
 *
 * It is SHA-256 over the account label and the five signed fields, each preceded by its length in bytes (4 bytes, big endian).
 * It does not use the signature, which changes with the key, or `payload.id`, which is not signed (threat A6).
 *
 * @param account The label passed to the verifier as `account`. @default ''
 * @throws {ConfigurationError} When one of the five fields, or the account, is not a string.
 *
 * @example
 * transitionId(callback.signed, 'my-account'); // 'a3f0…'
 */
export function transitionId(fields: SignedFields, account = ''): string {
  checkArgument('transitionId()', 'fields', fields, SIGNED);
  checkArgument('transitionId()', 'account', account, STRING);
  return idOf(fields, account);
}

const SIGNED: OptionRule = [
  (fields) => SIGNED_NAMES.every((name) => typeof Object(fields)[name] === 'string'),
  'the signed fields of a callback',
];

/** The transition id of fields that a verifier has read. */
export function idOf(fields: SignedFields, account: string): string {
  const parts = [account, ...SIGNED_NAMES.map((name) => fields[name])];
  // Everything is encoded in one call, with space for the lengths, which are filled in afterwards.
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

/** HMAC-SHA256 over UTF-8: 64 hexadecimal digits. The sandbox uses it to derive its keys from a seed. */
export const hmacOf = (key: string, message: string): string => prepareKey(key)(message);
