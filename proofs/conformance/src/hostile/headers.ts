import { callbackMessage, HASH, type Headers, headed, signature, TEXT } from '../http-request.ts';
import { ACCEPTED, each, head, REFUSED, type Sent, type Verdicts } from './hostile-request.ts';

const genuine = signature();
const forged = `t=1,s=${'0'.repeat(64)}`;
const LENGTH: Headers = { 'content-length': String(TEXT.length) };

const headers = (own: Headers): Sent => callbackMessage({ headers: own });
const signed = (...values: readonly string[]): Sent => headers({ 'hmac-signature': values });
const typed = (...values: readonly string[]): Sent => headers({ 'content-type': values });
const lines = (...own: readonly string[]): Sent => [head(LENGTH, own), TEXT];
const many = (count: number, line: string): string[] => Array<string>(count).fill(line);

/** Header lines that Node's parser refuses. */
const UNREADABLE: Readonly<Record<string, readonly string[]>> = {
  'a space before the colon': ['x-a : b'],
  'a folded line': ['x-a: b', ' c'],
  'a NUL in a value': ['x-a: \0'],
  'a line feed alone': ['x-a: b\nx-c: d'],
};

/** Content types beside those of the scenarios. */
const TYPES = ['', 'application/json; charset=utf-16', `application/json${'; a=b'.repeat(1000)}`];

/** Signatures that HTTP changes or that are long (the vectors cover the others), content types, and the rest. */
export const headerRows: Verdicts = {
  [REFUSED]: {
    'a signature: twice': signed(genuine, genuine),
    'a signature: genuine, then forged': signed(genuine, forged),
    'a signature: genuine, then empty': signed(genuine, ''),
    "a signature: joined with ', '": signed(`${genuine}, ${genuine}`),
    'a signature: of 8,000 characters': signed(`x=${'x'.repeat(8000)},${genuine}`),
    'a signature: a second one under a name in upper case': lines(`HMAC-SIGNATURE: ${genuine}`),
  },
  [ACCEPTED]: {
    'a signature: with a t of Latin-1 letters': signed(`t=\u00e9\u00df,s=${HASH}`),
    ...each('a content type:', TYPES, typed),
    'other headers: method overrides': headers({
      'x-http-method-override': 'GET',
      'x-method-override': 'PUT',
    }),
    'other headers: 8,000 characters': headers({ 'x-long': 'x'.repeat(8000) }),
    'header lines: 500 of them': lines(...many(500, 'a:b')),
    'header lines: 15,000 bytes': lines(`x: ${'x'.repeat(15_000)}`),
    'header lines: an empty host': [headed({ host: '' })],
  },
  431: {
    'header lines: more than 16 KiB': lines(`x: ${'x'.repeat(16_384)}`),
  },
  400: {
    ...each('header lines:', Object.keys(UNREADABLE), (name) => lines(...(UNREADABLE[name] ?? []))),
    'header lines: no host': [headed({ host: undefined })],
  },
};
