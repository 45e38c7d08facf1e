import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { REASONS } from '../../src/explain/causes.ts';
import * as core from '../../src/explain/index.ts';
import { OTHER_KEY, SIGNATURE, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';
import * as signer from './wrong-signer.ts';
import { BODY, bodyWith, DATA, hmac, PUBLIC_KEY, request, SECRET_KEY, signed } from './wrong-signer.ts';

/** A real mistake, the cause that must name it, and what the detail must show. */
type Case = readonly [
  cause: core.Cause,
  mistake: string,
  request: core.ExplainedRequest,
  shows: RegExp,
  settings?: (Partial<core.ExplainKeys> & core.ExplainOptions) | undefined,
];
type Row<T> = readonly [cause: Case[0], mistake: string, wrong: T, shows: RegExp];

const MESSAGE = signer.messageOf(DATA);
const HASH = hmac(MESSAGE);
const DIGEST = Buffer.from(HASH, 'hex');

/** Values of the header of a genuine callback. */
const HEADERS: readonly Row<string>[] = [
  ['signature_missing', 'an empty header', '', /No header/],
  ['signature_repeated', 'a header that was joined', `${SIGNATURE}, ${SIGNATURE}`, /2 hashes.*matches/],
  ['signature_truncated', 'a column of 60 characters', SIGNATURE.slice(0, 60), /45 hex digits.*matches/],
  ['signature_truncated', 'a column of 31 characters', SIGNATURE.slice(0, 31), /16 hex digits.*matches/],
  ['signature_truncated', 'too few digits to prove anything', SIGNATURE.slice(0, 30), /of them capitals\.$/],
  ['signature_percent_encoded', 'encoding', encodeURIComponent(SIGNATURE), /3 percent escapes.*matches/],
  ['signature_malformed', 'white space after the comma', SIGNATURE.replace(',', ', '), /matches/],
  ['signature_malformed', 'the hash alone', HASH, /matches/],
  ['signature_malformed', 'another scheme', 'Bearer abc', /no hash/],
  ['uppercase_hex', 'upper-case hex', `t=${T},s=${HASH.toUpperCase()}`, /capitals.*matches/],
  ['base64_digest', 'Base64', `t=${T},s=${DIGEST.toString('base64')}`, /44 characters.*matches/],
  ['base64_digest', 'Base64url', `t=${T},s=${DIGEST.toString('base64url')}`, /43 characters.*matches/],
];

const proxied = { via: '1.1 edge', 'x-forwarded-for': '10.0.0.1' };
const inQuery = `/cb?hmac_signature=${encodeURIComponent(SIGNATURE)}`;
const pairs = ['Hmac-Signature', 'hmac-signature'].map((name): [string, string] => [name, SIGNATURE]);
/** Headers and addresses without hmac-signature. */
const OTHERS: readonly Row<Partial<Case[2]>>[] = [
  ['signature_missing', 'no signature', {}, /No header/],
  ['signature_dropped', 'a proxy', { headers: proxied }, /via/],
  ['signature_renamed', '_ for -', { headers: { hmac_signature: SIGNATURE } }, /"hmac_signature".* matches/],
  ['signature_renamed', 'a prefix', { headers: { 'X-Hmac-Signature': SIGNATURE } }, /"x-hmac-signature"/],
  ['signature_renamed', 'any other name', { headers: { 'x-orig': SIGNATURE } }, /"x-orig"/],
  ['signature_renamed', 'the query of a POST', { url: inQuery }, /query/],
  ['signature_repeated', 'an array', { headers: { 'hmac-signature': [SIGNATURE, SIGNATURE] } }, /2 hashes/],
  ['signature_repeated', 'two pairs', { headers: pairs }, /2 hashes/],
];

const length = { 'content-length': '620' };
const LONG = { 'content-length': '70000' };
const parts = { 'content-type': 'multipart/form-data; boundary=x' };
const truncated = Buffer.from(BODY).subarray(0, 300);
/** Bodies that are not callbacks, and their headers. */
const BODIES: readonly (readonly [...Row<Case[2]['body']>, headers?: Readonly<Record<string, string>>])[] = [
  ['body_too_large', 'a body of 70 KB', bodyWith({ filler: 'x'.repeat(70_000) }), /7\d{4} bytes/],
  ['body_too_large', 'a long body that was not read', undefined, /^It has 70000 bytes/, LONG],
  ['encoding_unsupported', 'a body in Brotli', BODY, /"br"/, { 'content-encoding': 'br' }],
  ['body_not_json', 'a body in gzip', gzipSync(BODY), /not UTF-8/, { 'content-encoding': 'gzip' }],
  ['verified', 'a body that a bridge has decompressed', BODY, /matches/, { 'content-encoding': 'gzip' }],
  ['body_consumed', 'a stream that was read', undefined, /620/, length],
  ['body_html', 'an error page', '<!doctype html><h1>Bad gateway</h1>', /tag/],
  ['body_form', 'a form', 'event=transaction.completed&id=1', /name=value/],
  ['body_form', 'a form in parts', '--x', /name=value/, parts],
  ['body_truncated', 'a length in characters', truncated, /620, but 300/, length],
  ['body_truncated', 'a lost end', BODY.slice(0, -20), /does not end/],
  ['body_not_json', 'plain text', 'hello', /JSON.parse/],
  ['body_not_json', 'an array', '[]', /array/],
  ['body_not_json', 'UTF-16', Buffer.from(BODY, 'utf16le').subarray(0, 301), /UTF-16/],
  ['body_not_json', 'gzip without its header', Buffer.from([0x1f, 0x8b, 8, 0, 0xff]), /not UTF-8/],
];

const GET = { ...signed(undefined, HASH), method: 'GET' };
const browser = { method: 'GET', url: `/x?hmac_signature=${SIGNATURE}`, headers: {} };
/** The request, its header and its body. */
const REQUESTS: readonly Case[] = [
  ['verified', 'no mistake', signed(BODY, HASH), /matches the key "default".*10 s behind/],
  ['verified', 'no mistake, t in milliseconds', signed(BODY, HASH, T * 1000), /in milliseconds/],
  ['verified', 'no mistake, a parsed body', signed(DATA, HASH), /matches/],
  ['method_wrong', 'a GET', GET, /"GET".*no hmac_signature/],
  ['method_wrong', 'a redirect of the browser', browser, /has hmac_signature/],
  ...HEADERS.map(([cause, what, value, shows]): Case => [cause, what, request(BODY, value), shows]),
  ...OTHERS.map(
    ([cause, what, given, shows]): Case => [cause, what, { headers: {}, body: BODY, ...given }, shows],
  ),
  ...BODIES.map(
    ([cause, what, body, shows, headers]): Case => [cause, what, request(body, SIGNATURE, headers), shows],
  ),
];

const { event, payload } = DATA;
const { internal_reference: _, ...lost } = payload;
const PAYLOAD = JSON.stringify(payload);

/** Bodies without the five strings, under the signature of the genuine one. */
const SHAPES: readonly Row<unknown>[] = [
  ['body_not_json', 'a body in a JSON string', BODY, /single value/],
  ['field_missing', 'a payload in a JSON string', { event, payload: PAYLOAD }, /^merchant_reference is/],
  ['field_missing', 'no payload', { event, ...payload }, /^merchant_reference is missing\.$/],
  ['field_missing', 'an event in payload', { payload: { ...payload, event } }, /^event is missing/],
  ['field_missing', 'a lost field', { event, payload: lost }, /^internal_reference is missing/],
];

/** What was signed instead of ORD-1001, and what arrived. */
const VALUES: readonly (readonly [cause: Case[0], value: unknown, signed: string, shows: RegExp])[] = [
  ['field_not_string', null, '', /merchant_reference is null/],
  ['field_not_string', 1001, '1001', /merchant_reference is a number/],
  ['field_not_string', ['1001'], '1001', /merchant_reference is an Array/],
  ['field_not_string', 'A\ud83d', 'A\ufffd', /half of a surrogate/],
  ['colon', 'A:B', 'A:B', /merchant_reference has ':' at position 2.*not set/],
];

/** The `t` of a valid signature, with a tolerance of 30 s. */
const TIMES: readonly Row<string | number>[] = [
  ['timestamp_unit', 'a date', '2023-11-14T22:13:20Z', /a date/],
  ['timestamp_unit', 'a decimal number', `${T}.5x`, /not a whole number/],
  ['timestamp_old', 'a clock that is ahead', T - 300, /5 min behind/],
  ['timestamp_old', 'milliseconds, an hour ago', (T - 3600) * 1000, /milliseconds, 60 min behind/],
  ['timestamp_old', 'a retry after days', T - 3 * 86_400, /3 days behind/],
  ['timestamp_ahead', 'a clock that is behind', T + 400, /7 min ahead/],
  ['timestamp_ahead', 'a local time', T + 3 * 3600, /3 h ahead/],
];

/** The five fields, and t. */
const FIELDS: readonly Case[] = [
  ...SHAPES.map(
    ([cause, what, body, shows]): Case => [cause, what, signed(JSON.stringify(body), HASH), shows],
  ),
  ...VALUES.map(([cause, value, text, shows]): Case => {
    const hash = hmac(MESSAGE.replace('ORD-1001', text));
    return [cause, `signed "${text}"`, signed(bodyWith({ merchant_reference: value }), hash), shows];
  }),
  ...TIMES.map(
    ([cause, what, t, shows]): Case => [cause, what, signed(BODY, HASH, t), shows, { toleranceSeconds: 30 }],
  ),
  ['name_repeated', 'two events', signed(BODY.replace('{', '{"event":"x",'), HASH), /more than once/],
];

const base64 = (hash: string): string => Buffer.from(hash, 'hex').toString('base64');
const decoded = Buffer.from(SIGNING_KEY, 'base64');
const HEX_KEY = 'a1'.repeat(16);
/** `Buffer.from(key, 'base64')` ignores its last character. */
const ODD_KEY = `${SIGNING_KEY}x`;

type Mistake<T> = readonly [mistake: string, wrong: T, shows: RegExp, settings?: Case[4]];
type Rows<T> = { readonly [Cause in Case[0]]?: readonly Mistake<T>[] };
/** The cases of a table by cause. */
function casesOf<T>(
  table: Rows<T>,
  caseOf: (wrong: T) => readonly [request: Case[2], settings?: Case[4]],
): Case[] {
  return Object.entries(table).flatMap(([cause, rows]) =>
    rows.map(([mistake, wrong, shows, settings]): Case => {
      const [request, own] = caseOf(wrong);
      return [cause as Case[0], mistake, request, shows, settings ?? own];
    }),
  );
}

/** The message that was signed instead of the fields. */
const MESSAGES: Rows<string> = {
  raw_body_signed: [['the body', BODY, /as it arrived/]],
  timestamp_signed: [
    ['t.body', `${T}.${BODY}`, /t, "\." and the body as it arrived/],
    ['t:fields', `${T}:${MESSAGE}`, /t, ":" and the fields/],
    ['fields and t', `${MESSAGE}${T}`, /the fields, "" and t/],
  ],
  field_changed: [
    ['every field in lower-case letters', MESSAGE.toLowerCase(), /every field has lower-case letters/],
  ],
};

/** The merchant reference that was signed, and the one that arrived. */
const REFERENCES: readonly (readonly [signed: string, arrived: string, shows: RegExp])[] = [
  ['ORD-1001 ', 'ORD-1001', /merchant_reference has a space after/],
  [' ORD-1001', 'ORD-1001', /a space before/],
  ['ORD-1001\n', 'ORD-1001', /a line break after/],
  ['ORD-1001', ' ORD-1001\t', /no white space/],
  ['ORD-1001', 'ord-1001', /capital letters/],
  ['ord-1001', 'ORD-1001', /lower-case letters/],
];

const old = { id: 'old', key: OTHER_KEY, notAfter: new Date(NOW - 1) };
const rotated = { signingKey: [{ id: 'new', key: SIGNING_KEY }, old] };
const unset = { id: 'unset', key: undefined };
const others = { others: [unset, { id: 'sandbox', key: OTHER_KEY }] };
const SHORT_KEY = 'ElevenChars';
/** The key that the sender used, when the receiver has SIGNING_KEY. */
const KEYS: Rows<string | Buffer> = {
  expired_key: [['an old key', OTHER_KEY, /"old" that ends in Y0zC/, rotated]],
  other_key: [
    ['the key of the sandbox', OTHER_KEY, /"sandbox" that ends in Y0zC/, others],
    // Four characters of so few would be too much of it.
    ['a short key', SHORT_KEY, /"short", which/, { others: [{ id: 'short', key: SHORT_KEY }] }],
  ],
  key_white_space: [
    ['LF at the sender', `${SIGNING_KEY}\n`, /a line feed after it/],
    ['CR and LF at the sender', `${SIGNING_KEY}\r\n`, /CR and LF after it/],
    ['a space after it at the sender', `${SIGNING_KEY} `, /a space after it/],
    ['a space before it at the sender', ` ${SIGNING_KEY}`, /a space before it/],
    ['quotation marks at the sender', `"${SIGNING_KEY}"`, /quotation marks/],
  ],
  key_unset: [
    ['an empty key', '', /the key ""/],
    ['the string undefined', 'undefined', /"undefined"/],
    ['the string null', 'null', /"null"/],
  ],
  public_key: [['the public key at the sender', PUBLIC_KEY, /ends in Df7G/]],
  secret_key: [['the secret key at the sender', SECRET_KEY, /ends in 9Ui3/]],
  key_decoded: [
    ['a key from Base64', decoded, /as Base64/],
    ['a longer key from Base64', decoded, /as Base64/, { signingKey: ODD_KEY }],
    ['a key from hex', Buffer.from(HEX_KEY, 'hex'), /as hex/, { signingKey: HEX_KEY }],
  ],
  unknown_key: [["another account's key", OTHER_KEY, /None of \d{2,}/]],
};

/** The key that the receiver has, when the sender used SIGNING_KEY. */
const SETTINGS: Rows<string | undefined> = {
  key_white_space: [
    ['a line feed here', `${SIGNING_KEY}\n`, /without the white space/],
    ['quotation marks here', `'${SIGNING_KEY}'`, /without the white space or quotation marks/],
  ],
  key_encoded: [
    ['the key in Base64 here', Buffer.from(SIGNING_KEY).toString('base64'), /decoded as Base64/],
    ['the key in hex here', Buffer.from(SIGNING_KEY).toString('hex'), /decoded as hex/],
  ],
  public_key: [['the public key here', PUBLIC_KEY, /public key/]],
  secret_key: [['the secret key here', SECRET_KEY, /secret key/]],
  key_invalid: [
    ['a placeholder', '<SIGNING_KEY>', /placeholder/],
    ['an unset variable', undefined, /missing/],
  ],
};

const INDENTED = JSON.stringify(DATA, null, 2);
/** What was signed, and with which key. */
export const SIGNERS: readonly Case[] = [
  ...casesOf(MESSAGES, (message) => [signed(BODY, hmac(message))]),
  ...REFERENCES.map(([sent, merchant_reference, shows]): Case => {
    const hash = hmac(MESSAGE.replace('ORD-1001', sent));
    const mistake = `${JSON.stringify(sent)} for ${JSON.stringify(merchant_reference)}`;
    return ['field_changed', mistake, signed(bodyWith({ merchant_reference }), hash), shows];
  }),
  ...casesOf(KEYS, (key) => [signed(BODY, hmac(MESSAGE, key))]),
  ...casesOf(SETTINGS, (signingKey) => [signed(BODY, HASH), { signingKey }]),
  ['raw_body_signed', 'Base64', signed(Buffer.from(BODY), base64(hmac(BODY))), /arrived.*Base64/],
  ['raw_body_signed', 'a body with an indentation', signed(INDENTED, hmac(BODY)), /serialised again/],
  ['raw_body_signed', 'bytes that are not JSON', signed('hello', hmac('hello')), /as it arrived/],
  ['key_decoded', 'both in Base64', signed(BODY, base64(hmac(MESSAGE, decoded))), /as Base64.*characters of/],
  ['unknown_key', 'an amount', signed(bodyWith({ request_amount: 5_000_000 }), 'a'.repeat(64)), /None of/],
];

export const CASES: readonly Case[] = [...REQUESTS, ...FIELDS, ...SIGNERS];
const OWN_KEYS = { signingKey: SIGNING_KEY, publicKey: PUBLIC_KEY, secretKey: SECRET_KEY };

export function explained([, , , , settings = {}]: Case, given: core.ExplainedRequest): core.Explanation {
  const { signingKey, publicKey, secretKey, others, ...options } = { ...OWN_KEYS, ...settings };
  return core.explain(given, { signingKey, publicKey, secretKey, others }, { now: () => NOW, ...options });
}

/** Every mistake gets its cause, and every cause has a mistake. */
export function runCases(): void {
  for (const one of CASES) {
    const [cause, mistake, request, shows] = one;
    test(`explain() names ${cause}: ${mistake}`, () => {
      const found = explained(one, request);
      expect(found).toMatchObject({ cause, ok: cause === 'verified', detail: expect.stringMatching(shows) });
      expect([found.title, found.detail, found.fix]).toEqual(
        Array(3).fill(expect.stringMatching(/^[^ ].*\.$/)),
      );
    });
  }

  test('every cause of explain() is produced', () => {
    expect(new Set(CASES.map(([cause]) => cause))).toEqual(new Set(Object.keys(REASONS)));
  });
}
