import { gzipSync } from 'node:zlib';
import { SIGNATURE, T } from '../signed-callbacks.ts';
import type { Case } from './case.ts';
import { BODY, bodyWith, DATA, hmac, messageOf, request, signed } from './wrong-signer.ts';

const HASH = hmac(messageOf(DATA));
const DIGEST = Buffer.from(HASH, 'hex');

type Row<T> = readonly [cause: Case[0], mistake: string, wrong: T, shows: RegExp];

/** Values of the header of a genuine callback. */
const VALUES: readonly Row<string>[] = [
  ['signature_missing', 'an empty header', '', /No header/],
  ['signature_repeated', 'a header that was joined', `${SIGNATURE}, ${SIGNATURE}`, /2 hashes.*matches/],
  ['signature_truncated', 'a column of 60 characters', SIGNATURE.slice(0, 60), /45 hex digits.*matches/],
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
const parts = { 'content-type': 'multipart/form-data; boundary=x' };
const truncated = Buffer.from(BODY).subarray(0, 300);
/** Bodies that are not callbacks, and their headers. */
const BODIES: readonly (readonly [...Row<Case[2]['body']>, headers?: Readonly<Record<string, string>>])[] = [
  ['body_too_large', 'a body of 70 KB', bodyWith({ filler: 'x'.repeat(70_000) }), /7\d{4} bytes/],
  ['encoding_unsupported', 'a body in Brotli', BODY, /"br"/, { 'content-encoding': 'br' }],
  ['verified', 'a body in gzip', gzipSync(BODY), /matches/, { 'content-encoding': 'gzip' }],
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
export const REQUESTS: readonly Case[] = [
  ['verified', 'no mistake', signed(BODY, HASH), /matches the key "default".*10 s behind/],
  ['verified', 'no mistake, t in milliseconds', signed(BODY, HASH, T * 1000), /in milliseconds/],
  ['verified', 'no mistake, a parsed body', signed(DATA, HASH), /matches/],
  ['method_wrong', 'a GET', GET, /"GET".*no hmac_signature/],
  ['method_wrong', 'a redirect of the browser', browser, /has hmac_signature/],
  ...VALUES.map(([cause, what, value, shows]): Case => [cause, what, request(BODY, value), shows]),
  ...OTHERS.map(
    ([cause, what, given, shows]): Case => [cause, what, { headers: {}, body: BODY, ...given }, shows],
  ),
  ...BODIES.map(
    ([cause, what, body, shows, headers]): Case => [cause, what, request(body, SIGNATURE, headers), shows],
  ),
];
