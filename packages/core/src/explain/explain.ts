import { ConfigurationError } from '../errors.ts';
import { checkArgument, kindOf, RECORD } from '../options/options.ts';
import { encodingOf } from '../receive/request-body.ts';
import { type CallbackBody, MAX_BODY_BYTES, malformedBody, ownValue } from '../verify/callback-body.ts';
import { createVerifier, type Verifier, type VerifierOptions } from '../verify/create-verifier.ts';
import { readTimestamp } from '../verify/signature.ts';
import { SIGNED_NAMES } from '../verify/signed-fields.ts';
import { type Cause, type Explanation, REASONS, wordsOf } from './causes.ts';
import { type ExplainKeys, findMatch, KEYS, keyGuesses } from './hypotheses.ts';
import {
  EXPLAINED,
  type ExplainedRequest,
  type Facts,
  isSignable,
  type LooseSignature,
  looseSignatures,
  readFacts,
  shownName,
  valuesOf,
} from './readings.ts';

/** The verifier options that can cause a refusal. */
export type ExplainOptions = Pick<
  VerifierOptions,
  'toleranceSeconds' | 'colonIn' | 'isMerchantReference' | 'now'
>;

/**
 * Explains why a callback was refused, by the one mistake that accounts for it. It computes the MAC under each known mistake
 * (another key, a decoded key, the signed body, a changed field, …) and compares. If none matches, the form of the request
 * decides. `createVerifier()` itself decides `ok`.
 *
 * For development and support only: it costs about a hundred digests, and its result would help a forger. Never send the result
 * to the sender. It contains no key, header or body, so you can log it.
 *
 * @param options The options of the verifier that refused.
 * @throws {ConfigurationError} When an option is invalid, or `request` has no headers. An invalid signing key does not throw: it
 * gets the explanation `key_invalid`. Nor does hostile input.
 *
 * @example
 * const { title, detail, fix } = explain(
 *   { method: request.method, headers: request.headers, body },
 *   { signingKey: process.env.SIGNING_KEY, publicKey: process.env.PUBLIC_KEY, secretKey: process.env.SECRET_KEY },
 * );
 * console.warn(`${title} ${detail} ${fix}`);
 */
export function explain(
  request: ExplainedRequest,
  keys: ExplainKeys,
  options: ExplainOptions = {},
): Explanation {
  checkArgument('explain()', 'request', request, EXPLAINED);
  checkArgument('explain()', 'keys', keys, KEYS);
  checkArgument('explain()', 'options', options, RECORD);
  const [cause, detail] = reasonOf(request, keys, options);
  const words = wordsOf(REASONS[cause], 'refusal');
  return Object.freeze({ ok: cause === 'verified', cause, detail, ...words });
}

type Reason = readonly [cause: Cause, detail: string];

function reasonOf(request: ExplainedRequest, keys: ExplainKeys, options: ExplainOptions): Reason {
  const facts = readFacts(request);
  const outside = requestProblem(request, facts);
  if (outside !== undefined) return outside;
  const header = facts.headers.get('hmac-signature');
  const verdict = verdictOf(header, facts.body, keys, options);
  if ('signed' in verdict) {
    const { unit, ageSeconds } = verdict.timestamp;
    const age = ageSeconds === undefined ? 'not a number' : `in ${unit}, ${duration(ageSeconds)}`;
    return ['verified', `It matches the key "${verdict.keyId}". t is ${age}.`];
  }
  const elsewhere = header ? undefined : signatureElsewhere(request, facts);
  const signatures = elsewhere?.signatures ?? looseSignatures(header ?? '');
  const values = valuesOf(facts.data);
  const fields = values?.every(isSignable) ? values : undefined;
  const now = (options.now ?? Date.now)();
  const { match, tried } = findMatch(facts, signatures, fields, [...keyGuesses(keys, now)]);
  const form = match?.signature;
  if (match?.cause !== undefined) return [match.cause, `${match.detail} ${form?.detail}`.trim()];
  if (elsewhere !== undefined) {
    const fit = form ? 'It matches the body.' : 'It does not match the body.';
    const compared = facts.bytes.length === 0 ? 'There is no body to compare it with.' : fit;
    return ['signature_renamed', `${elsewhere.place} ${compared}`];
  }
  if (form?.cause !== undefined) return [form.cause, `${form.detail} Read leniently, it matches.`];
  const code = 'code' in verdict ? verdict.code : '';
  const problem =
    (form && brokenRule(code, fields, form.t, now, options)) ??
    signatureProblem(facts, signatures) ??
    (values === undefined ? bodyProblem(facts) : undefined) ??
    wrongValue(facts) ??
    fieldProblem(values ?? []);
  if (problem !== undefined) return problem;
  if (code === 'body_malformed') return NAME_REPEATED;
  if (verdict instanceof ConfigurationError) {
    const { signingKey, publicKey, secretKey } = keys;
    if (signingKey !== undefined && signingKey === publicKey) return ['public_key', verdict.message];
    if (signingKey !== undefined && signingKey === secretKey) return ['secret_key', verdict.message];
    return ['key_invalid', verdict.message];
  }
  const what = 'every key, decoded keys, the body, t, and white space and case of the fields';
  return ['unknown_key', `None of ${tried} computations produces this hash: ${what} were tried.`];
}

function verdictOf(
  signature: string | undefined,
  body: unknown,
  { signingKey, publicKey, secretKey }: ExplainKeys,
  options: ExplainOptions,
): ReturnType<Verifier['verifyCallback']> | ConfigurationError {
  // Explaining is not trusting: a sandbox key is as good as any.
  const verifying = { ...options, signingKey, publicKey, secretKey, allowSandboxKeys: true };
  try {
    return createVerifier(verifying).verifyCallback({ signature, body: body as CallbackBody });
  } catch (error) {
    if (error instanceof ConfigurationError && error.option.startsWith('signingKey')) return error;
    throw error;
  }
}

/** The problems that a route finds before it checks the signature. */
function requestProblem({ method, url = '' }: ExplainedRequest, facts: Facts): Reason | undefined {
  if (method !== undefined && method !== 'POST') {
    const has = url.includes('hmac_signature=') ? 'has hmac_signature' : 'has no hmac_signature';
    return ['method_wrong', `The method is ${shownName(method)}, and the query ${has}.`];
  }
  const encoding = facts.headers.get('content-encoding');
  if (encodingOf(encoding) === undefined)
    return ['encoding_unsupported', `It is ${shownName(encoding ?? '')}.`];
  const length = Math.max(facts.bytes.length, declaredLength(facts));
  if (length <= MAX_BODY_BYTES) return undefined;
  return ['body_too_large', `It has ${length} bytes; ${MAX_BODY_BYTES} are allowed.`];
}

function declaredLength({ headers }: Facts): number {
  const length = headers.get('content-length') ?? '';
  return /^\d{1,9}$/.test(length) ? Number(length) : 0;
}

interface Elsewhere {
  readonly place: string;
  readonly signatures: readonly LooseSignature[];
}

/** A signature in another header, or in the query. */
function signatureElsewhere({ url = '' }: ExplainedRequest, { headers }: Facts): Elsewhere | undefined {
  const [, query = ''] = /[?&]hmac_signature=([^&#]*)/.exec(url) ?? [];
  const places = [...headers].filter(([name, value]) => /hmac|signature/.test(name) || /^t=\w+,/.test(value));
  for (const [name, value] of [...places, ['', query] as const]) {
    const place = name === '' ? 'It is in the query.' : `It is in the header ${shownName(name)}.`;
    const signatures = looseSignatures(value);
    if (signatures.length > 0) return { place, signatures };
  }
  return undefined;
}

export const PROXY_HEADERS: readonly string[] = ['via', 'forwarded', 'x-forwarded-for', 'x-real-ip'];

function signatureProblem({ headers }: Facts, [first]: readonly LooseSignature[]): Reason | undefined {
  const { length = 0 } = headers.get('hmac-signature') ?? '';
  if (length > 0) {
    if (first === undefined) return ['signature_malformed', `Its ${length} characters hold no hash.`];
    return first.cause && [first.cause, first.detail];
  }
  const proxy = PROXY_HEADERS.find((name) => headers.has(name));
  if (proxy === undefined) return ['signature_missing', 'No header holds a signature.'];
  return ['signature_dropped', `The ${proxy} header shows a proxy, and no header holds a signature.`];
}

function bodyProblem(facts: Facts): Reason | undefined {
  const { headers, bytes, text, data } = facts;
  const { length } = bytes;
  const declared = declaredLength(facts);
  if (length === 0 && declared > 0) {
    return ['body_consumed', `Content-Length is ${declared}, but no bytes are left.`];
  }
  const wrong = data === undefined || typeof data === 'object' ? wrongValue(facts) : undefined;
  if (wrong !== undefined && !wrong[1].includes('form')) return wrong;
  if (text === undefined || length === 0 || text.includes('\0'))
    return ['body_not_json', `It has ${length} bytes and is not UTF-8 text.`];
  if (/^\s*<[a-z!?]/i.test(text)) return ['body_html', `It begins with a tag and has ${length} bytes.`];
  const isForm = /x-www-form-urlencoded|form-data/i.test(headers.get('content-type') ?? '');
  if (isForm || /^[\w.%[\]]+=/.test(text)) return ['body_form', 'It consists of name=value pairs.'];
  if (data !== undefined) {
    return ['body_not_json', `It is ${Array.isArray(data) ? 'an array' : 'a single value'}.`];
  }
  if (length < declared) {
    return ['body_truncated', `Content-Length is ${declared}, but ${length} bytes arrived.`];
  }
  if (/^\s*\{/.test(text) && !/\}\s*$/.test(text))
    return ['body_truncated', `It begins with "{" and does not end with "}"; it has ${length} bytes.`];
  return ['body_not_json', `JSON.parse refuses its ${length} bytes.`];
}

/** A value whose type, or whose text, cannot be a callback. */
function wrongValue({ body }: Facts): Reason | undefined {
  const form = formOf(body);
  const hint = form === undefined ? malformedBody(body) : `The body is ${form}. Pass the JSON in it.`;
  return hint === undefined ? undefined : ['body_not_json', hint];
}

/** What a body that is not a callback is, by the start of its text. */
const FORMS: readonly (readonly [form: RegExp, what: string])[] = [
  [/^(..)?({\0|\0{)/, 'UTF-16'],
  [/^\s*"/, 'a JSON string'],
  [/^e[w-z\d][\w+/-]+=*$/, 'Base64'],
  [/^[\w.%[\]-]+=/, 'a form'],
];

function formOf(body: unknown): string | undefined {
  const text = ArrayBuffer.isView(body)
    ? new TextDecoder('latin1').decode(body as Uint8Array<ArrayBuffer>)
    : body;
  if (typeof text === 'string') return FORMS.find(([form]) => form.test(text))?.[1];
  if (kindOf(text) !== 'an Object') return undefined;
  if (ownValue(text as object, 'type') === 'Buffer') return 'a Buffer as JSON';
  return typeof ownValue(text as object, 'body') === 'string' ? 'an event' : undefined;
}

function fieldProblem(values: readonly unknown[]): Reason | undefined {
  const at = values.findIndex((value) => !isSignable(value));
  if (at === -1) return undefined;
  const [name, value] = [SIGNED_NAMES[at], values[at]];
  if (value === undefined) return ['field_missing', `${name} is missing.`];
  const what = typeof value === 'string' ? 'has half of a surrogate pair' : `is ${kindOf(value)}`;
  return ['field_not_string', `${name} ${what}.`];
}

const NAME_REPEATED: Reason = [
  'name_repeated',
  'event, payload or a signed name of payload appears more than once.',
];

/** The signature is valid as received, so a rule refuses it. */
function brokenRule(
  code: string,
  fields: readonly string[] = [],
  t: string,
  now: number,
  { toleranceSeconds = 0, colonIn }: ExplainOptions,
): Reason | undefined {
  if (code === 'body_malformed') return NAME_REPEATED;
  if (code === 'ambiguous') {
    const found = SIGNED_NAMES.flatMap((name, index) => {
      const at = fields[index]?.indexOf(':') ?? -1;
      return at === -1 ? [] : `${name} has ':' at position ${at + 1}`;
    });
    return ['colon', `${found.join('; ')}. colonIn is ${colonIn ?? 'not set'}.`];
  }
  if (code === 'timestamp_unreadable') {
    return ['timestamp_unit', `t is ${Number.isNaN(Date.parse(t)) ? 'not a whole number' : 'a date'}.`];
  }
  if (code !== 'timestamp_out_of_tolerance') return undefined;
  const { unit, ageSeconds = 0 } = readTimestamp(t, now);
  const detail = `t is in ${unit}, ${duration(ageSeconds)}. ${toleranceSeconds} s are allowed.`;
  return [ageSeconds > 0 ? 'timestamp_old' : 'timestamp_ahead', detail];
}

/** A readable duration with its direction. */
function duration(ageSeconds: number): string {
  const seconds = Math.abs(ageSeconds);
  const units = Object.entries({ days: 86_400, h: 3600, min: 60 });
  const [unit, divisor] = units.find(([, length]) => seconds >= 2 * length) ?? ['s', 1];
  return `${Math.round(seconds / divisor)} ${unit} ${ageSeconds < 0 ? 'ahead of' : 'behind'} the clock`;
}
