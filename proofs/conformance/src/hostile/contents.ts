import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { paddedBody, TEXT } from '../http-request.ts';
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
const LEVELS = 10_000;
const LISTS = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
const OBJECTS = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;
/** Adds a member at the end of the payload. */
const withMember = (member: string): string => `${TEXT.slice(0, -2)},${member}}}`;

/** Bodies that are large or deep, with the signature of the sample. The vectors cover every other kind. */
const BODIES: Verdicts<string | Uint8Array> = {
  [REFUSED]: {
    'a byte order mark after white space': ` \ufeff${TEXT}`,
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
    [`${LEVELS} levels in an unknown field`]: withMember(`"x":${LISTS}`),
    [`${LEVELS} levels of objects in an unknown field`]: withMember(`"x":${OBJECTS}`),
    '4,000 unknown names': withMember(Array.from({ length: 4000 }, (_, index) => `"n${index}":1`).join()),
    'one name 8,000 times': withMember(`${'"n":1,'.repeat(8000)}"n":1`),
    'a name of 60,000 characters': withMember(`"${'n'.repeat(60_000)}":1`),
    'a number of 60,000 digits': withMember(`"n":${'9'.repeat(60_000)}`),
    '10,000 escapes': withMember(`"n":"${'\\u0041'.repeat(10_000)}"`),
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
    'what a bridge has decompressed': ['gzip', bytes],
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
  ...rows(
    'an encoding',
    ([encoding, body]: Encoded) => callback({ body, headers: { 'content-encoding': encoding } }),
    ENCODINGS,
  ),
];
