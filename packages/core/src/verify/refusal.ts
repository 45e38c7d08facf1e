import type { Evidence } from './verified.ts';

/** Why a callback or redirect is refused. For logs and metrics: the network sees one constant answer. */
export type RefusalCode =
  | 'signature_missing'
  | 'signature_malformed'
  | 'body_malformed'
  | 'query_malformed'
  | 'signed_field_malformed'
  | 'ambiguous'
  | 'mismatch'
  | 'key_expired'
  | 'timestamp_unreadable'
  | 'timestamp_out_of_tolerance'
  | 'reference_unexpected'
  | 'method_not_allowed'
  | 'encoding_unsupported'
  | 'body_too_large'
  | 'body_timeout'
  | 'body_aborted';

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

const HINTS: Readonly<Record<RefusalCode, string>> = {
  signature_missing:
    'The request has no signature. A callback carries it in the header hmac-signature, a redirect in the query parameter ' +
    'hmac_signature. Check whether a proxy in front of the application drops the header.',
  signature_malformed:
    'The signature is not t=<timestamp>,s=<64 lower-case hex digits> without white space. A repeated header also causes ' +
    'this.',
  body_malformed:
    'The body is not a UTF-8 JSON object { event, payload }, or a signed field name appears twice.',
  query_malformed:
    'The query has an invalid percent escape, a signed name twice or in brackets, more than 128 parameters, or more than ' +
    '8192 characters.',
  signed_field_malformed:
    'One of event, merchant_reference, internal_reference, transaction_type and transaction_status is missing or not a ' +
    'well-formed string. If redirects use other names, set redirectFields; if they lack a field, set redirectDefaults.',
  ambiguous:
    "A signed field contains ':', which also separates the fields, so the signature fits more than one reading. If the " +
    "references of this account contain ':', name the field in colonIn. If customers can influence references, also set " +
    'isMerchantReference.',
  mismatch:
    'No signing key produces this signature. Check that signingKey is the signing key of this account, as the dashboard ' +
    'shows it, and that nothing between the service and this program changes a signed field.',
  key_expired: 'The signature was made with a key whose notAfter has passed.',
  timestamp_unreadable: 'toleranceSeconds is set, but t is not a number.',
  timestamp_out_of_tolerance:
    't differs from the local clock by more than toleranceSeconds. A retry that reuses its first t also causes this. t is ' +
    'not signed, so a tolerance does not protect against replay.',
  reference_unexpected: 'The redirect belongs to a different merchant_reference than the session expects.',
  method_not_allowed: 'A callback is a POST, a redirect is a GET. The request used another method.',
  encoding_unsupported: 'The body has a Content-Encoding other than gzip and deflate.',
  body_too_large: 'The body has more than 64 KiB, before or after decompression.',
  body_timeout: 'The sender took longer than bodyTimeoutMs to send the body.',
  body_aborted: 'The sender closed the connection before the body was complete.',
};

export function refuse(code: RefusalCode): ForgedRefusal {
  return Object.freeze({ ok: false, code, hint: HINTS[code], authentic: false });
}

export function refuseAuthentic(code: RefusalCode, evidence: Evidence): AuthenticRefusal {
  return Object.freeze({ ok: false, code, hint: HINTS[code], authentic: true, evidence });
}
