import type { Parts } from '../connection.ts';
import {
  CALLBACK_PATH,
  callbackMessage,
  callbackRequest,
  type Headers,
  redirectMessage,
  redirectQuery,
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
const whole = redirectQuery();
const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

const ofLength = (length: string, ...body: Parts): Parts => [head({ 'content-length': length }), ...body];
const declared = (headers: Headers, lines?: readonly string[]): Parts => [
  head({ ...LENGTH, ...headers }, lines),
  TEXT,
];
const chunks = (text: string): Parts => [head(CHUNKED), text];
const coded = (name: string): Parts => [head({ 'transfer-encoding': name }), CHUNK + END];
const bare = (method: string): Sent =>
  callbackMessage({ method, headers: { 'content-length': undefined }, body: '' });
const method = (name: string): Parts => [callbackRequest({ method: name })];
const target = (path: string): Parts => [callbackRequest({ path })];
const query = (text: string): Sent => redirectMessage(text);

/** Methods, targets, lengths, chunks, connections, and the queries of redirects: long ones, or odd for a server. */
export const framing: Verdicts = {
  [ACCEPTED]: {
    'chunks: trailers': chunks(`${CHUNK}0\r\nx-a: b\r\n\r\n`),
    ...each('chunks: the coding', ['gzip, chunked', 'Chunked'], coded),
    'a connection: Expect: 100-continue': declared({ expect: '100-continue' }),
    'a connection: byte by byte': [...genuine],
    'a target: a query of 7,000 characters on a callback': target(`${CALLBACK_PATH}?${'a&'.repeat(3500)}`),
  },
  [REDIRECTED]: {
    'a query: 8,192 characters': query(`${whole}&x=`.padEnd(8192, 'y')),
  },
  [REFUSED]: {
    'a length: none': [head({})],
    'chunks: the signature as a trailer only': [
      head({ ...CHUNKED, ...UNSIGNED, trailer: 'hmac-signature' }),
      `${CHUNK}0\r\nhmac-signature: ${signature()}\r\n\r\n`,
    ],
    'a connection: a genuine one inside the body of an unsigned one': [
      callbackRequest({ body: genuine, headers: UNSIGNED }),
    ],
    'a query: 8,193 characters': query(`${whole}&x=`.padEnd(8193, 'y')),
    'a query: 4,000 parameters': query(`${whole}${'&x'.repeat(3500)}`),
  },
  400: {
    'a length: shorter than the body': [ofLength('10').join('') + TEXT],
    ...each('a length:', ['-1', '+10', '0x10', '1e3', '1.5', '1 0', '1,1', ''], (length) =>
      ofLength(length, TEXT),
    ),
    'a length: twice, different': declared({}, ['content-length: 5']),
    'a length: beside chunks': [head({ ...LENGTH, ...CHUNKED }), CHUNK + END],
    'a length: longer than the body, which ends': { finished: ofLength('10000', TEXT) },
    'chunks: a size that is not hexadecimal': chunks(`zz\r\n${TEXT}\r\n${END}`),
    ...each('chunks: the coding', ['chunked, chunked', 'chunked, identity', 'identity', 'xchunked'], coded),
    'a connection: the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ...each('a method:', ['post', 'FOO', 'POST\t', 'P'.repeat(5000)], method),
  },
  405: {
    ...each('a method:', METHODS, bare),
    ...each('a redirect:', ['HEAD', 'POST', 'PUT', 'OPTIONS'], (name) => redirectMessage(whole, name)),
  },
  413: {
    'a length: 65,537': ofLength('65537'),
    'a connection: Expect before 100 MB': [head({ 'content-length': '100000000', expect: '100-continue' })],
  },
  431: { 'chunks: trailers of 20,000 characters': chunks(`${CHUNK}0\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`) },
  closed: { 'a method: CONNECT': method('CONNECT') },
  '200 401 200 handled twice': {
    'a connection: an unsigned one between two': [genuine + unsigned + genuine],
  },
};
