import type { Evidence } from './verified.ts';

/** Why a callback or redirect is refused. For logs and metrics: the network sees one constant answer. */
export type RefusalCode = keyof typeof HINTS;

interface RefusalReport {
  readonly ok: false;
  readonly code: RefusalCode;
  /** What to look at next. Constant text: never a key, a header or a body. */
  readonly hint: string;
}

/** The signature does not fit, or was not looked at: nothing about this request is known. */
export interface ForgedRefusal extends RefusalReport {
  readonly authentic: false;
}

/** The signature fits the request as received, but a rule refuses it: worth keeping, never worth acting on. */
export interface AuthenticRefusal extends RefusalReport {
  readonly authentic: true;
  readonly evidence: Evidence;
}

export type Refusal = ForgedRefusal | AuthenticRefusal;

const HINTS = {
  // By the receiver, before verification.
  method_not_allowed: 'A callback is a POST, a redirect is a GET. The request used another method.',
  encoding_unsupported: 'The body has a Content-Encoding other than gzip and deflate.',
  body_too_large: 'The body has more than 64 KiB, before or after decompression.',
  body_timeout: 'The sender took longer than bodyTimeoutMs to send the body.',
  body_aborted: 'The sender closed the connection before the body was complete.',
  // By the verifier.
  signature_missing:
    'The signature is missing: the header hmac-signature of a callback, or the query parameter hmac_signature of a redirect. Check whether a proxy removes the header.',
  signature_malformed:
    'The signature is not t=<timestamp>,s=<64 lower-case hex digits> without white space. A repeated header also causes this.',
  body_malformed:
    'The body is not a UTF-8 JSON object { event, payload }, or it repeats a signed field name.',
  query_malformed:
    'The query has an invalid percent escape, a signed name twice or in brackets, or more than 128 parameters or 8192 characters.',
  signed_field_malformed:
    'A signed field is missing or not a well-formed string. If redirects use other names, set redirectFields; if they lack event or transaction_type, set redirectDefaults.',
  ambiguous:
    "A signed field contains ':', which also separates the fields, so the signature fits more than one reading. If references of this account contain ':', set colonIn, and isMerchantReference if customers can influence them.",
  mismatch:
    'No signing key produces this signature. Check that signingKey is the one that the dashboard shows for this account, and that nothing on the way changes a signed field.',
  key_expired: 'The signature was made with a key whose notAfter has passed.',
  timestamp_unreadable: 'toleranceSeconds is set, but t is not a number.',
  timestamp_out_of_tolerance:
    't differs from the local clock by more than toleranceSeconds. A retry that reuses its first t also causes this.',
  reference_unexpected: 'The redirect has another merchant_reference than the session expects.',
} as const;

export function refuse(code: RefusalCode): ForgedRefusal {
  return Object.freeze({ ok: false, code, hint: HINTS[code], authentic: false });
}

export function refuseAuthentic(code: RefusalCode, evidence: Evidence): AuthenticRefusal {
  return Object.freeze({ ok: false, code, hint: HINTS[code], authentic: true, evidence });
}
