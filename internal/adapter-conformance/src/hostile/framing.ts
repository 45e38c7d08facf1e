import { sampleCallback } from '@payment-service/core/testing';
import {
  CALLBACK_PATH,
  callbackRequest,
  type Headers,
  redirectQuery,
  redirectRequest,
  signature,
} from '../http-request.ts';
import {
  ACCEPTED,
  callback,
  type HostileRequest,
  head,
  REDIRECTED,
  REFUSED,
  type Row,
  redirect,
  rows,
  type Wire,
  wire,
} from './hostile-request.ts';

const text = JSON.stringify(sampleCallback());
const size = text.length.toString(16);
const LENGTH: Headers = { 'content-length': String(text.length) };
const CHUNKED: Headers = { 'transfer-encoding': 'chunked' };
const chunks = (...written: readonly string[]): { wire: Wire } => wire([head(CHUNKED), ...written]);
const END = '0\r\n\r\n';
const genuine = callbackRequest();
const unsigned = callbackRequest({ headers: { 'hmac-signature': undefined } });
const written = (from: string, to: string): Buffer =>
  Buffer.from(genuine.toString('latin1').replace(from, to), 'latin1');

const METHODS: readonly Row<string>[] = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].map(
  (name) => [name, name],
);
const UNKNOWN_METHODS: readonly Row<string>[] = [
  ...['post', 'FOO', 'POST\t', 'P'.repeat(5000)].map((name): Row<string> => [name.slice(0, 8), name, '400']),
  ['CONNECT', 'CONNECT', 'closed'],
];

/** Lengths that lie. */
const LENGTHS: readonly Row<Pick<HostileRequest, 'wire'>>[] = [
  ['shorter than the body', wire([Buffer.concat([head({ 'content-length': '10' }), Buffer.from(text)])])],
  ['0 with a body', wire([Buffer.concat([head({ 'content-length': '0' }), Buffer.from(text)])])],
  [
    'longer than the body, which ends',
    wire([head({ 'content-length': '10000' }), text], { isFinished: true }),
    '400',
  ],
  ['65,537', wire([head({ 'content-length': '65537' })]), '413'],
  ['9,007,199,254,740,993', wire([head({ 'content-length': '9007199254740993' })]), '413'],
  ['above 64 bits', wire([head({ 'content-length': '99999999999999999999999' })])],
  ...['-1', '+10', '0x10', '1e3', '1.5', '1 0', '1,1', ''].map(
    (length): Row<Pick<HostileRequest, 'wire'>> => [
      `"${length}"`,
      wire([head({ 'content-length': length }), text]),
    ],
  ),
  ['twice, equal', wire([head(LENGTH, [`content-length: ${text.length}`]), text])],
  ['twice, different', wire([head(LENGTH, ['content-length: 5']), text])],
  ['beside chunks', wire([head({ ...LENGTH, ...CHUNKED }), `${size}\r\n${text}\r\n${END}`])],
];

const CHUNKS: readonly Row<Pick<HostileRequest, 'wire'>>[] = [
  ['an extension', chunks(`${size};a=b\r\n${text}\r\n${END}`), ACCEPTED],
  ['sizes in upper case', chunks(`${size.toUpperCase()}\r\n${text}\r\n${END}`), ACCEPTED],
  ['sizes with zeros in front', chunks(`0000${size}\r\n${text}\r\n${END}`), ACCEPTED],
  ['one byte each', chunks([...text].map((byte) => `1\r\n${byte}\r\n`).join('') + END), ACCEPTED],
  ['trailers', chunks(`${size}\r\n${text}\r\n0\r\nx-a: b\r\n\r\n`), ACCEPTED],
  [
    'a trailer that is a second signature',
    chunks(`${size}\r\n${text}\r\n0\r\nhmac-signature: t=1,s=x\r\n\r\n`),
    ACCEPTED,
  ],
  [
    'a trailer that is an encoding',
    chunks(`${size}\r\n${text}\r\n0\r\ncontent-encoding: gzip\r\n\r\n`),
    ACCEPTED,
  ],
  [
    'the signature as a trailer only',
    wire([
      head({ ...CHUNKED, 'hmac-signature': undefined, trailer: 'hmac-signature' }),
      `${size}\r\n${text}\r\n0\r\nhmac-signature: ${signature()}\r\n\r\n`,
    ]),
    REFUSED,
  ],
  ['no chunk but the last', chunks(END), REFUSED],
  ['65,537 bytes in chunks', chunks(`10001\r\n${'x'.repeat(65_537)}\r\n${END}`), '413'],
  ['an extension of 20,000 characters', chunks(`${size};${'a'.repeat(20_000)}\r\n${text}\r\n${END}`), '413'],
  [
    'trailers of 20,000 characters',
    chunks(`${size}\r\n${text}\r\n0\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`),
    '431',
  ],
  ...[
    ['a size that is not hexadecimal', 'zz'],
    ['a negative size', '-1'],
    ['a size with 0x', `0x${size}`],
    ['a size above 64 bits', 'f'.repeat(17)],
    ['a space before the size', ` ${size}`],
  ].map(
    ([name = '', length]): Row<Pick<HostileRequest, 'wire'>> => [
      name,
      chunks(`${length}\r\n${text}\r\n${END}`),
    ],
  ),
  ['a chunk that is longer than its size', chunks(`5\r\n${text}\r\n${END}`)],
  ['line feeds without carriage returns', chunks(`${size}\n${text}\n0\n\n`)],
  ['chunks that end too soon', wire([head(CHUNKED), `${size}\r\n${text.slice(0, 9)}`], { isFinished: true })],
  ...['gzip, chunked', 'Chunked'].map(
    (name): Row<Pick<HostileRequest, 'wire'>> => [
      `the coding "${name}"`,
      wire([head({ 'transfer-encoding': name }), `${size}\r\n${text}\r\n${END}`]),
      ACCEPTED,
    ],
  ),
  ...['chunked, chunked', 'chunked, identity', 'identity', 'xchunked', 'chunkedx', 'chunked;q=1', ''].map(
    (name): Row<Pick<HostileRequest, 'wire'>> => [
      `the coding "${name}"`,
      wire([head({ 'transfer-encoding': name }), `${size}\r\n${text}\r\n${END}`]),
    ],
  ),
  ['the coding twice', wire([head(CHUNKED, ['transfer-encoding: chunked']), `${size}\r\n${text}\r\n${END}`])],
];

const CONNECTIONS: readonly Row<Pick<HostileRequest, 'wire'>>[] = [
  ['Expect: 100-continue', wire([head({ ...LENGTH, expect: '100-continue' }), text]), ACCEPTED],
  [
    'Expect: 100-continue without a signature',
    wire([head({ ...LENGTH, expect: '100-continue', 'hmac-signature': undefined })]),
    REFUSED,
  ],
  [
    'Expect: 100-continue before 100 MB',
    wire([head({ 'content-length': '100000000', expect: '100-continue' })]),
    '413',
  ],
  ['another expectation', wire([head({ ...LENGTH, expect: 'x' }), text]), '417'],
  [
    'an upgrade to a web socket',
    wire([head({ ...LENGTH, connection: 'upgrade', upgrade: 'websocket' }), text]),
    ACCEPTED,
  ],
  [
    'an upgrade to HTTP/2',
    wire([
      head({
        ...LENGTH,
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAAP__',
      }),
      text,
    ]),
    ACCEPTED,
  ],
  ['connection: close', wire([head({ ...LENGTH, connection: 'close' }), text]), ACCEPTED],
  [
    'headers named in connection',
    wire([head({ ...LENGTH, connection: 'hmac-signature, content-length' }), text]),
    ACCEPTED,
  ],
  ['HTTP/1.0', wire([written('HTTP/1.1', 'HTTP/1.0')]), ACCEPTED],
  [
    'HTTP/1.0 without a host',
    wire([
      callbackRequest({ headers: { host: undefined } })
        .toString('latin1')
        .replace('HTTP/1.1', 'HTTP/1.0'),
    ]),
    ACCEPTED,
  ],
  ['HTTP/1.2', wire([written('HTTP/1.1', 'HTTP/1.2')])],
  ['HTTP/9.9', wire([written('HTTP/1.1', 'HTTP/9.9')])],
  ['no version', wire(['POST /payments/callbacks\r\n\r\n']), REFUSED],
  ['the preface of HTTP/2', wire(['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'])],
  ['the start of TLS', wire([Uint8Array.of(22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3, 13, 10, 13, 10)])],
  ['noise', wire(['\x01\x02\x03\x04\r\n\r\n'])],
  ['empty lines before it', wire(['\r\n\r\n', genuine]), ACCEPTED],
  ['the sender ends its side after it', wire([genuine], { isFinished: true }), ACCEPTED],
  ['byte by byte', wire([...genuine].map((byte) => Uint8Array.of(byte))), ACCEPTED],
  [
    'three genuine ones in one write',
    wire([Buffer.concat([genuine, genuine, genuine])], { answers: 3 }),
    '200 200 200 handled 3 times',
  ],
  [
    'an unsigned one between two',
    wire([Buffer.concat([genuine, unsigned, genuine])], { answers: 3 }),
    '200 401 200 handled twice',
  ],
  ['a genuine one behind noise', wire([Buffer.concat([Buffer.from('x\r\n\r\n'), genuine])])],
  [
    'a genuine one behind a body that is too large',
    wire([Buffer.concat([head({ 'content-length': '65537' }), genuine])]),
    '413',
  ],
  [
    'a genuine one inside the body of an unsigned one',
    wire([callbackRequest({ body: genuine, headers: { 'hmac-signature': undefined } })]),
    REFUSED,
  ],
  [
    '50 unsigned ones in one write',
    wire([Buffer.concat(Array.from({ length: 50 }, () => unsigned))], { answers: 50 }),
    Array(50).fill('401').join(' '),
  ],
];

const TARGETS: readonly Row<string>[] = [
  ['the absolute form', `http://shop.example${CALLBACK_PATH}`],
  ['the absolute form with another host', `http://evil.example${CALLBACK_PATH}`],
  ['a query on a callback', `${CALLBACK_PATH}?hmac_signature=x&a=b`],
  ['a query of 7,000 characters on a callback', `${CALLBACK_PATH}?${'a&'.repeat(3500)}`],
];

const whole = redirectQuery();
const parameter = (name: string): string => new RegExp(`[?&](${name}=[^&]*)`).exec(whole)?.[1] ?? '';
const without = (name: string): string => whole.replace(parameter(name), '');
const NAMES = [
  'event',
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
  'hmac_signature',
];
const QUERIES: readonly Row<string>[] = [
  ['missing', ''],
  ['empty', '?'],
  ...NAMES.flatMap((name): Row<string>[] => [
    [`without ${name}`, without(name)],
    [`${name} twice`, `${whole}&${parameter(name)}`],
    [`${name} twice, first another value`, whole.replace('?', `?${name}=x&`)],
    [`${name} as a list`, `${whole}&${name}[]=x`],
    [`${name} without a value`, whole.replace(parameter(name), name)],
    [
      `${name} in upper case`,
      whole.replace(parameter(name), parameter(name).replace(name, name.toUpperCase())),
    ],
  ]),
  ['a changed reference', whole.replace('ORD-1001', 'ORD-1002')],
  ['of another key', whole.replace(/s%3D[0-9a-f]{64}/, `s%3D${'0'.repeat(64)}`)],
  ['separated by semicolons', whole.replaceAll('&', ';')],
  ['in JSON', `?${encodeURIComponent(JSON.stringify(sampleCallback()))}`],
  ...['%', '%f', '%zz', '%FF', '%C0%AF', '%ED%A0%80', '%F4%90%80%80'].map(
    (bytes): Row<string> => [`the escape ${bytes}`, `${whole}&x=${bytes}`],
  ),
  ['8,193 characters', `${whole}&x=`.padEnd(8193, 'y')],
  ['129 parameters', `${whole}${'&x'.repeat(113)}`],
  ['4,000 parameters', `${whole}${'&x'.repeat(3500)}`],
  ['8,000 ampersands', `?${'&'.repeat(8000)}`],
  ['8,000 plus signs', `?${'+'.repeat(8000)}`],
  ['8,000 equals signs', `?${'='.repeat(8000)}`],
  ['4,000 brackets', `?a${'[]'.repeat(2000)}`],
  ['an address as a parameter', `${whole}&x=http://evil.example/?y`, REDIRECTED],
  ['the name __proto__', `${whole}&__proto__[x]=y&constructor.prototype.x=y`, REDIRECTED],
  ['an encoded name', whole.replace('event', '%65vent'), REDIRECTED],
  ['an unsigned name twice', `${whole}&id=7`, REDIRECTED],
  ['empty parameters', `${whole}&&&=&=x`, REDIRECTED],
  ['a NUL', `${whole}&x=%00`, REDIRECTED],
  ['8,192 characters', `${whole}&x=`.padEnd(8192, 'y'), REDIRECTED],
  ['every character as an escape', whole.replace('ORD-1001', '%4f%52%44%2D%31%30%30%31'), REDIRECTED],
];

/** The framing of requests, connections, methods, targets, and the queries of redirects. */
export const framing: readonly HostileRequest[] = [
  ...rows('a method', '405', METHODS, (method) =>
    callback({ method, headers: { 'content-length': undefined }, body: '' }),
  ),
  ...rows('a method', '405', METHODS, (method) => wire([callbackRequest({ method })])).map((row) => ({
    ...row,
    name: `${row.name} with a body`,
  })),
  ...rows('a method', '400', UNKNOWN_METHODS, (method) => wire([callbackRequest({ method })])),
  ...rows('a length', '400', LENGTHS, (value) => value),
  ...rows('chunks', '400', CHUNKS, (value) => value),
  ...rows('a connection', '400', CONNECTIONS, (value) => value),
  ...rows('a target', ACCEPTED, TARGETS, (path) => wire([callbackRequest({ path })])),
  ...rows('a query', REFUSED, QUERIES, (query) => redirect(query)),
  ...rows<string>(
    'the method of a redirect',
    '405',
    ['HEAD', 'POST', 'PUT', 'OPTIONS'].map((name) => [name, name]),
    (method) => redirect(whole, method),
  ),
  ...rows('the target of a redirect', REDIRECTED, [['the absolute form', whole]], (query) =>
    wire([redirectRequest(query).toString('latin1').replace('GET /', 'GET http://evil.example/')]),
  ),
];
