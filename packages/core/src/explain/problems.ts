import { ConfigurationError } from '../errors.ts';
import { MAX_BODY_BYTES } from '../receive/request-body.ts';
import type { VerifierOptions } from '../verify/create-verifier.ts';
import type { Refusal } from '../verify/refusal.ts';
import { readTimestamp } from '../verify/signature.ts';
import { SIGNED_NAMES } from '../verify/signed-fields.ts';
import type { VerifiedCallback } from '../verify/verified.ts';
import { type Explanation, explanation } from './causes.ts';
import type { ExplainKeys } from './hypotheses.ts';
import {
  type ExplainedRequest,
  type Facts,
  type LooseSignature,
  looseSignatures,
  type Reading,
  readingsOf,
  shownName,
} from './readings.ts';

/** The verifier's own options, as far as they can cause a refusal. */
export type ExplainOptions = Pick<
  VerifierOptions,
  'toleranceSeconds' | 'colonIn' | 'isMerchantReference' | 'now'
>;

export type Verdict = VerifiedCallback | Refusal | ConfigurationError;

export function fieldProblem(verdict: Verdict, reading: Reading | undefined): Explanation | undefined {
  if (reading?.cause !== undefined)
    return explanation(reading.cause, `${reading.detail} No key fits, either.`);
  const isRepeated = 'hint' in verdict && verdict.code === 'body_malformed';
  return isRepeated ? explanation('name_repeated', REPEATED) : undefined;
}

export function keyProblem(verdict: Verdict, keys: ExplainKeys, tried: number): Explanation {
  if (!(verdict instanceof ConfigurationError)) {
    const what = 'every key, decoded keys, the body, t, other orders, separators and changed fields';
    return explanation('unknown_key', `None of ${tried} computations gives this hash: ${what} were tried.`);
  }
  const { signingKey, publicKey, secretKey } = keys;
  const isOther = signingKey !== undefined && (signingKey === publicKey || signingKey === secretKey);
  const cause = signingKey === publicKey ? 'public_key' : 'secret_key';
  return explanation(isOther ? cause : 'key_invalid', verdict.message);
}

/** What the route refuses before it looks at the signature. */
export function requestProblem(
  { method, url = '' }: ExplainedRequest,
  { headers, bytes }: Facts,
): Explanation | undefined {
  if (method !== undefined && method !== 'POST') {
    const has = url.includes('hmac_signature=') ? 'has hmac_signature' : 'has no hmac_signature';
    return explanation('method_wrong', `The method is ${shownName(method)}, and the query ${has}.`);
  }
  const length = Math.max(bytes.length, declaredLength(headers));
  if (length <= MAX_BODY_BYTES) return undefined;
  return explanation('body_too_large', `It has ${length} bytes, and ${MAX_BODY_BYTES} are allowed.`);
}

function declaredLength(headers: Facts['headers']): number {
  const length = headers.get('content-length') ?? '';
  return /^\d{1,9}$/.test(length) ? Number(length) : 0;
}

interface Elsewhere {
  readonly place: string;
  readonly signatures: readonly LooseSignature[];
}

/** A signature in another header, or in the query. */
export function signatureElsewhere(
  { url = '' }: ExplainedRequest,
  { headers }: Facts,
): Elsewhere | undefined {
  const [, query = ''] = /[?&]hmac_signature=([^&#]*)/.exec(url) ?? [];
  const places = [...headers].filter(([name, value]) => /hmac|signature/.test(name) || /^t=\w+,/.test(value));
  for (const [name, value] of [...places, ['', query] as const]) {
    const place = name === '' ? 'It is in the query.' : `It is in the header ${shownName(name)}.`;
    const signatures = looseSignatures(value);
    if (signatures.length > 0) return { place, signatures };
  }
  return undefined;
}

export const PROXY_HEADERS: readonly string[] = [
  'via',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-real-ip',
  'cf-ray',
];

export function signatureProblem(
  { headers }: Facts,
  [first]: readonly LooseSignature[],
): Explanation | undefined {
  const header = headers.get('hmac-signature') ?? '';
  if (header !== '') {
    if (first === undefined)
      return explanation('signature_malformed', `Its ${header.length} characters hold no hash.`);
    return first.cause && explanation(first.cause, first.detail);
  }
  const proxy = PROXY_HEADERS.find((name) => headers.has(name));
  if (proxy === undefined) return explanation('signature_missing', 'No header holds a signature.');
  return explanation(
    'signature_dropped',
    `The header ${proxy} shows a proxy, and no header holds a signature.`,
  );
}

export function bodyProblem({ headers, bytes, text, data }: Facts): Explanation | undefined {
  if (readingsOf(data).length > 0) return undefined;
  const declared = declaredLength(headers);
  const { length } = bytes;
  if (length === 0 && declared > 0) {
    return explanation('body_consumed', `Content-Length is ${declared}, and no bytes are left.`);
  }
  if (text === undefined || length === 0 || text.includes('\0'))
    return explanation('body_not_json', `It has ${length} bytes, and is no UTF-8 text.`);
  if (/^\s*<[a-z!?]/i.test(text))
    return explanation('body_html', `It begins with a tag, and has ${length} bytes.`);
  if (
    /x-www-form-urlencoded|form-data/i.test(headers.get('content-type') ?? '') ||
    /^[\w.%[\]]+=/.test(text)
  ) {
    return explanation('body_form', 'It consists of name=value pairs.');
  }
  if (data === undefined && (length < declared || (/^\s*\{/.test(text) && !/\}\s*$/.test(text)))) {
    const promised =
      declared > 0 ? `Content-Length is ${declared}` : 'It begins with "{" and does not end with "}"';
    return explanation('body_truncated', `${promised}, and ${length} bytes are there.`);
  }
  const found =
    data === undefined
      ? 'JSON.parse does not read it'
      : `It holds ${Array.isArray(data) ? 'an array' : 'a single value'}`;
  return explanation('body_not_json', `${found}; it has ${length} bytes.`);
}

/** The signature fits as it is: a rule refuses. */
export function brokenRule(
  verdict: Verdict,
  reading: Reading | undefined,
  t: string,
  now: number,
  options: ExplainOptions,
): Explanation | undefined {
  const { toleranceSeconds = 0, colonIn = 'not set' } = options;
  const code = 'hint' in verdict ? verdict.code : undefined;
  if (code === 'body_malformed') return explanation('name_repeated', REPEATED);
  if (code === 'ambiguous') {
    const found = SIGNED_NAMES.flatMap((name, index) => {
      const at = reading?.fields[index]?.indexOf(':') ?? -1;
      return at === -1 ? [] : [`${name} has ':' at position ${at + 1}`];
    });
    return explanation('colon', `${found.join('; ')}. colonIn is ${colonIn}.`);
  }
  if (code === 'timestamp_unreadable')
    return explanation(
      'timestamp_unit',
      `t is ${Number.isFinite(Date.parse(t)) ? 'a date' : 'no whole number'}.`,
    );
  if (code !== 'timestamp_out_of_tolerance') return undefined;
  const { unit, ageSeconds = 0 } = readTimestamp(t, now);
  const sent = now - ageSeconds * 1000;
  const isNear = (milliseconds: number): boolean => Math.abs(milliseconds - now) <= toleranceSeconds * 1000;
  const [meant] = UNITS.find(([, factor]) => isNear(Number(t) * factor)) ?? [];
  if (meant !== undefined)
    return explanation('timestamp_unit', `t was read as ${unit}; as ${meant}, it is right.`);
  if (isNear(sent - now * 999))
    return explanation('clock_unit', 'The clock in seconds is within the tolerance.');
  const detail = `t is in ${unit}, ${duration(ageSeconds)}. ${toleranceSeconds} s are allowed.`;
  const halfHours = Math.round(-ageSeconds / 1800);
  if (halfHours <= 0 || halfHours > 28 || !isNear(sent - halfHours * 1_800_000)) {
    return explanation(ageSeconds > 0 ? 'timestamp_old' : 'timestamp_ahead', detail);
  }
  return explanation(
    'timestamp_ahead',
    `${detail} The difference is that of a time zone: ${halfHours / 2} h.`,
  );
}

const REPEATED = 'event, payload or a signed name of payload appears more than once.';

/** By what `t` is multiplied to give milliseconds. The verifier reads seconds and milliseconds itself. */
const UNITS: readonly [name: string, factor: number][] = [
  ['microseconds', 1e-3],
  ['nanoseconds', 1e-6],
  ['minutes', 6e4],
];

/** A duration as people say it, and its direction. */
export function duration(ageSeconds: number): string {
  const steps = [
    [172_800, 86_400, 'days'],
    [7200, 3600, 'h'],
    [120, 60, 'min'],
    [0, 1, 's'],
  ] as const;
  const seconds = Math.abs(ageSeconds);
  const [, divisor, unit] = steps.find(([least]) => seconds >= least) ?? steps[3];
  return `${Math.round(seconds / divisor)} ${unit} ${ageSeconds < 0 ? 'ahead of' : 'behind'} the clock`;
}
