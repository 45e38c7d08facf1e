import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { sampleCallback } from '@payment-service/core/testing';
import { type CallbackData, paddedBody, payload, TEXT } from '../http-request.ts';
import {
  ACCEPTED,
  callback,
  each,
  type HostileRequest,
  REFUSED,
  rows,
  type Verdicts,
} from './hostile-request.ts';

const bytes = Buffer.from(TEXT);
const SIGNED = ['merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status'];
const LEVELS = 10_000;
const LISTS = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
const OBJECTS = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;
const utf16 = Buffer.from(`\ufeff${TEXT}`, 'utf16le');
const replaced = (from: string, to: string): string => TEXT.replace(from, to);
/** In front of a name. */
const before = (name: string, members: string): string => replaced(`"${name}"`, `${members}"${name}"`);
/** At the end of the payload. */
const withMember = (member: string): string => `${TEXT.slice(0, -2)},${member}}}`;
const withBytes = (...inserted: readonly number[]): Buffer => {
  const at = bytes.indexOf('Example Customer');
  return Buffer.concat([bytes.subarray(0, at), Uint8Array.from(inserted), bytes.subarray(at)]);
};
const escaped = (letter: string): string => `\\u00${letter.charCodeAt(0).toString(16)}`;

/** Bodies in JSON or nearly, under the signature of the sample. */
const BODIES: Verdicts<string | Uint8Array> = {
  [REFUSED]: {
    empty: '',
    'one NUL': '\0',
    'white space only': ' \n\t',
    'a form': 'event=transaction.completed&payload=x',
    'XML with an external entity': '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    'a list around it': `[${TEXT}]`,
    'a string of it': JSON.stringify(TEXT),
    ...each(['null', 'true', '1', '"x"', '{}', '[]'], (value) => ({ [`the value ${value}`]: value })),
    ...each(['null', '"x"', '1', '[]', '{}'], (value) => ({
      [`payload with the value ${value}`]: `{"event":"transaction.completed","payload":${value}}`,
    })),
    'a comma at the end': `${TEXT.slice(0, -1)},}`,
    'a comment': `/* */${TEXT}`,
    'single quotation marks': TEXT.replaceAll('"', "'"),
    'a value NaN': withMember('"x":NaN'),
    'a literal line break in a string': replaced('Example Customer', 'Example\nCustomer'),
    'a NUL in a string': replaced('Example Customer', 'Example\0Customer'),
    'an escape \\x41': replaced('Example', '\\x41'),
    'half of it': TEXT.slice(0, TEXT.length / 2),
    'text after it': `${TEXT}x`,
    'a second document after it': TEXT + TEXT,
    'a closing bracket more': `${TEXT}}`,
    'two byte order marks': `\ufeff\ufeff${TEXT}`,
    'a byte order mark after white space': ` \ufeff${TEXT}`,
    'UTF-16, little-endian': utf16,
    'UTF-16, big-endian': Buffer.from(utf16).swap16(),
    'a Latin-1 byte': withBytes(0xe9),
    'a lone continuation byte': withBytes(0x80),
    'an overlong slash': withBytes(0xc0, 0xaf),
    'an overlong NUL': withBytes(0xc0, 0x80),
    'a surrogate in UTF-8': withBytes(0xed, 0xa0, 0x80),
    'a code point above U+10FFFF': withBytes(0xf4, 0x90, 0x80, 0x80),
    'a byte FF': withBytes(0xff),
    'the start of a character at the end': Buffer.concat([bytes, Uint8Array.of(0xe2, 0x82)]),
    'event twice': before('event', '"event":"x",'),
    'payload twice': before('payload', '"payload":{},'),
    'payload twice, once escaped': before('payload', '"p\\u0061yload":{},'),
    ...each(SIGNED, (name) => ({
      [`${name} twice`]: before(name, `"${name}":"x",`),
      [`${name} twice, once escaped`]: before(name, `"${escaped(name.charAt(0))}${name.slice(1)}":"x",`),
      [`${name} in another case`]: replaced(`"${name}"`, `"${name.toUpperCase()}"`),
      [`${name} in __proto__`]: replaced(`"${name}"`, `"__proto__":{"${name}":"x"},"x"`),
      ...each(['null', '1', 'true', '["x"]', '{"x":1}', '""', '"\\ud800"'], (value) => ({
        [`${name} with the value ${value}`]: TEXT.replace(
          new RegExp(`"${name}":"[^"]*"`),
          `"${name}":${value}`,
        ),
      })),
    })),
    'a signed field with a space after it': replaced('ORD-1001', 'ORD-1001 '),
    'a signed field with a Cyrillic letter': replaced('ORD-1001', '\u041eRD-1001'),
    [`${LEVELS} levels of lists`]: LISTS,
    [`${LEVELS} levels of objects`]: OBJECTS,
    [`${LEVELS} levels that are not closed`]: '['.repeat(LEVELS),
    [`${LEVELS} levels in event`]: `{"event":${LISTS},"payload":{}}`,
    [`${LEVELS} levels in payload`]: `{"event":"x","payload":${LISTS}}`,
    '60,000 opening braces': '{'.repeat(60_000),
    '60,000 quotation marks': '"'.repeat(60_000),
    '60,000 backslashes in a string': `"${'\\'.repeat(60_000)}"`,
    '60,000 digits': '9'.repeat(60_000),
  },
  413: {
    '65,537 bytes': paddedBody(65_537),
    '65,536 spaces and a genuine callback': ' '.repeat(65_536) + TEXT,
  },
  [ACCEPTED]: {
    '65,536 bytes': paddedBody(65_536),
    'one byte order mark': `\ufeff${TEXT}`,
    'white space around it': ` \r\n\t${TEXT}\n`,
    [`${LEVELS} levels in an unknown field`]: withMember(`"x":${LISTS}`),
    [`${LEVELS} levels of objects in an unknown field`]: withMember(`"x":${OBJECTS}`),
    'an unsigned name twice': before('id', '"id":1,'),
    'a signed name in another object': before('payload', '"x":{"merchant_reference":"y"},'),
    'names of prototypes': before('id', '"__proto__":{"id":7},"constructor":1,"toString":1,'),
    '4,000 unknown names': withMember(Array.from({ length: 4000 }, (_, index) => `"n${index}":1`).join()),
    'one name 8,000 times': withMember(`${'"n":1,'.repeat(8000)}"n":1`),
    'a name of 60,000 characters': withMember(`"${'n'.repeat(60_000)}":1`),
    'a number of 60,000 digits': withMember(`"n":${'9'.repeat(60_000)}`),
    'a number above every double': withMember('"n":1e999999'),
    '10,000 escapes': withMember(`"n":"${'\\u0041'.repeat(10_000)}"`),
    'a NUL escape in an unsigned field': replaced('Example', '\\u0000'),
    'a lone surrogate in an unsigned field': replaced('Example', '\\udfff'),
    'every signed letter as an escape': replaced('ORD-1001', [...'ORD-1001'].map(escaped).join('')),
  },
};

/** Data that is signed as it is: only a rule can refuse it. */
const DATA: Verdicts<CallbackData> = {
  [REFUSED]: {
    "':' in merchant_reference": payload({ merchant_reference: 'ORD-1:x' }),
    "':' in internal_reference": payload({ internal_reference: 'x:INT-77' }),
    "':' in event": sampleCallback({ event: 'transaction:completed' }),
  },
  [ACCEPTED]: {
    'an unknown event and status': sampleCallback({ event: 'x', payload: { transaction_status: 'X' } }),
    'an empty reference': payload({ merchant_reference: '' }),
    'a reference of 50,000 characters': payload({ merchant_reference: 'R'.repeat(50_000) }),
    'markup and bidirectional marks': payload({ merchant_reference: '<script>\u202e\u2066' }),
    'a NUL in a signed field': payload({ merchant_reference: 'a\0b' }),
  },
};

type Encoded = readonly [encoding: string | readonly string[], body: Uint8Array];
const gzip = gzipSync(bytes);
const gzipped = (...parts: readonly Uint8Array[]): Encoded => ['gzip', Buffer.concat(parts)];
const large = Buffer.alloc(40_000_000, ' ');

const ENCODINGS: Verdicts<Encoded> = {
  [ACCEPTED]: {
    ...each<Encoded>(['gzip', 'GZIP', 'x-gzip'], (name) => ({ [`"${name}"`]: [name, gzip] })),
    '"deflate"': ['deflate', deflateSync(bytes)],
    '"identity"': ['identity', bytes],
  },
  415: {
    ...each<Encoded>(
      [
        '',
        'br',
        'zstd',
        'compress',
        'gzip, gzip',
        'gzip,identity',
        'gzip;q=1',
        'x'.repeat(4000),
        `gzip${', gzip'.repeat(500)}`,
      ],
      (name) => ({ [`"${name.slice(0, 20)}" of ${name.length} characters`]: [name, gzip] }),
    ),
    'gzip twice': [['gzip', 'gzip'], gzip],
    'identity and gzip': [['identity', 'gzip'], gzip],
  },
  [REFUSED]: {
    'plain bytes as gzip': ['gzip', bytes],
    'gzip as deflate': ['deflate', gzip],
    'deflate without its header': ['deflate', deflateRawSync(bytes)],
    'gzip inside gzip': ['gzip', gzipSync(gzip)],
    'gzip without its end': ['gzip', gzip.subarray(0, -4)],
    'gzip with a wrong checksum': gzipped(gzip.subarray(0, -8), Buffer.alloc(4), gzip.subarray(-4)),
    'gzip and a byte': gzipped(gzip, Uint8Array.of(0)),
    'two members of gzip': gzipped(gzipSync(bytes.subarray(0, 9)), gzipSync(bytes.subarray(9))),
    'no bytes as gzip': gzipped(),
  },
  413: {
    '40 MB in 40 KB of gzip': ['gzip', gzipSync(large)],
    '40 MB in 40 KB of deflate': ['deflate', deflateSync(large)],
  },
};

/** Bodies, and how they are encoded. */
export const contents: readonly HostileRequest[] = [
  ...rows('a body', (body: string | Uint8Array) => callback({ body }), BODIES),
  ...rows('signed data', (data: CallbackData) => callback({ data }), DATA),
  ...rows(
    'an encoding',
    ([encoding, body]: Encoded) => callback({ body, headers: { 'content-encoding': encoding } }),
    ENCODINGS,
  ),
];
