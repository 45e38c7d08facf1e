import type { SignedFields } from './signed-fields.ts';

/** The two parts of a signature value: `t=<timestamp>,s=<hmac_hash>` (protocol §5.2). */
export interface Signature {
  /** The timestamp, unchanged. Not signed: a claim, never a defence. */
  readonly t: string;
  /** 64 lower-case hexadecimal digits. */
  readonly s: string;
}

/** What the sender wrote as `t`. Not signed: anyone with one signature can write any `t` beside it (threat A1). */
export interface Timestamp {
  /** `t`, unchanged. */
  readonly text: string;
  /** The protocol does not show the unit: 1e11 or more is read as milliseconds. */
  readonly unit: 'seconds' | 'milliseconds' | 'unreadable';
  /** The receiver's clock minus `t`, in seconds: negative if `t` is ahead, undefined if it is unreadable. */
  readonly ageSeconds: number | undefined;
}

const MAX_LENGTH = 256;
/** The form that the service sends. Anything else is read by the full grammar below. */
const USUAL = /^t=[0-9]{1,20},s=[0-9a-f]{64}$/;
/** No white space or control characters. A string: compiled only for a value that is not in the usual form. */
const PART = '^([^=\\s\\p{Cc}]+)=([^=\\s\\p{Cc}]+)$';
const HASH = /^[0-9a-f]{64}$/;

/**
 * Reads the value of `hmac-signature` or `hmac_signature`; returns a code if it cannot be read.
 *
 * Follows the protocol's rule (split on ',', each part on '='; take t and s), but is strict where two parsers could see two
 * values: one `t`, one `s`, no white space (which refuses repeated headers, since every framework joins them with ', '), and `s`
 * exactly 64 lower-case digits (Node's hex decoder truncates, and takes U+0100 + digit for the digit). Parts with other names
 * are ignored, so that the service can add one (decision D6).
 */
export function readSignature(value: unknown): Signature | 'signature_missing' | 'signature_malformed' {
  if ((value ?? '') === '') return 'signature_missing';
  if (typeof value !== 'string' || value.length > MAX_LENGTH) return 'signature_malformed';
  if (USUAL.test(value)) {
    const comma = value.indexOf(',');
    return { t: value.slice(2, comma), s: value.slice(comma + 3) };
  }
  const partForm = new RegExp(PART, 'u');
  const found = { t: '', s: '' };
  for (const part of value.split(',')) {
    const [, name, content] = partForm.exec(part) ?? [];
    if (name === undefined || content === undefined) return 'signature_malformed';
    if (name !== 't' && name !== 's') continue;
    if (found[name] !== '') return 'signature_malformed';
    found[name] = content;
  }
  return found.t !== '' && HASH.test(found.s) ? found : 'signature_malformed';
}

const MIN_MILLISECONDS = 1e11;

/** @param now Milliseconds since 1970. */
export function readTimestamp(text: string, now: number): Timestamp {
  if (!/^[0-9]+$/.test(text)) return Object.freeze({ text, unit: 'unreadable', ageSeconds: undefined });
  const value = Number(text);
  const unit = value >= MIN_MILLISECONDS ? 'milliseconds' : 'seconds';
  // Subtracted as whole milliseconds: with fractions of seconds, an age exactly at the tolerance could exceed it.
  const ageSeconds = (now - (unit === 'seconds' ? value * 1000 : value)) / 1000;
  return Object.freeze({ text, unit, ageSeconds });
}

/** The part of a verified delivery that is kept: enough to verify it again. */
export interface KeptSignature {
  readonly signed: SignedFields;
  /** The value of `hmac-signature`. */
  readonly signature: string;
  /** The label of the merchant account. */
  readonly account: string;
}

/**
 * Verifies a kept delivery with the current keys and ':' rules of one verifier: a key past its `notAfter` no longer counts. The
 * tolerance is ignored, since the delivery has waited. Undefined if it does not verify. A closure, so that no key leaves its
 * verifier.
 */
export type SignatureCheck = (
  kept: KeptSignature,
) => { readonly keyId: string; readonly isAmbiguous: boolean } | undefined;

type TakeCheck = (check: SignatureCheck) => void;

/** A registered symbol, so that two copies of core agree on it (threat A37). The 1 is the version of `SignatureCheck`. */
const TAKES_CHECK = /* @__PURE__ */ Symbol.for('@payment-service/core/takes-check/1');

/** Marks a handler: a route created with it offers its check before the first callback. Returns the handler. */
export function takingCheck<F extends (...args: never[]) => unknown>(handler: F, take: TakeCheck): F {
  return Object.defineProperty(handler, TAKES_CHECK, { value: take });
}

/** Offers the check to a marked handler. Does nothing for other handlers. */
export function offerCheck(handler: unknown, check: SignatureCheck): void {
  if (typeof handler !== 'function') return;
  // Own property only: a polluted prototype must not decide (threat A42).
  const take: unknown = Object.getOwnPropertyDescriptor(handler, TAKES_CHECK)?.value;
  if (typeof take === 'function') take(check);
}
