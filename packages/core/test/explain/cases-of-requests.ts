import { SIGNATURE, T } from '../signed-callbacks.ts';
import type { Case } from './case.ts';
import { BODY, bodyWith, DATA, hmac, messageOf, request, signed } from './wrong-signer.ts';

const HASH = hmac(messageOf(DATA));
const bytes = (text: string): Buffer => Buffer.from(text);

/** The request, its header and its body. */
export const REQUESTS: readonly Case[] = [
  ['verified', 'no mistake', signed(BODY, HASH), /fits the key "default".*10 s behind/],
  ['verified', 'no mistake, t in milliseconds', signed(BODY, HASH, T * 1000), /in milliseconds/],
  ['verified', 'no mistake, a parsed body', signed(DATA, HASH), /fits/],
  ['method_wrong', 'a GET', { ...signed(undefined, HASH), method: 'GET' }, /"GET".*no hmac_signature/],
  [
    'method_wrong',
    'a redirect of the browser',
    { method: 'GET', url: `/x?hmac_signature=${SIGNATURE}`, headers: {} },
    /has hmac_signature/,
  ],
  [
    'body_too_large',
    'a body of 70 KB',
    signed(bodyWith({ filler: 'x'.repeat(70_000) }), HASH),
    /7\d{4} bytes/,
  ],
  ['signature_missing', 'no signature', request(BODY, undefined), /No header/],
  ['signature_missing', 'an empty header', request(BODY, ''), /No header/],
  [
    'signature_dropped',
    'a proxy that drops the header',
    request(BODY, undefined, { via: '1.1 edge', 'x-forwarded-for': '10.0.0.1' }),
    /via/,
  ],
  [
    'signature_renamed',
    'a header with underscores',
    request(BODY, undefined, { hmac_signature: SIGNATURE }),
    /"hmac_signature".* fits/,
  ],
  [
    'signature_renamed',
    'a header with a prefix',
    request(BODY, undefined, { 'X-Hmac-Signature': SIGNATURE }),
    /"x-hmac-signature"/,
  ],
  [
    'signature_renamed',
    'a header with any other name',
    request(BODY, undefined, { 'x-orig': SIGNATURE }),
    /"x-orig"/,
  ],
  [
    'signature_renamed',
    'the query of a POST',
    { ...request(BODY, undefined), url: `/cb?hmac_signature=${encodeURIComponent(SIGNATURE)}` },
    /query/,
  ],
  [
    'signature_repeated',
    'a header that was joined',
    request(BODY, `${SIGNATURE}, ${SIGNATURE}`),
    /2 hashes.*fits/,
  ],
  [
    'signature_repeated',
    'a header that is an array',
    { ...request(BODY, undefined), headers: { 'hmac-signature': [SIGNATURE, SIGNATURE] } },
    /2 hashes/,
  ],
  [
    'signature_repeated',
    'two pairs of a header',
    {
      method: 'POST',
      headers: [
        ['Hmac-Signature', SIGNATURE],
        ['hmac-signature', SIGNATURE],
      ],
      body: BODY,
    },
    /2 hashes/,
  ],
  [
    'signature_truncated',
    'a column of 60 characters',
    request(BODY, SIGNATURE.slice(0, 60)),
    /45 hex digits.*fits/,
  ],
  [
    'signature_percent_encoded',
    'an encoded header',
    request(BODY, encodeURIComponent(SIGNATURE)),
    /3 percent escapes.*fits/,
  ],
  ['signature_malformed', 'white space after the comma', request(BODY, SIGNATURE.replace(',', ', ')), /fits/],
  ['signature_malformed', 'the hash alone', request(BODY, HASH), /fits/],
  ['signature_malformed', 'another scheme', request(BODY, 'Bearer abc'), /no hash/],
  ['uppercase_hex', 'upper-case hex', signed(BODY, HASH.toUpperCase()), /capitals.*fits/],
  [
    'base64_digest',
    'Base64',
    signed(BODY, Buffer.from(HASH, 'hex').toString('base64')),
    /44 characters.*fits/,
  ],
  [
    'base64_digest',
    'Base64url',
    signed(BODY, Buffer.from(HASH, 'hex').toString('base64url')),
    /43 characters.*fits/,
  ],
  [
    'body_consumed',
    'a stream that was read',
    request(undefined, SIGNATURE, { 'content-length': '620' }),
    /620/,
  ],
  ['body_html', 'an error page', signed('<!doctype html><h1>Bad gateway</h1>', HASH), /tag/],
  [
    'body_form',
    'a form',
    request('event=transaction.completed&id=1', SIGNATURE, {
      'content-type': 'application/x-www-form-urlencoded',
    }),
    /name=value/,
  ],
  [
    'body_truncated',
    'a length in characters',
    request(bytes(BODY).subarray(0, 300), SIGNATURE, { 'content-length': '620' }),
    /620, and 300/,
  ],
  ['body_truncated', 'a lost end', signed(BODY.slice(0, -20), HASH), /does not end/],
  ['body_not_json', 'plain text', signed('hello', HASH), /JSON.parse/],
  ['body_not_json', 'an array', signed('[]', HASH), /array/],
  ['body_not_json', 'UTF-16', signed(Buffer.from(BODY, 'utf16le').subarray(0, 301), HASH), /bytes/],
  [
    'body_not_json',
    'gzip without its header',
    signed(Buffer.from([0x1f, 0x8b, 8, 0, 0xff]), HASH),
    /no UTF-8/,
  ],
];
