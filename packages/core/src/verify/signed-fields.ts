import { sha256Hex } from '#digest';
import type { TransactionCallback, TransactionPayload } from '../wire.ts';

/** The five strings that the signature proves, and nothing else (protocol §5.2, rule 2). */
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

/** A field that may hold ':' when the merchant's or the service's references do. */
export type ColonField = 'merchant_reference' | 'internal_reference';

/**
 * Copies the five fields, or answers undefined where one is not a well-formed string.
 *
 * Missing, null, numbers and one-element arrays stringify alike, and every lone surrogate encodes to U+FFFD: such
 * values would share a signature with others (threat A7, threat A8). An empty string is a string. Nothing is normalised (threat A9).
 */
export function readSignedFields(read: (name: SignedName) => unknown): SignedFields | undefined {
  const fields: Partial<Record<SignedName, string>> = {};
  for (const name of SIGNED_NAMES) {
    const value = read(name);
    if (typeof value !== 'string' || !value.isWellFormed()) return undefined;
    fields[name] = value;
  }
  // The prototype goes last: what Object.create(null) makes is a hash table, slower to fill and on every later read.
  return Object.freeze(Object.setPrototypeOf(fields, null));
}

/** The text under the signature: the five fields joined with ':'. */
export function signedText(fields: SignedFields): string {
  const { event, merchant_reference, internal_reference, transaction_type, transaction_status } = fields;
  return `${event}:${merchant_reference}:${internal_reference}:${transaction_type}:${transaction_status}`;
}

/**
 * Whether the join could be read in a second way. `A:B` + `C` signs the same as `A` + `B:C`; the join is injective
 * exactly when at most one field may hold ':' (threat A3).
 */
export function isAmbiguous(fields: SignedFields, colonIn: ColonField | undefined): boolean {
  return SIGNED_NAMES.some((name) => name !== colonIn && fields[name].includes(':'));
}

/**
 * The identity of a transition: one account's transaction reaching one status. 64 hexadecimal digits, the same for
 * every repetition of the callback, whatever its body, timestamp or key.
 *
 * SHA-256 over the account label and the five signed fields, each preceded by its length in bytes (4 bytes, big
 * endian). Not the signature, which changes with the key, and not `payload.id`, which is not signed (threat A6).
 *
 * @example
 * transitionId(callback.signed, 'my-account'); // 'a3f0…'
 */
export function transitionId(fields: SignedFields, account = ''): string {
  const texts = [account, ...SIGNED_NAMES.map((name) => fields[name])];
  // All texts are encoded at once, each behind room for its length, and then the lengths are written.
  const text = ROOM + texts.join(ROOM);
  const bytes = encoder.encode(text);
  const isAscii = bytes.length === text.length;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let offset = 0;
  for (const part of texts) {
    const length = isAscii ? part.length : encoder.encode(part).length;
    view.setUint32(offset, length);
    offset += ROOM.length + length;
  }
  return sha256Hex(bytes);
}

const ROOM = '\0\0\0\0';
const encoder = new TextEncoder();
