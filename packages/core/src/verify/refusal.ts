import type { Evidence } from './verified.ts';

/** Why a callback or redirect is refused. For logs and metrics; the network sees one constant answer. */
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
  | 'reference_unexpected';

interface RefusalReport {
  readonly ok: false;
  readonly code: RefusalCode;
  /** What to look at next. Constant text: never a key, a header or a body. */
  readonly hint: string;
}

/** The signature does not fit, or could not be looked at: nothing about this request is known. */
export interface ForgedRefusal extends RefusalReport {
  readonly authentic: false;
}

/** The signature fits what came, and a rule refuses it all the same: worth keeping, never worth acting on. */
export interface AuthenticRefusal extends RefusalReport {
  readonly authentic: true;
  readonly evidence: Evidence;
}

export type Refusal = ForgedRefusal | AuthenticRefusal;

const HINTS: Record<RefusalCode, string> = {
  signature_missing:
    'No signature came. A callback carries it in the header hmac-signature, a redirect in the query parameter ' +
    'hmac_signature. Does a proxy in front of the application drop the header?',
  signature_malformed:
    'The signature is not one t=<timestamp>,s=<64 lower-case hex digits> without white space. A repeated header ' +
    'looks like this too.',
  body_malformed:
    'The body is not UTF-8 JSON of one object { event, payload }, or a name under the signature stands in it twice.',
  query_malformed:
    'The query holds a bad percent escape, a known name twice or in brackets, or more than 8192 characters.',
  signed_field_malformed:
    'One of event, merchant_reference, internal_reference, transaction_type, transaction_status is missing or not ' +
    'a well-formed string. For redirects under other names, see the option redirectFields.',
  ambiguous:
    "A signed field holds ':', which also separates the fields, so the signature fits more than one reading. If " +
    "the references of this account hold ':', name the one field in the option colonIn.",
  mismatch:
    'No signing key makes this signature. Is signingKey the one of this account, as the dashboard shows it? Did ' +
    'something between the service and here change a signed field?',
  key_expired: 'The signature was made with a key that is past its notAfter.',
  timestamp_unreadable:
    'A tolerance is set, and t is not a number. The specification does not show its unit.',
  timestamp_out_of_tolerance:
    't lies further from the clock than toleranceSeconds. A retry that keeps its first t looks like this too; t is ' +
    'not signed, so a tolerance is no protection against replay.',
  reference_unexpected: 'The redirect is of another merchant_reference than the session expects.',
};

export function refuse(code: RefusalCode): ForgedRefusal {
  return Object.freeze({ ok: false, code, hint: HINTS[code], authentic: false });
}

export function refuseAuthentic(code: RefusalCode, evidence: Evidence): AuthenticRefusal {
  return Object.freeze({ ok: false, code, hint: HINTS[code], authentic: true, evidence });
}
