import {
  callbackMessage,
  callbackRequest,
  HASH,
  type Headers,
  headed,
  signature,
  TEXT,
} from '../http-request.ts';
import { ACCEPTED, each, head, REFUSED, type Sent, type Verdicts } from './hostile-request.ts';

const genuine = signature();
const forged = `t=1,s=${'0'.repeat(64)}`;
const unsigned = { 'hmac-signature': undefined };
const LENGTH: Headers = { 'content-length': String(TEXT.length) };

const headers = (own: Headers): Sent => callbackMessage({ headers: own });
const signed = (...values: readonly string[]): Sent => headers({ 'hmac-signature': values });
const typed = (...values: readonly string[]): Sent => headers({ 'content-type': values });
const lines = (...own: readonly string[]): Sent => [head(LENGTH, own), TEXT];
const many = (count: number, line: string): string[] => Array<string>(count).fill(line);
const written = (from: string, to: string): Sent => [callbackRequest().toString('latin1').replace(from, to)];

/** Header lines that Node's parser refuses. */
const UNREADABLE: Readonly<Record<string, readonly string[]>> = {
  'a space before the colon': ['x-a : b'],
  'no colon': ['x-a'],
  'no name': [': b'],
  'a folded line': ['x-a: b', ' c'],
  'a NUL in a value': ['x-a: \0'],
  'a carriage return in a value': ['x-a: b\rc'],
  'a line feed alone': ['x-a: b\nx-c: d'],
  'a Latin-1 letter in a name': ['x-\u00e9: b'],
  'a control character in a value': ['x-a: \x01'],
};

/** Content types beside those of the scenarios. */
const TYPES = [
  '',
  'multipart/form-data',
  'application/octet-stream',
  'application/json; charset=utf-16',
  'application/json; charset=utf-7',
  'application/json; charset=',
  'application/json, application/json',
  'application',
  ';;/,',
  `application/${'j'.repeat(4000)}`,
  `application/json${'; a=b'.repeat(1000)}`,
];

/** Signatures that HTTP changes or that are long (the vectors cover the others), content types, and the rest. */
export const headerRows: Verdicts = {
  [REFUSED]: {
    'a signature: of one space': signed(' '),
    'a signature: twice': signed(genuine, genuine),
    'a signature: genuine, then forged': signed(genuine, forged),
    'a signature: forged, then genuine': signed(forged, genuine),
    'a signature: genuine, then empty': signed(genuine, ''),
    "a signature: joined with ','": signed(`${genuine},${genuine}`),
    "a signature: joined with ', '": signed(`${genuine}, ${genuine}`),
    'a signature: of 8,000 characters': signed(`x=${'x'.repeat(8000)},${genuine}`),
    'a signature: under a name with an underscore': headers({ ...unsigned, hmac_signature: genuine }),
    'a signature: as Authorization': headers({ ...unsigned, authorization: genuine }),
    'a signature: as a cookie': headers({ ...unsigned, cookie: `hmac-signature=${genuine}` }),
    'a signature: a second one under a name in upper case': lines(`HMAC-SIGNATURE: ${genuine}`),
  },
  [ACCEPTED]: {
    'a signature: with t of 180 digits': signed(`t=${'9'.repeat(180)},s=${HASH}`),
    'a signature: with a t that is not a number': signed(`t=NaN,s=${HASH}`),
    'a signature: with a t of Latin-1 letters': signed(`t=\u00e9\u00df,s=${HASH}`),
    ...each('a content type:', TYPES, typed),
    'a content type: JSON, then a form': typed('application/json', 'application/x-www-form-urlencoded'),
    'other headers: method overrides': headers({
      'x-http-method-override': 'GET',
      'x-method-override': 'PUT',
    }),
    'other headers: addresses': headers({ 'x-original-url': '/admin', 'x-rewrite-url': '/admin' }),
    'other headers: another client': headers({ forwarded: 'for=127.0.0.1' }),
    'other headers: another host': headers({
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'gopher',
    }),
    'other headers: prototypes': headers({ constructor: 'x', prototype: 'x', tostring: 'x', valueof: 'x' }),
    'other headers: 100 signatures of other services': headers({ 'x-signature': many(100, 'sha256=0') }),
    'other headers: a range': headers({ range: 'bytes=0-1', 'if-match': '*', 'if-none-match': '*' }),
    'other headers: 8,000 characters': headers({ 'x-long': 'x'.repeat(8000) }),
    'other headers: a cookie of 12,000 characters': headers({ cookie: 'a=b; '.repeat(2400) }),
    'other headers: a traceparent that is not one': headers({ traceparent: '00-x', tracestate: '=,=' }),
    'other headers: early data and a priority': headers({ 'early-data': '1', priority: 'u=9' }),
    'header lines: the name __proto__': lines('__proto__: x'),
    'header lines: 500 of them': lines(...many(500, 'a:b')),
    'header lines: 15,000 bytes': lines(`x: ${'x'.repeat(15_000)}`),
    'header lines: two hosts': lines('host: evil.example'),
    'header lines: names in odd case': written('hmac-signature', 'HMAC-SIGNATURE'),
    'header lines: a tab before the value': written('hmac-signature: ', 'hmac-signature:\t'),
    'header lines: white space around the value': written(genuine, `  ${genuine}\t `),
    'header lines: an empty host': [headed({ host: '' })],
  },
  431: {
    'header lines: more than 16 KiB': lines(`x: ${'x'.repeat(16_384)}`),
    'header lines: more than 16 KiB in 3,300 lines': lines(...many(3300, 'a:b')),
  },
  400: {
    ...each('header lines:', Object.keys(UNREADABLE), (name) => lines(...(UNREADABLE[name] ?? []))),
    'header lines: no host': [headed({ host: undefined })],
  },
};
