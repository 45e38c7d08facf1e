import { hash } from 'node:crypto';
import type { TransitionReason } from '../states.ts';

/** One delivery of a transition. Keys and digests are SHA-256 in 64 hexadecimal digits. */
export interface IntakeRecord {
  readonly transitionId: string;
  readonly account: string;
  /** As JSON, which escapes a NUL: a genuine field may hold one (threat A10), and PostgreSQL's text cannot. */
  readonly signed: string;
  readonly referenceKey: string;
  /** As JSON, for the same reason. */
  readonly transactionType: string;
  readonly subjectKey: string;
  /** Of the content, or of the part of it that is kept: see body-content.ts. */
  readonly digest: string;
  /** The JSON text, unchanged, or serialised again if a body parser read it first; or the part of it that is kept. */
  readonly content: string | null;
  /** `Claims` as JSON. */
  readonly claims: string;
  readonly keyId: string;
  /** The rule that refused it, if this is evidence. */
  readonly refusal: TransitionReason | null;
  /** Of its request (W3C Trace Context), or of a span that was made for it. */
  readonly traceparent: string | null;
  /** The provider_code that its body claims, if it looks like one. Not signed. */
  readonly provider: string | null;
  /** A worker looks at it; null for evidence that can be read in more than one way, which belongs to no payment. */
  readonly isDue: 1 | null;
  /** It comes from the spool and was acknowledged, so no limit can refuse it. */
  readonly isAcknowledged?: true;
  /** Its transition is archived, and it is kept beside the archive. */
  readonly isArchived?: 1;
}

/** A longer currency, or one that is not printable ASCII, can equal no expectation, and PostgreSQL could not store a NUL. */
const CURRENCY = /^[\x21-\x7e]{1,32}$/;

export function isStorableCurrency(currency: unknown): currency is string {
  return typeof currency === 'string' && CURRENCY.test(currency);
}

/** Hashed, since a reference may be longer than an index allows. */
export function referenceKey(merchantReference: string, account: string): string {
  return hash('sha256', JSON.stringify(['merchant_reference', account, merchantReference]), 'base64url');
}

/** The transitions with one key are the statuses of one transaction. */
export function subjectKey(internalReference: string, account: string): string {
  return hash('sha256', JSON.stringify(['internal_reference', account, internalReference]), 'base64url');
}

/** Only a rule about `t` refused it: the five fields are beyond doubt. */
export function isUnambiguous(refusal: string | null): boolean {
  return refusal === null || refusal.startsWith('timestamp_');
}
