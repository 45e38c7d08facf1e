import { sampleCallback } from '@payment-service/core/testing';
import type { Parts } from '../connection.ts';
import {
  CALLBACK_PATH,
  callbackMessage,
  callbackRequest,
  type Headers,
  redirectMessage,
  redirectQuery,
  redirectRequest,
  signature,
  TEXT,
  UNSIGNED_REQUEST,
} from '../http-request.ts';
import { ACCEPTED, each, head, REDIRECTED, REFUSED, type Sent, type Verdicts } from './hostile-request.ts';

const size = TEXT.length.toString(16);
const LENGTH: Headers = { 'content-length': String(TEXT.length) };
const CHUNKED: Headers = { 'transfer-encoding': 'chunked' };
const UNSIGNED: Headers = { 'hmac-signature': undefined };
const CHUNK = `${size}\r\n${TEXT}\r\n`;
const END = '0\r\n\r\n';
const genuine = callbackRequest().toString('latin1');
const unsigned = UNSIGNED_REQUEST.toString('latin1');
const HTTP_2 = {
  connection: 'Upgrade, HTTP2-Settings',
  upgrade: 'h2c',
  'http2-settings': 'AAMAAABkAAQAAP__',
};
const whole = redirectQuery();
const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

const ofLength = (length: string, ...body: Parts): Parts => [head({ 'content-length': length }), ...body];
const declared = (headers: Headers, lines?: readonly string[]): Parts => [
  head({ ...LENGTH, ...headers }, lines),
  TEXT,
];
const chunks = (text: string): Parts => [head(CHUNKED), text];
const coded = (name: string): Parts => [head({ 'transfer-encoding': name }), CHUNK + END];
const version = (name: string): Parts => [genuine.replace('HTTP/1.1', name)];
const bare = (method: string): Sent =>
  callbackMessage({ method, headers: { 'content-length': undefined }, body: '' });
const method = (name: string): Parts => [callbackRequest({ method: name })];
const target = (path: string): Parts => [callbackRequest({ path })];
const query = (text: string): Sent => redirectMessage(text);

/** Methods, targets, lengths, chunks, connections, and the queries of redirects: long ones, or odd for a server. */
export const framing: Verdicts = {
  [ACCEPTED]: {
    'chunks: an extension': chunks(`${size};a=b\r\n${TEXT}\r\n${END}`),
    'chunks: sizes in upper case': chunks(`${size.toUpperCase()}\r\n${TEXT}\r\n${END}`),
    'chunks: sizes with zeros in front': chunks(`0000${CHUNK}${END}`),
    'chunks: one byte each': chunks([...TEXT].map((byte) => `1\r\n${byte}\r\n`).join('') + END),
    'chunks: trailers': chunks(`${CHUNK}0\r\nx-a: b\r\n\r\n`),
    'chunks: a trailer that is a second signature': chunks(`${CHUNK}0\r\nhmac-signature: t=1,s=x\r\n\r\n`),
    'chunks: a trailer that is an encoding': chunks(`${CHUNK}0\r\ncontent-encoding: gzip\r\n\r\n`),
    ...each('chunks: the coding', ['gzip, chunked', 'Chunked'], coded),
    'a connection: Expect: 100-continue': declared({ expect: '100-continue' }),
    'a connection: an upgrade to a web socket': declared({ connection: 'upgrade', upgrade: 'websocket' }),
    'a connection: an upgrade to HTTP/2': declared(HTTP_2),
    'a connection: close': declared({ connection: 'close' }),
    'a connection: headers named in it': declared({ connection: 'hmac-signature, content-length' }),
    'a connection: HTTP/1.0': version('HTTP/1.0'),
    'a connection: HTTP/1.0 without a host': [
      version('HTTP/1.0').join('').replace('host: shop.example\r\n', ''),
    ],
    'a connection: empty lines before it': ['\r\n\r\n', genuine],
    'a connection: byte by byte': [...genuine],
    'a connection: the sender ends its side after it': { finished: [genuine] },
    'a target: the absolute form': target(`http://shop.example${CALLBACK_PATH}`),
    'a target: the absolute form with another host': target(`http://evil.example${CALLBACK_PATH}`),
    'a target: a query on a callback': target(`${CALLBACK_PATH}?hmac_signature=x&a=b`),
    'a target: a query of 7,000 characters on a callback': target(`${CALLBACK_PATH}?${'a&'.repeat(3500)}`),
  },
  [REDIRECTED]: {
    'a query: an address as a parameter': query(`${whole}&x=http://evil.example/?y`),
    'a query: a fragment': query(`${whole}#event=x`),
    'a query: 8,192 characters': query(`${whole}&x=`.padEnd(8192, 'y')),
    'a redirect: the absolute form': [
      redirectRequest(whole).toString('latin1').replace('GET /', 'GET http://evil.example/'),
    ],
  },
  [REFUSED]: {
    'a length: none': [head({})],
    'chunks: the signature as a trailer only': [
      head({ ...CHUNKED, ...UNSIGNED, trailer: 'hmac-signature' }),
      `${CHUNK}0\r\nhmac-signature: ${signature()}\r\n\r\n`,
    ],
    'chunks: none but the last': chunks(END),
    'a connection: Expect without a signature': [head({ ...LENGTH, expect: '100-continue', ...UNSIGNED })],
    'a connection: no version': ['POST /payments/callbacks\r\n\r\n'],
    'a connection: a genuine one inside the body of an unsigned one': [
      callbackRequest({ body: genuine, headers: UNSIGNED }),
    ],
    'a query: in JSON': query(`?${encodeURIComponent(JSON.stringify(sampleCallback()))}`),
    'a query: 8,193 characters': query(`${whole}&x=`.padEnd(8193, 'y')),
    'a query: 4,000 parameters': query(`${whole}${'&x'.repeat(3500)}`),
    'a query: 4,000 brackets': query(`?a${'[]'.repeat(2000)}`),
    ...each('a query: 8,000 of', ['&', '+', '='], (character) => query(`?${character.repeat(8000)}`)),
  },
  400: {
    'a length: shorter than the body': [ofLength('10').join('') + TEXT],
    'a length: 0 with a body': [ofLength('0').join('') + TEXT],
    'a length: above 64 bits': ofLength('99999999999999999999999'),
    ...each('a length:', ['-1', '+10', '0x10', '1e3', '1.5', '1 0', '1,1', ''], (length) =>
      ofLength(length, TEXT),
    ),
    'a length: twice, equal': declared({}, [`content-length: ${TEXT.length}`]),
    'a length: twice, different': declared({}, ['content-length: 5']),
    'a length: beside chunks': [head({ ...LENGTH, ...CHUNKED }), CHUNK + END],
    'a length: longer than the body, which ends': { finished: ofLength('10000', TEXT) },
    'chunks: a size that is not hexadecimal': chunks(`zz\r\n${TEXT}\r\n${END}`),
    'chunks: a negative size': chunks(`-1\r\n${TEXT}\r\n${END}`),
    'chunks: a size with 0x': chunks(`0x${CHUNK}${END}`),
    'chunks: a size above 64 bits': chunks(`${'f'.repeat(17)}\r\n${TEXT}\r\n${END}`),
    'chunks: a space before the size': chunks(` ${CHUNK}${END}`),
    'chunks: longer than their size': chunks(`5\r\n${TEXT}\r\n${END}`),
    'chunks: line feeds without carriage returns': chunks(`${size}\n${TEXT}\n0\n\n`),
    ...each('chunks: the coding', ['chunked, chunked', 'chunked, identity', 'identity', 'xchunked'], coded),
    ...each('chunks: the coding', ['chunkedx', 'chunked;q=1', ''], coded),
    'chunks: the coding twice': [head(CHUNKED, ['transfer-encoding: chunked']), CHUNK + END],
    'chunks: that end too soon': { finished: chunks(CHUNK.slice(0, size.length + 11)) },
    'a connection: the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    'a connection: the start of TLS': ['\x16\x03\x01\0\xc8\x01\0\0\xc4\x03\x03\r\n\r\n'],
    'a connection: noise': ['\x01\x02\x03\x04\r\n\r\n'],
    'a connection: a genuine one behind noise': [`x\r\n\r\n${genuine}`],
    ...each('a connection:', ['HTTP/1.2', 'HTTP/9.9'], version),
    ...each('a method:', ['post', 'FOO', 'POST\t', 'P'.repeat(5000)], method),
  },
  405: {
    ...each('a method:', METHODS, bare),
    ...each('a method with a body:', METHODS, method),
    'a method: PUT, overridden by POST': callbackMessage({
      method: 'PUT',
      headers: { 'x-http-method-override': 'POST' },
    }),
    ...each('a redirect:', ['HEAD', 'POST', 'PUT', 'OPTIONS'], (name) => redirectMessage(whole, name)),
  },
  413: {
    'a length: 65,537': ofLength('65537'),
    'a length: 9,007,199,254,740,993': ofLength('9007199254740993'),
    'chunks: 65,537 bytes': chunks(`10001\r\n${'x'.repeat(65_537)}\r\n${END}`),
    'chunks: an extension of 20,000 characters': chunks(`${size};${'a'.repeat(20_000)}\r\n${TEXT}\r\n${END}`),
    'a connection: Expect before 100 MB': [head({ 'content-length': '100000000', expect: '100-continue' })],
    'a connection: a genuine one behind a body that is too large': [ofLength('65537').join('') + genuine],
  },
  417: { 'a connection: another expectation': declared({ expect: 'x' }) },
  431: { 'chunks: trailers of 20,000 characters': chunks(`${CHUNK}0\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`) },
  closed: { 'a method: CONNECT': method('CONNECT') },
  '200 200 200 handled 3 times': { 'a connection: three genuine ones in one write': [genuine.repeat(3)] },
  '200 401 200 handled twice': {
    'a connection: an unsigned one between two': [genuine + unsigned + genuine],
  },
  [Array(50).fill('401').join(' ')]: { 'a connection: 50 unsigned ones in one write': [unsigned.repeat(50)] },
};
