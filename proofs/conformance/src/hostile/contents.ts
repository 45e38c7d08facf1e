import { deflateSync, gzipSync } from 'node:zlib';
import { callbackMessage, type Message, paddedBody, TEXT } from '../http-request.ts';
import { ACCEPTED, each, REFUSED, type Verdicts } from './hostile-request.ts';

const bytes = Buffer.from(TEXT);
const gzip = gzipSync(bytes);
const large = Buffer.alloc(40_000_000, ' ');
const LEVELS = 10_000;
const LISTS = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
const ENCODINGS = ['', 'br', 'zstd', 'compress', 'gzip, gzip', 'gzip,identity', 'gzip;q=1', 'x'.repeat(4000)];

const body = (text: string): Message => callbackMessage({ body: text });
/** A member at the end of the payload. */
const member = (text: string): Message => body(`${TEXT.slice(0, -2)},${text}}}`);
const encoded = (encoding: string | readonly string[], ...parts: readonly Uint8Array[]): Message =>
  callbackMessage({ body: Buffer.concat(parts), headers: { 'content-encoding': encoding } });

/** Bodies that are large or deep, with the signature of the sample, and how they are encoded. The vectors cover the others. */
export const contents: Verdicts = {
  [REFUSED]: {
    'a body: a byte order mark after white space': body(` \ufeff${TEXT}`),
    [`a body: ${LEVELS} levels of lists`]: body(LISTS),
    'a body: 60,000 backslashes in a string': body(`"${'\\'.repeat(60_000)}"`),
    ...each('a body: 60,000 of', ['{', '"', '9'], (character) => body(character.repeat(60_000))),
    'an encoding: gzip inside gzip': encoded('gzip', gzipSync(gzip)),
    'an encoding: gzip without its end': encoded('gzip', gzip.subarray(0, -4)),
  },
  413: {
    'a body: 65,537 bytes': body(paddedBody(65_537)),
    'an encoding: 40 MB in 40 KB of gzip': encoded('gzip', gzipSync(large)),
  },
  415: {
    ...each('an encoding:', ENCODINGS, (name) => encoded(name, gzip)),
    'an encoding: gzip twice': encoded(['gzip', 'gzip'], gzip),
    'an encoding: identity and gzip': encoded(['identity', 'gzip'], gzip),
  },
  [ACCEPTED]: {
    'a body: 65,536 bytes': body(paddedBody(65_536)),
    [`a body: ${LEVELS} levels in an unknown field`]: member(`"x":${LISTS}`),
    'a body: one name 8,000 times': member(`${'"n":1,'.repeat(8000)}"n":1`),
    ...each('an encoding:', ['gzip', 'GZIP', 'x-gzip'], (name) => encoded(name, gzip)),
    'an encoding: deflate': encoded('deflate', deflateSync(bytes)),
    'an encoding: identity': encoded('identity', bytes),
  },
};
