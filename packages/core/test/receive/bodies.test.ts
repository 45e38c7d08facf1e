import { deflateSync, gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import * as receive from '../../src/receive/index.ts';
import { parsed, post, received, unread } from '../incoming.ts';
import { callbackData, SIGNATURE } from '../signed-callbacks.ts';
import { inflateCases } from './inflate-cases.ts';

type Incoming = receive.IncomingCallback;
const text = JSON.stringify(callbackData({ customer_name: 'Ünïcødé 🛒' }));
const bytes = Buffer.from(text);

/** Core's answer, and the code that reached onRefused. */
async function answer(
  request: Incoming,
  methods?: receive.CallbackOptions['methods'],
): Promise<{ reply: receive.Reply | undefined; code: string }> {
  let [code, hint] = ['accepted', 'None.'];
  const onRefused: receive.CallbackOptions['onRefused'] = (refusal): void => {
    ({ code, hint } = refusal);
  };
  const hooks = { onCallback: () => undefined, onRefused };
  const { reply } = await received(request, { ...hooks, bodyTimeoutMs: 5, methods });
  expect(hint).toMatch(/^\S.+\.$/);
  return { reply, code };
}
const codeOf = async (...given: Parameters<typeof answer>): Promise<string> => (await answer(...given)).code;

const silent: receive.BodySource = () => () => undefined;
const aborted: receive.BodySource = ({ chunk, abort }) => {
  chunk(bytes.subarray(0, 9));
  abort();
  return () => undefined;
};
/** The body of a request that is refused before it is read. */
const body: receive.IncomingBody = { state: 'unread', read: () => expect.fail('The body was read.') };
const unsigned = { 'hmac-signature': '' };
const encoded = (encoding: string | string[]) => ({ 'content-encoding': encoding });
const long = unread(bytes, Buffer.alloc(65_536, ' '));

test.each<[code: string, status: number, error: string, ...requests: Incoming[]]>([
  ['method_not_allowed', 405, 'method_not_allowed', post(body, {}, 'GET'), post(body, {}, 'post')],
  [
    ...(['encoding_unsupported', 415, 'unsupported_media_type'] as const),
    ...['br', 'gzip, gzip', ['gzip', 'gzip']].map((encoding) => post(body, encoded(encoding))),
  ],
  ['signature_missing', 401, 'unauthorized', post(body, unsigned)],
  ['signature_malformed', 401, 'unauthorized', post(body, { 'hmac-signature': `${SIGNATURE} ` })],
  ['body_too_large', 413, 'content_too_large', post(body, { 'content-length': '65537' }), post(long)],
  ['body_too_large', 413, 'content_too_large', post(body, { 'content-length': ['9', '9'] })],
  ['body_timeout', 408, 'request_timeout', post({ state: 'unread', read: silent })],
  [
    ...(['body_aborted', 400, 'request_aborted'] as const),
    ...[{}, encoded('gzip')].map((headers) => post({ state: 'unread', read: aborted }, headers)),
  ],
])('threat A18: %s is answered %i, and reaches onRefused', async (code, status, error, ...requests) => {
  const reply = expect.objectContaining({ status, body: JSON.stringify({ error }) });
  for (const request of requests) expect(await answer(request)).toEqual({ code, reply });
});

test.each(['POST', 'PUT', 'PATCH'] as const)('%s is accepted when it is the only method', async (method) => {
  for (const sent of ['POST', 'PUT', 'PATCH'])
    expect(await codeOf(post(unread(bytes), {}, sent), [method])).toBe(
      sent === method ? 'accepted' : 'method_not_allowed',
    );
  const { reply } = await answer(post(body, {}, 'GET'), [method, 'POST']);
  expect(reply?.headers['allow']).toBe(`${method}, POST`);
});

test.each<[header: string, value: string, body: Uint8Array]>([
  ...['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', ''].map(
    (type): [string, string, Uint8Array] => ['content-type', type, bytes],
  ),
  ['content-encoding', 'GZIP', gzipSync(bytes)],
  ['content-encoding', 'x-gzip', gzipSync(bytes)],
  ['content-encoding', ' deflate ', deflateSync(bytes)],
  ['content-encoding', 'identity', bytes],
])('the %s %j refuses nothing', async (header, value, sent) => {
  expect(await codeOf(post(unread(sent), { [header]: value }))).toBe('accepted');
});

test.each<[name: string, connection: string | undefined, request: Incoming]>([
  ['a declared length above the limit', 'close', post(body, { 'content-length': '65537' }, 'PUT')],
  ['a chunked body', 'close', post(body, { ...unsigned, 'transfer-encoding': 'chunked' })],
  ['a length up to the limit', undefined, post(body, { ...unsigned, 'content-length': '65536' })],
  ['no body', undefined, post(body, {}, 'GET')],
  ['a parsed body', undefined, post(parsed({}), { ...unsigned, 'content-length': '70000' })],
])(
  'threat A18: after an early refusal with %s, the header connection is %s',
  async (_, connection, request) => {
    expect((await answer(request)).reply?.headers['connection']).toBe(connection);
  },
);

const padded = (length: number): string => {
  const empty = JSON.stringify(callbackData({ extra: '' }));
  return empty.replace('"extra":""', `"extra":"${'x'.repeat(length - empty.length)}"`);
};
const compressed = { 'content-length': '900', 'content-encoding': 'gzip' };
test.each<[what: string, request: (body: string) => Incoming]>([
  ['an unread body', (sent) => post(unread(Buffer.from(sent)))],
  ['a parsed body without a declared length', (sent) => post(parsed(JSON.parse(sent)))],
  ['a body left as a string', (sent) => post(parsed(sent))],
  ['a body left as bytes', (sent) => post(parsed(Buffer.from(sent)))],
  ['a declared length', (sent) => post(parsed(JSON.parse(sent)), { 'content-length': `${sent.length}` })],
  ['a parsed body that was compressed', (sent) => post(parsed(JSON.parse(sent)), compressed)],
])(
  'threat A34: %s is accepted with 64 KiB, and refused as body_too_large with one byte more',
  async (...row) => {
    const [, request] = row;
    const [largest, tooLarge] = [padded(65_536), padded(65_537)];
    expect([largest.length, tooLarge.length]).toEqual([65_536, 65_537]);
    expect(await answer(request(largest))).toMatchObject({ reply: { status: 200 }, code: 'accepted' });
    expect(await answer(request(tooLarge))).toMatchObject({ reply: { status: 413 }, code: 'body_too_large' });
  },
);

const declared = { 'content-length': '60000' };
const deep = JSON.parse(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`);
test.each<[what: string, body: object, code: string, headers?: object]>([
  ['with a bigint, as some parsers make it,', callbackData({ extra: 10n ** 30n }), 'accepted'],
  ['with a bigint of 64 KiB', callbackData({ extra: 10n ** 65_536n }), 'body_too_large'],
  [
    'that would be written longer than declared',
    callbackData({ extra: Array(10_000).fill(1e20) }),
    'accepted',
    declared,
  ],
  ['that is nested too deeply to measure', deep, 'body_too_large'],
])('threat A34: a parsed body %s is measured as it was sent: row %#', async (_, data, code, headers = {}) => {
  expect(await codeOf(post(parsed(data), { ...headers }))).toBe(code);
});

test.each(inflateCases(text))('the compressed body "$name" is $code', async ({ body, encoding, code }) => {
  expect(await codeOf(post(unread(body), encoded(encoding)))).toBe(code);
});

type Listener = (chunk: Uint8Array | string) => void;
/** The events of an IncomingMessage, in the order in which a test fires them. */
function request(state: Partial<receive.NodeRequest> = {}) {
  const listeners = new Map<string, Set<Listener>>();
  const [resume, pause] = [vi.fn(), vi.fn()];
  const node: receive.NodeRequest = {
    ...{ method: 'POST', headers: { 'hmac-signature': SIGNATURE }, readableDidRead: false, destroyed: false },
    on: (event, listener) => listeners.set(event, (listeners.get(event) ?? new Set()).add(listener)),
    off: (event, listener) => listeners.get(event)?.delete(listener),
    ...{ resume, pause, ...state },
  };
  const fire = (event: string, chunk: Uint8Array | string = ''): void => {
    for (const listener of listeners.get(event) ?? []) listener(chunk);
  };
  return { node, fire, resume, pause, listeners: (event: string) => listeners.get(event)?.size ?? 0 };
}
const TOO_LONG = Buffer.alloc(65_537, ' ');

test.each<[name: string, pieces: (Buffer | string)[], parsedBody?: object]>([
  ['one piece', [bytes]],
  ['bytes in pieces', [bytes.subarray(0, 40), bytes.subarray(40, 41), bytes.subarray(41)]],
  ['strings, when an encoding was set on the stream', [text.slice(0, 40), text.slice(40)]],
  ['an empty piece first', [Buffer.alloc(0), bytes]],
  ['short pieces, and then long ones', [bytes, ...Array<Buffer>(15).fill(Buffer.alloc(4096, ' '))]],
  ['unread bytes, which count more than the empty object that a parser leaves', [bytes], {}],
])('decision D10: a body of node:http is read from %s', async (_, pieces, parsedBody) => {
  const { node, fire, resume, pause } = request(); // Other middleware may have paused it.
  const code = codeOf(receive.incomingCallback(node, parsedBody));
  for (const piece of pieces) fire('data', piece);
  fire('end');
  expect(await code).toBe('accepted');
  expect([resume.mock.calls.length, pause.mock.calls.length]).toEqual([1, 0]);
});

test('a request of node:http that closes early, or is already destroyed, is answered as aborted', async () => {
  const { node, fire } = request();
  const code = codeOf(receive.incomingCallback(node));
  fire('data', bytes.subarray(0, 40));
  fire('close');
  expect(await code).toBe('body_aborted');
  expect(await codeOf(receive.incomingCallback(request({ destroyed: true }).node))).toBe('body_aborted');
});

test('threat A18: a body over the limit is paused, and no more of it is read', async () => {
  const { node, fire, listeners, pause } = request();
  const code = codeOf(receive.incomingCallback(node));
  fire('data', TOO_LONG);
  expect(await code).toBe('body_too_large');
  fire('close');
  expect(listeners('data')).toBe(0);
  expect(pause).toHaveBeenCalledOnce();
});

test.each([
  [2, 1],
  [1, 0],
])(
  'threat A43: a stream of HTTP/%i whose body is given up is closed %i times by its answer',
  async (...row) => {
    const [httpVersionMajor, times] = row;
    const close = vi.fn();
    const stream = { once: (event: string, call: () => void) => event === 'finish' && call(), close };
    for (const given of [{ stream }, {}]) {
      const { node, fire } = request({ httpVersionMajor, ...given });
      const code = codeOf(receive.incomingCallback(node));
      fire('data', TOO_LONG);
      expect(await code).toBe('body_too_large');
    }
    expect(close).toHaveBeenCalledTimes(times);
  },
);
