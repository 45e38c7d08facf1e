import type { Evidence } from './verified.ts';

/** Why a callback or redirect was refused. For logs and metrics: the network sees one constant answer. */
export type RefusalCode = VerifierCode | RequestCode;

/** Refusals by the verifier. */
export type VerifierCode = keyof typeof HINTS;
/** Refusals by the receiver, before verification. */
export type RequestCode =
  | 'method_not_allowed'
  | 'encoding_unsupported'
  | 'body_too_large'
  | 'body_timeout'
  | 'body_aborted';

interface RefusalReport {
  readonly ok: false;
  readonly code: RefusalCode;
  /** What to check next. Constant text: never a key, a header or a body. */
  readonly hint: string;
}

/**
 * The signature does not match or was not checked, so nothing about this request is known. It has no `signed`: if TypeScript
 * reports that `signed` does not exist on `ForgedRefusal`, check `result.ok` first.
 */
export interface ForgedRefusal extends RefusalReport {
  readonly authentic: false;
}

/**
 * The signature matches the request as received, but a rule refuses it: worth keeping, never worth acting on. It has `evidence`
 * instead of `signed`.
 */
export interface AuthenticRefusal extends RefusalReport {
  readonly authentic: true;
  readonly evidence: Evidence;
}

export type Refusal = ForgedRefusal | AuthenticRefusal;

const HINTS = {
  signature_missing: 'hmac-signature (in a redirect, hmac_signature) is missing. A proxy may remove it.',
  signature_malformed:
    'The signature is not exactly t=<timestamp>,s=<64 lower-case hex digits>, or is repeated.',
  body_malformed:
    'The body is not a UTF-8 JSON object { event, payload }, or repeats a signed field. Decode a form, Base64 or an event to JSON first.',
  query_malformed:
    'The query has a bad percent escape, a signed name twice or in brackets, or over 128 parameters or 8192 characters.',
  signed_field_malformed:
    'A signed field is missing or is not a well-formed string. In a redirect, see redirectFields.',
  ambiguous: "A signed field contains ':', so it has several readings. See colonIn and isMerchantReference.",
  mismatch:
    'No key matches this signature. Compare signingKey with the dashboard. A proxy may have changed a field.',
  key_expired: 'The key of this signature is past its notAfter.',
  timestamp_unreadable: 't is not a number, and toleranceSeconds is set.',
  timestamp_out_of_tolerance: 't differs from the clock by more than toleranceSeconds.',
  reference_unexpected: 'The session expects another merchant_reference.',
} as const;

export function refuse(code: VerifierCode): ForgedRefusal;
export function refuse(code: RefusalCode, hint: string | undefined): ForgedRefusal;
export function refuse(code: RefusalCode, hint: string = HINTS[code as VerifierCode]): ForgedRefusal {
  return Object.freeze({ ok: false, code, hint, authentic: false });
}

export function refuseAuthentic(code: VerifierCode, evidence: Evidence): AuthenticRefusal {
  return Object.freeze({ ...refuse(code), authentic: true, evidence });
}
