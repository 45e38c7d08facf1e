import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { sampleCallback } from '@payment-service/core/testing';
import { type CallbackData, type Headers, paddedBody } from '../http-request.ts';
import { ACCEPTED, callback, type HostileRequest, REFUSED, type Row, rows } from './hostile-request.ts';

const text = JSON.stringify(sampleCallback());
const bytes = Buffer.from(text);
const SIGNED = [
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
] as const;
const inside = text.slice(0, -2);
const nested = (levels: number, open = '[', close = ']'): string =>
  open.repeat(levels) + close.repeat(levels);
const LEVELS = 10_000;
const withBytes = (...inserted: readonly number[]): Buffer => {
  const at = bytes.indexOf('Example Customer');
  return Buffer.concat([bytes.subarray(0, at), Uint8Array.from(inserted), bytes.subarray(at)]);
};
const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');

/** Bodies in JSON or nearly, under the signature of the sample. */
const BODIES: readonly Row<string | Uint8Array>[] = [
  ['empty', ''],
  ['one NUL', '\0'],
  ['white space only', ' \n\t'],
  ['a form', 'event=transaction.completed&payload=x'],
  ['XML with an external entity', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
  ['a list around it', `[${text}]`],
  ['a string of it', JSON.stringify(text)],
  ...['null', 'true', '1', '"x"', '{}', '[]'].map((value): Row<string> => [`the value ${value}`, value]),
  ...['null', '"x"', '1', '[]', '{}'].map(
    (value): Row<string> => [
      `payload with the value ${value}`,
      `{"event":"transaction.completed","payload":${value}}`,
    ],
  ),
  ['a comma at the end', `${text.slice(0, -1)},}`],
  ['a comment', `/* */${text}`],
  ['single quotation marks', text.replaceAll('"', "'")],
  ['a value NaN', `${inside},"x":NaN}}`],
  ['a literal line break in a string', text.replace('Example Customer', 'Example\nCustomer')],
  ['a NUL in a string', text.replace('Example Customer', 'Example\0Customer')],
  ['an escape \\x41', text.replace('Example', '\\x41')],
  ['half of it', text.slice(0, text.length / 2)],
  ['text after it', `${text}x`],
  ['a second document after it', text + text],
  ['a closing bracket more', `${text}}`],
  ['two byte order marks', `\ufeff\ufeff${text}`],
  ['a byte order mark after white space', ` \ufeff${text}`],
  ['UTF-16, little-endian', utf16],
  ['UTF-16, big-endian', Buffer.from(utf16).swap16()],
  ['a Latin-1 byte', withBytes(0xe9)],
  ['a lone continuation byte', withBytes(0x80)],
  ['an overlong slash', withBytes(0xc0, 0xaf)],
  ['an overlong NUL', withBytes(0xc0, 0x80)],
  ['a surrogate in UTF-8', withBytes(0xed, 0xa0, 0x80)],
  ['a code point above U+10FFFF', withBytes(0xf4, 0x90, 0x80, 0x80)],
  ['a byte FF', withBytes(0xff)],
  ['the start of a character at the end', Buffer.concat([bytes, Uint8Array.of(0xe2, 0x82)])],
  ['event twice', text.replace('"event"', '"event":"x","event"')],
  ['payload twice', text.replace('"payload"', '"payload":{},"payload"')],
  ['payload twice, once escaped', text.replace('"payload"', '"p\\u0061yload":{},"payload"')],
  ...SIGNED.flatMap((name): Row<string>[] => [
    [`${name} twice`, text.replace(`"${name}"`, `"${name}":"x","${name}"`)],
    [
      `${name} twice, once escaped`,
      text.replace(`"${name}"`, `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":"x","${name}"`),
    ],
    [`${name} in another case`, text.replace(`"${name}"`, `"${name.toUpperCase()}"`)],
    [`${name} in __proto__`, text.replace(`"${name}"`, `"__proto__":{"${name}":"x"},"x"`)],
    ...['null', '1', 'true', '["x"]', '{"x":1}', '""', '"\\ud800"'].map(
      (value): Row<string> => [
        `${name} with the value ${value}`,
        text.replace(new RegExp(`"${name}":"[^"]*"`), `"${name}":${value}`),
      ],
    ),
  ]),
  ['a signed field with a space after it', text.replace('ORD-1001', 'ORD-1001 ')],
  ['a signed field with a Cyrillic letter', text.replace('ORD-1001', '\u041eRD-1001')],
  [`${LEVELS} levels of lists`, nested(LEVELS)],
  [`${LEVELS} levels of objects`, `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`],
  [`${LEVELS} levels that are not closed`, '['.repeat(LEVELS)],
  [`${LEVELS} levels in event`, `{"event":${nested(LEVELS)},"payload":{}}`],
  [`${LEVELS} levels in payload`, `{"event":"x","payload":${nested(LEVELS)}}`],
  ['60,000 opening braces', '{'.repeat(60_000)],
  ['60,000 quotation marks', '"'.repeat(60_000)],
  ['60,000 backslashes in a string', `"${'\\'.repeat(60_000)}"`],
  ['60,000 digits', '9'.repeat(60_000)],
  ['65,537 bytes', paddedBody(65_537), '413'],
  ['65,536 spaces and a genuine callback', ' '.repeat(65_536) + text, '413'],
  ['65,536 bytes', paddedBody(65_536), ACCEPTED],
  ['one byte order mark', `\ufeff${text}`, ACCEPTED],
  ['white space around it', ` \r\n\t${text}\n`, ACCEPTED],
  [`${LEVELS} levels in an unknown field`, `${inside},"x":${nested(LEVELS)}}}`, ACCEPTED],
  [
    `${LEVELS} levels of objects in an unknown field`,
    `${inside},"x":${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}}}`,
    ACCEPTED,
  ],
  ['an unsigned name twice', text.replace('"id"', '"id":1,"id"'), ACCEPTED],
  [
    'a signed name in another object',
    text.replace('"payload"', '"x":{"merchant_reference":"y"},"payload"'),
    ACCEPTED,
  ],
  [
    'names of prototypes',
    text.replace('"id"', '"__proto__":{"id":7},"constructor":1,"toString":1,"id"'),
    ACCEPTED,
  ],
  [
    '4,000 unknown names',
    `${inside},${Array.from({ length: 4000 }, (_, index) => `"n${index}":1`).join()}}}`,
    ACCEPTED,
  ],
  ['one name 8,000 times', `${inside},${'"n":1,'.repeat(8000)}"n":1}}`, ACCEPTED],
  ['a name of 60,000 characters', `${inside},"${'n'.repeat(60_000)}":1}}`, ACCEPTED],
  ['a number of 60,000 digits', `${inside},"n":${'9'.repeat(60_000)}}}`, ACCEPTED],
  ['a number above every double', `${inside},"n":1e999999}}`, ACCEPTED],
  ['10,000 escapes', `${inside},"n":"${'\\u0041'.repeat(10_000)}"}}`, ACCEPTED],
  ['a NUL escape in an unsigned field', text.replace('Example', '\\u0000'), ACCEPTED],
  ['a lone surrogate in an unsigned field', text.replace('Example', '\\udfff'), ACCEPTED],
  [
    'every signed letter as an escape',
    text.replace(
      'ORD-1001',
      [...'ORD-1001'].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join(''),
    ),
    ACCEPTED,
  ],
];

/** Data that is signed as it is: only a rule can refuse it. */
const DATA: readonly Row<CallbackData>[] = [
  ["':' in merchant_reference", sampleCallback({ payload: { merchant_reference: 'ORD-1:x' } })],
  ["':' in internal_reference", sampleCallback({ payload: { internal_reference: 'x:INT-77' } })],
  ["':' in event", sampleCallback({ event: 'transaction:completed' })],
  [
    'an unknown event and status',
    sampleCallback({ event: 'x', payload: { transaction_status: 'X' } }),
    ACCEPTED,
  ],
  ['an empty reference', sampleCallback({ payload: { merchant_reference: '' } }), ACCEPTED],
  [
    'a reference of 50,000 characters',
    sampleCallback({ payload: { merchant_reference: 'R'.repeat(50_000) } }),
    ACCEPTED,
  ],
  [
    'markup and bidirectional marks',
    sampleCallback({ payload: { merchant_reference: '<script>\u202e\u2066' } }),
    ACCEPTED,
  ],
  ['a NUL in a signed field', sampleCallback({ payload: { merchant_reference: 'a\0b' } }), ACCEPTED],
];

const gzip = gzipSync(bytes);
const bomb = gzipSync(Buffer.alloc(40_000_000, ' '));
type Encoded = readonly [encoding: string | readonly string[], body: Uint8Array];
const UNSUPPORTED = '415';

const ENCODINGS: readonly Row<Encoded>[] = [
  ...['gzip', 'GZIP', 'x-gzip'].map((name): Row<Encoded> => [`"${name}"`, [name, gzip], ACCEPTED]),
  ['"deflate"', ['deflate', deflateSync(bytes)], ACCEPTED],
  ['"identity"', ['identity', bytes], ACCEPTED],
  ...[
    '',
    'br',
    'zstd',
    'compress',
    'gzip, gzip',
    'gzip,identity',
    'gzip;q=1',
    'x'.repeat(4000),
    `gzip${', gzip'.repeat(500)}`,
  ].map(
    (name): Row<Encoded> => [
      `"${name.slice(0, 20)}" of ${name.length} characters`,
      [name, gzip],
      UNSUPPORTED,
    ],
  ),
  ['gzip twice', [['gzip', 'gzip'], gzip], UNSUPPORTED],
  ['identity and gzip', [['identity', 'gzip'], gzip], UNSUPPORTED],
  ['plain bytes as gzip', ['gzip', bytes]],
  ['gzip as deflate', ['deflate', gzip]],
  ['deflate without its header', ['deflate', deflateRawSync(bytes)]],
  ['gzip inside gzip', ['gzip', gzipSync(gzip)]],
  ['gzip without its end', ['gzip', gzip.subarray(0, -4)]],
  [
    'gzip with a wrong checksum',
    ['gzip', Buffer.concat([gzip.subarray(0, -8), Buffer.alloc(4), gzip.subarray(-4)])],
  ],
  ['gzip and a byte', ['gzip', Buffer.concat([gzip, Uint8Array.of(0)])]],
  [
    'two members of gzip',
    ['gzip', Buffer.concat([gzipSync(bytes.subarray(0, 9)), gzipSync(bytes.subarray(9))])],
  ],
  ['no bytes as gzip', ['gzip', new Uint8Array()]],
  ['40 MB in 40 KB of gzip', ['gzip', bomb], '413'],
  ['40 MB in 40 KB of deflate', ['deflate', deflateSync(Buffer.alloc(40_000_000, ' '))], '413'],
];

/** Bodies, and how they are encoded. */
export const contents: readonly HostileRequest[] = [
  ...rows('a body', REFUSED, BODIES, (body) => callback({ body })),
  ...rows('signed data', REFUSED, DATA, (data) => callback({ data })),
  ...rows('an encoding', REFUSED, ENCODINGS, ([encoding, body]) =>
    callback({ body, headers: { 'content-encoding': encoding } satisfies Headers }),
  ),
];
