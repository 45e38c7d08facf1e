import { sampleCallback } from '@payment-service/core/testing';
import {
  CALLBACK_PATH,
  callbackRequest,
  type Headers,
  headed,
  redirectQuery,
  redirectRequest,
  signature,
  TEXT,
  UNSIGNED_REQUEST,
} from '../http-request.ts';
import {
  ACCEPTED,
  callback,
  each,
  type HostileRequest,
  head,
  REDIRECTED,
  REFUSED,
  redirect,
  rows,
  type Verdicts,
  wire,
} from './hostile-request.ts';

const size = TEXT.length.toString(16);
const LENGTH: Headers = { 'content-length': String(TEXT.length) };
const CHUNKED: Headers = { 'transfer-encoding': 'chunked' };
const UNSIGNED: Headers = { 'hmac-signature': undefined };
const CHUNK = `${size}\r\n${TEXT}\r\n`;
const END = '0\r\n\r\n';
const genuine = callbackRequest().toString('latin1');
const unsigned = UNSIGNED_REQUEST.toString('latin1');
const ofLength = (length: string): string => head({ 'content-length': length });

type Sent = ReturnType<typeof wire>;
/** Writes, or a message with other conditions. */
type Parts = string | readonly (string | Uint8Array)[] | Sent;

const sent = (parts: Parts): Sent => (typeof parts === 'object' && 'wire' in parts ? parts : wire(parts));
/** The sender ends its side afterwards. */
const finished = (parts: Parameters<typeof wire>[0]): Sent => wire(parts, { isFinished: true });

const LENGTHS: Verdicts<Parts> = {
  400: {
    'shorter than the body': ofLength('10') + TEXT,
    '0 with a body': ofLength('0') + TEXT,
    'above 64 bits': ofLength('99999999999999999999999'),
    ...each(['-1', '+10', '0x10', '1e3', '1.5', '1 0', '1,1', ''], (length) => ({
      [`"${length}"`]: [ofLength(length), TEXT],
    })),
    'twice, equal': [head(LENGTH, [`content-length: ${TEXT.length}`]), TEXT],
    'twice, different': [head(LENGTH, ['content-length: 5']), TEXT],
    'beside chunks': [head({ ...LENGTH, ...CHUNKED }), CHUNK + END],
    'longer than the body, which ends': finished([ofLength('10000'), TEXT]),
  },
  [REFUSED]: { none: head({}) },
  413: { '65,537': ofLength('65537'), '9,007,199,254,740,993': ofLength('9007199254740993') },
};

const coding = (name: string): Readonly<Record<string, Parts>> => ({
  [`the coding "${name}"`]: [head({ 'transfer-encoding': name }), CHUNK + END],
});

/** Sent below the head of a chunked callback, unless a list includes its own. */
const CHUNKS: Verdicts<Parts> = {
  [ACCEPTED]: {
    'an extension': `${size};a=b\r\n${TEXT}\r\n${END}`,
    'sizes in upper case': `${size.toUpperCase()}\r\n${TEXT}\r\n${END}`,
    'sizes with zeros in front': `0000${CHUNK}${END}`,
    'one byte each': [...TEXT].map((byte) => `1\r\n${byte}\r\n`).join('') + END,
    trailers: `${CHUNK}0\r\nx-a: b\r\n\r\n`,
    'a trailer that is a second signature': `${CHUNK}0\r\nhmac-signature: t=1,s=x\r\n\r\n`,
    'a trailer that is an encoding': `${CHUNK}0\r\ncontent-encoding: gzip\r\n\r\n`,
    ...each(['gzip, chunked', 'Chunked'], coding),
  },
  [REFUSED]: {
    'the signature as a trailer only': [
      head({ ...CHUNKED, ...UNSIGNED, trailer: 'hmac-signature' }),
      `${CHUNK}0\r\nhmac-signature: ${signature()}\r\n\r\n`,
    ],
    'no chunk but the last': END,
  },
  413: {
    '65,537 bytes in chunks': `10001\r\n${'x'.repeat(65_537)}\r\n${END}`,
    'an extension of 20,000 characters': `${size};${'a'.repeat(20_000)}\r\n${TEXT}\r\n${END}`,
  },
  431: { 'trailers of 20,000 characters': `${CHUNK}0\r\nx: ${'a'.repeat(20_000)}\r\n\r\n` },
  400: {
    'a size that is not hexadecimal': `zz\r\n${TEXT}\r\n${END}`,
    'a negative size': `-1\r\n${TEXT}\r\n${END}`,
    'a size with 0x': `0x${CHUNK}${END}`,
    'a size above 64 bits': `${'f'.repeat(17)}\r\n${TEXT}\r\n${END}`,
    'a space before the size': ` ${CHUNK}${END}`,
    'a chunk that is longer than its size': `5\r\n${TEXT}\r\n${END}`,
    'line feeds without carriage returns': `${size}\n${TEXT}\n0\n\n`,
    ...each(['chunked, chunked', 'chunked, identity', 'identity', 'xchunked', 'chunkedx'], coding),
    ...each(['chunked;q=1', ''], coding),
    'the coding twice': [head(CHUNKED, ['transfer-encoding: chunked']), CHUNK + END],
    'chunks that end too soon': finished([head(CHUNKED), CHUNK.slice(0, size.length + 11)]),
  },
};

const CONNECTIONS: Verdicts<Parts> = {
  [ACCEPTED]: {
    'Expect: 100-continue': [head({ ...LENGTH, expect: '100-continue' }), TEXT],
    'an upgrade to a web socket': [head({ ...LENGTH, connection: 'upgrade', upgrade: 'websocket' }), TEXT],
    'an upgrade to HTTP/2': [
      head({
        ...LENGTH,
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAAP__',
      }),
      TEXT,
    ],
    'connection: close': [head({ ...LENGTH, connection: 'close' }), TEXT],
    'headers named in connection': [head({ ...LENGTH, connection: 'hmac-signature, content-length' }), TEXT],
    'HTTP/1.0': genuine.replace('HTTP/1.1', 'HTTP/1.0'),
    'HTTP/1.0 without a host': headed({ host: undefined }).toString('latin1').replace('HTTP/1.1', 'HTTP/1.0'),
    'empty lines before it': ['\r\n\r\n', genuine],
    'byte by byte': [...genuine],
    'the sender ends its side after it': finished(genuine),
  },
  [REFUSED]: {
    'Expect: 100-continue without a signature': head({ ...LENGTH, expect: '100-continue', ...UNSIGNED }),
    'no version': 'POST /payments/callbacks\r\n\r\n',
    'a genuine one inside the body of an unsigned one': callbackRequest({
      body: genuine,
      headers: UNSIGNED,
    }).toString('latin1'),
  },
  413: {
    'Expect: 100-continue before 100 MB': head({ 'content-length': '100000000', expect: '100-continue' }),
    'a genuine one behind a body that is too large': ofLength('65537') + genuine,
  },
  417: { 'another expectation': [head({ ...LENGTH, expect: 'x' }), TEXT] },
  400: {
    'HTTP/1.2': genuine.replace('HTTP/1.1', 'HTTP/1.2'),
    'HTTP/9.9': genuine.replace('HTTP/1.1', 'HTTP/9.9'),
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'the start of TLS': '\x16\x03\x01\0\xc8\x01\0\0\xc4\x03\x03\r\n\r\n',
    noise: '\x01\x02\x03\x04\r\n\r\n',
    'a genuine one behind noise': `x\r\n\r\n${genuine}`,
  },
  '200 200 200 handled 3 times': {
    'three genuine ones in one write': wire(genuine.repeat(3), { answers: 3 }),
  },
  '200 401 200 handled twice': {
    'an unsigned one between two': wire(genuine + unsigned + genuine, { answers: 3 }),
  },
  [Array(50).fill('401').join(' ')]: {
    '50 unsigned ones in one write': wire(unsigned.repeat(50), { answers: 50 }),
  },
};

const whole = redirectQuery();

/** Queries that are long, or odd for a server. The vectors cover the others. */
const QUERIES: Verdicts<string> = {
  [REFUSED]: {
    'in JSON': `?${encodeURIComponent(JSON.stringify(sampleCallback()))}`,
    '8,193 characters': `${whole}&x=`.padEnd(8193, 'y'),
    '4,000 parameters': `${whole}${'&x'.repeat(3500)}`,
    '8,000 ampersands': `?${'&'.repeat(8000)}`,
    '8,000 plus signs': `?${'+'.repeat(8000)}`,
    '8,000 equals signs': `?${'='.repeat(8000)}`,
    '4,000 brackets': `?a${'[]'.repeat(2000)}`,
  },
  [REDIRECTED]: {
    'an address as a parameter': `${whole}&x=http://evil.example/?y`,
    'a fragment': `${whole}#event=x`,
    '8,192 characters': `${whole}&x=`.padEnd(8192, 'y'),
  },
};

const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** The framing of requests, connections, methods, targets, and the queries of redirects. */
export const framing: readonly HostileRequest[] = [
  ...rows(
    'a method',
    (method: string) => callback({ method, headers: { 'content-length': undefined }, body: '' }),
    { 405: each(METHODS, (method) => ({ [method]: method })) },
  ),
  ...rows('a method', (headers: Headers) => callback({ method: 'PUT', headers }), {
    405: { 'PUT, overridden by POST': { 'x-http-method-override': 'POST' } },
  }),
  ...rows('a method', (method: string) => wire([callbackRequest({ method })]), {
    405: each(METHODS, (method) => ({ [`${method} with a body`]: method })),
    400: { post: 'post', FOO: 'FOO', 'POST\t': 'POST\t', PPPPPPPP: 'P'.repeat(5000) },
    closed: { CONNECT: 'CONNECT' },
  }),
  ...rows('a length', sent, LENGTHS),
  ...rows(
    'chunks',
    (parts: Parts) => sent(typeof parts === 'string' ? [head(CHUNKED), parts] : parts),
    CHUNKS,
  ),
  ...rows('a connection', sent, CONNECTIONS),
  ...rows('a target', (path: string) => wire([callbackRequest({ path })]), {
    [ACCEPTED]: {
      'the absolute form': `http://shop.example${CALLBACK_PATH}`,
      'the absolute form with another host': `http://evil.example${CALLBACK_PATH}`,
      'a query on a callback': `${CALLBACK_PATH}?hmac_signature=x&a=b`,
      'a query of 7,000 characters on a callback': `${CALLBACK_PATH}?${'a&'.repeat(3500)}`,
    },
  }),
  ...rows('a query', redirect, QUERIES),
  ...rows('the method of a redirect', (method: string) => redirect(whole, method), {
    405: each(['HEAD', 'POST', 'PUT', 'OPTIONS'], (method) => ({ [method]: method })),
  }),
  ...rows('the target of a redirect', wire, {
    [REDIRECTED]: {
      'the absolute form': redirectRequest(whole)
        .toString('latin1')
        .replace('GET /', 'GET http://evil.example/'),
    },
  }),
];
