import { callbackRequest, type Headers, hash, headed, signature, TEXT } from '../http-request.ts';
import { ACCEPTED, callback, type HostileRequest, head, REFUSED, rows, wire } from './hostile-request.ts';

const genuine = signature();
const forged = `t=1,s=${'0'.repeat(64)}`;
const s = hash();
const unsigned = { 'hmac-signature': undefined };
const LENGTH: Headers = { 'content-length': String(TEXT.length) };
const many = (count: number, line: string): string[] => Array.from({ length: count }, () => line);
const written = (from: string, to: string): string => callbackRequest().toString('latin1').replace(from, to);
type Value = string | readonly string[] | undefined;

/** Headers: signatures that HTTP changes or that are long (the vectors cover the others), content types, and the rest. */
export const headers: readonly HostileRequest[] = [
  ...rows('a signature', (value: Value) => callback({ headers: { 'hmac-signature': value } }), {
    [REFUSED]: {
      missing: undefined,
      'of one space': ' ',
      twice: [genuine, genuine],
      'genuine, then forged': [genuine, forged],
      'forged, then genuine': [forged, genuine],
      'genuine, then empty': [genuine, ''],
      "joined with ','": `${genuine},${genuine}`,
      "joined with ', '": `${genuine}, ${genuine}`,
      'of 8,000 characters': `x=${'x'.repeat(8000)},${genuine}`,
    },
    [ACCEPTED]: {
      'with t of 180 digits': `t=${'9'.repeat(180)},s=${s}`,
      'with a t that is not a number': `t=NaN,s=${s}`,
      'with a t of Latin-1 letters': `t=\u00e9\u00df,s=${s}`,
    },
  }),
  ...rows('a content type', (value: Value) => callback({ headers: { 'content-type': value } }), {
    [ACCEPTED]: {
      missing: undefined,
      empty: '',
      'application/json in upper case': 'APPLICATION/JSON',
      'text/plain': 'text/plain',
      'text/html': 'text/html; charset=iso-8859-1',
      'a form': 'application/x-www-form-urlencoded',
      'a multipart form': 'multipart/form-data; boundary=x',
      'a multipart form without a boundary': 'multipart/form-data',
      octets: 'application/octet-stream',
      'JSON in UTF-16': 'application/json; charset=utf-16',
      'JSON in UTF-7': 'application/json; charset=utf-7',
      'JSON in a charset without a value': 'application/json; charset=',
      'JSON twice': ['application/json', 'application/json'],
      'JSON twice in one line': 'application/json, application/json',
      'JSON, then a form': ['application/json', 'application/x-www-form-urlencoded'],
      'one word': 'application',
      'only punctuation': ';;/,',
      '4,000 characters': `application/${'j'.repeat(4000)}`,
      '1,000 parameters': `application/json${'; a=b'.repeat(1000)}`,
    },
  }),
  ...rows('other headers', (value: Headers) => callback({ headers: value }), {
    [REFUSED]: {
      'the signature under a name with an underscore': { ...unsigned, hmac_signature: genuine },
      'the signature as Authorization': { ...unsigned, authorization: genuine },
      'the signature as a cookie': { ...unsigned, cookie: `hmac-signature=${genuine}` },
    },
    [ACCEPTED]: {
      'a method override': { 'x-http-method-override': 'GET', 'x-method-override': 'PUT' },
      'another address': {
        'x-original-url': '/admin',
        'x-rewrite-url': '/admin',
        forwarded: 'for=127.0.0.1',
      },
      'another host and protocol': { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'gopher' },
      'names of prototypes': { constructor: 'x', prototype: 'x', tostring: 'x', valueof: 'x' },
      '100 signatures of other services': { 'x-signature': many(100, 'sha256=0') },
      'a range and conditions': { range: 'bytes=0-1', 'if-match': '*', 'if-none-match': '*' },
      'a header of 8,000 characters': { 'x-long': 'x'.repeat(8000) },
      'a cookie of 12,000 characters': { cookie: 'a=b; '.repeat(2400) },
      'a traceparent that is not one': { traceparent: '00-x', tracestate: '=,=' },
      'an early-data and priority mark': { 'early-data': '1', priority: 'u=9' },
    },
  }),
  ...rows('header lines', (lines: readonly string[]) => wire([head(LENGTH, lines), TEXT]), {
    [REFUSED]: { 'a second signature under a name in upper case': [`HMAC-SIGNATURE: ${genuine}`] },
    [ACCEPTED]: {
      'the name __proto__': ['__proto__: x'],
      '500 headers': many(500, 'a:b'),
      '15,000 bytes of headers': [`x: ${'x'.repeat(15_000)}`],
      'two hosts': ['host: evil.example'],
    },
    431: {
      'more than 16 KiB of headers': [`x: ${'x'.repeat(16_384)}`],
      'more than 16 KiB of headers in 3,300 lines': many(3300, 'a:b'),
    },
    400: {
      'a space before the colon': ['x-a : b'],
      'no colon': ['x-a'],
      'no name': [': b'],
      'a folded line': ['x-a: b', ' c'],
      'a NUL in a value': ['x-a: \0'],
      'a carriage return in a value': ['x-a: b\rc'],
      'a line feed alone': ['x-a: b\nx-c: d'],
      'a Latin-1 letter in a name': ['x-\u00e9: b'],
      'a control character in a value': ['x-a: \x01'],
    },
  }),
  ...rows('header lines', (request: string | Uint8Array) => wire([request]), {
    [ACCEPTED]: {
      'names in odd case': written('hmac-signature', 'HMAC-SIGNATURE'),
      'a tab before the value': written('hmac-signature: ', 'hmac-signature:\t'),
      'white space around the value': written(genuine, `  ${genuine}\t `),
      'an empty host': headed({ host: '' }),
    },
    400: { 'no host': headed({ host: undefined }) },
  }),
];
