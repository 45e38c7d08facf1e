import { deflateSync, gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import {
  type BodySource,
  type CallbackOptions,
  type IncomingBody,
  type IncomingCallback,
  incomingCallback,
  type NodeRequest,
  type Reply,
} from '../../src/receive/index.ts';
import { parsed, post, received, unread } from '../incoming.ts';
import { callbackData, SIGNATURE } from '../signed-callbacks.ts';
import { inflateCases } from './inflate-cases.ts';

const text = JSON.stringify(callbackData({ customer_name: 'Ünïcødé 🛒' }));
const bytes = Buffer.from(text);

/** Core's answer, and the code that reached onRefused. */
async function answer(
  request: IncomingCallback,
  methods?: CallbackOptions['methods'],
): Promise<{ reply: Reply | undefined; code: string }> {
  let [code, hint] = ['accepted', 'None.'];
  const onRefused: CallbackOptions['onRefused'] = (refusal): void => {
    ({ code, hint } = refusal);
  };
  const hooks = { onCallback: () => undefined, onRefused };
  const { reply } = await received(request, { ...hooks, bodyTimeoutMs: 5, methods });
  expect(hint).toMatch(/^\S.+\.$/);
  return { reply, code };
}
const codeOf = async (...given: Parameters<typeof answer>): Promise<string> => (await answer(...given)).code;

const silent: BodySource = () => () => undefined;
const aborted: BodySource = ({ chunk, abort }) => {
  chunk(bytes.subarray(0, 9));
  abort();
  return () => undefined;
};
/** The body of a request that is refused before it is read. */
const body: IncomingBody = { state: 'unread', read: () => expect.fail('The body was read.') };
const unsigned = { 'hmac-signature': '' };

test.each<[code: string, status: number, error: string, request: IncomingCallback]>([
  ['method_not_allowed', 405, 'method_not_allowed', post(body, {}, 'GET')],
  ['method_not_allowed', 405, 'method_not_allowed', post(body, {}, 'post')],
  ...['br', 'gzip, gzip', ['gzip', 'gzip']].map((encoding): [string, number, string, IncomingCallback] => [
    ...(['encoding_unsupported', 415, 'unsupported_media_type'] as const),
    post(body, { 'content-encoding': encoding }),
  ]),
  ['signature_missing', 401, 'unauthorized', post(body, unsigned)],
  ['signature_malformed', 401, 'unauthorized', post(body, { 'hmac-signature': `${SIGNATURE} ` })],
  ['body_too_large', 413, 'content_too_large', post(body, { 'content-length': '65537' })],
  ['body_too_large', 413, 'content_too_large', post(unread(bytes, Buffer.alloc(65_536, ' ')))],
  ['body_too_large', 413, 'content_too_large', post(body, { 'content-length': ['9', '9'] })],
  ['body_timeout', 408, 'request_timeout', post({ state: 'unread', read: silent })],
  ...[{}, { 'content-encoding': 'gzip' }].map((headers): [string, number, string, IncomingCallback] => [
    ...(['body_aborted', 400, 'request_aborted'] as const),
    post({ state: 'unread', read: aborted }, headers),
  ]),
])('threat A18: %s is answered %i, and reaches onRefused', async (code, status, error, request) => {
  const reply = expect.objectContaining({ status, body: JSON.stringify({ error }) });
  expect(await answer(request)).toEqual({ code, reply });
});

test('a source that fails before it has returned is stopped, once', async () => {
  const stop = vi.fn();
  const read: BodySource = ({ abort, end }) => {
    abort();
    end();
    return stop;
  };
  expect(await codeOf(post({ state: 'unread', read }))).toBe('body_aborted');
  expect(stop).toHaveBeenCalledOnce();
});

test('threat A22: every early refusal has a hint, and says nothing about the request', async () => {
  const onRefused = vi.fn();
  await received(post(body, { 'content-encoding': 'secret-encoding' }), { onRefused });
  const hint = expect.stringMatching(/^The body has/);
  const [refusal] = onRefused.mock.calls[0] ?? [];
  expect(refusal).toEqual({ ok: false, authentic: false, code: 'encoding_unsupported', hint });
  expect(JSON.stringify(refusal)).not.toContain('secret-encoding');
});

test.each(['POST', 'PUT', 'PATCH'] as const)('%s is accepted when it is the only method', async (method) => {
  for (const sent of ['POST', 'PUT', 'PATCH'])
    expect(await codeOf(post(unread(bytes), {}, sent), [method])).toBe(
      sent === method ? 'accepted' : 'method_not_allowed',
    );
  const { reply } = await answer(post(body, {}, 'GET'), [method, 'POST']);
  expect(reply?.headers['allow']).toBe(`${method}, POST`);
});

test('onRefused receives the method, the headers and the body of the request', async () => {
  const onRefused = vi.fn();
  const data = callbackData({ merchant_reference: 'ORD-7' });
  await received(post(parsed(data), { 'x-request-id': '7' }), { onRefused });
  const [{ code }, { method, header, body: read }] = onRefused.mock.calls[0] ?? [];
  expect([code, method, header('x-request-id'), read()]).toEqual(['mismatch', 'POST', '7', data]);
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

test.each<[name: string, connection: string | undefined, request: IncomingCallback]>([
  ['a declared length above the limit', 'close', post(body, { 'content-length': '65537' }, 'PUT')],
  ['a chunked body', 'close', post(body, { ...unsigned, 'transfer-encoding': 'chunked' })],
  ['a length up to the limit', undefined, post(body, { ...unsigned, 'content-length': '65536' })],
  ['no body', undefined, post(body, {}, 'GET')],
  ['a parsed body', undefined, post(parsed({}), { ...unsigned, 'content-length': '70000' })],
])('threat A18: after an early refusal with %s, the header connection is %s', async (...row) => {
  expect((await answer(row[2])).reply?.headers['connection']).toBe(row[1]);
});

const padded = (length: number) => {
  const empty = JSON.stringify(callbackData({ extra: '' }));
  return empty.replace('"extra":""', `"extra":"${'x'.repeat(length - empty.length)}"`);
};
const compressed = { 'content-length': '900', 'content-encoding': 'gzip' };

test.each<[what: string, request: (body: string) => IncomingCallback]>([
  ['an unread body', (body) => post(unread(Buffer.from(body)))],
  ['a parsed body without a declared length', (body) => post(parsed(JSON.parse(body)))],
  ['a body left as a string', (body) => post(parsed(body))],
  ['a body left as bytes', (body) => post(parsed(Buffer.from(body)))],
  ['a declared length', (body) => post(parsed(JSON.parse(body)), { 'content-length': `${body.length}` })],
  ['a parsed body that was compressed', (body) => post(parsed(JSON.parse(body)), compressed)],
])(
  'threat A34: %s is accepted with 64 KiB, and refused as body_too_large with one byte more',
  async (...row) => {
    const [largest, tooLarge] = [padded(65_536), padded(65_537)];
    expect([largest.length, tooLarge.length]).toEqual([65_536, 65_537]);
    expect(await answer(row[1](largest))).toMatchObject({ reply: { status: 200 }, code: 'accepted' });
    expect(await answer(row[1](tooLarge))).toMatchObject({
      reply: { status: 413 },
      code: 'body_too_large',
    });
  },
);

test('threat A34: a parser that reads numbers as bigint loses no callback, and lifts no limit', async () => {
  const extra = (digits: number) => post(parsed(callbackData({ extra: 10n ** BigInt(digits) })));
  expect(await codeOf(extra(30))).toBe('accepted');
  expect(await codeOf(extra(65_536))).toBe('body_too_large');
});

test('a body within its declared length is accepted, however long it is when it is written anew', async () => {
  const extra = Array.from({ length: 10_000 }, () => 1e20);
  expect(await codeOf(post(parsed(callbackData({ extra })), { 'content-length': '60000' }))).toBe('accepted');
});

test('threat A34: a parsed body that is nested too deeply to measure is too large', async () => {
  const deep = JSON.parse(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`);
  expect(await codeOf(post(parsed(deep)))).toBe('body_too_large');
});

test.each(inflateCases(text))('the compressed body "$name" is $code', async ({ body, encoding, code }) => {
  expect(await codeOf(post(unread(body), { 'content-encoding': encoding }))).toBe(code);
});

type Listener = (chunk: Uint8Array | string) => void;

/** The events of an IncomingMessage, in the order in which a test fires them. */
function request(state: Partial<NodeRequest> = {}) {
  const listeners = new Map<string, Set<Listener>>();
  const node: NodeRequest = {
    method: 'POST',
    headers: { 'hmac-signature': SIGNATURE },
    readableDidRead: false,
    destroyed: false,
    on: (event, listener) => listeners.set(event, (listeners.get(event) ?? new Set()).add(listener)),
    off: (event, listener) => listeners.get(event)?.delete(listener),
    resume: () => undefined,
    pause: () => undefined,
    ...state,
  };
  const fire = (event: string, chunk: Uint8Array | string = ''): void => {
    for (const listener of listeners.get(event) ?? []) listener(chunk);
  };
  return { node, fire, listeners: (event: string) => listeners.get(event)?.size ?? 0 };
}

test.each<[name: string, pieces: (Buffer | string)[], parsedBody?: object]>([
  ['one piece', [bytes]],
  ['bytes in pieces', [bytes.subarray(0, 40), bytes.subarray(40, 41), bytes.subarray(41)]],
  ['strings, when an encoding was set on the stream', [text.slice(0, 40), text.slice(40)]],
  ['an empty piece first', [Buffer.alloc(0), bytes]],
  [
    'short pieces, and then long ones',
    [bytes.subarray(0, 40), bytes.subarray(40), ...Array<Buffer>(15).fill(Buffer.alloc(4096, ' '))],
  ],
  ['unread bytes, which count more than the empty object that a parser leaves', [bytes], {}],
])('decision D10: a body is read from %s', async (_, pieces, parsedBody) => {
  const [resume, pause] = [vi.fn(), vi.fn()]; // Other middleware may have paused it.
  const { node, fire } = request({ resume, pause });
  const code = codeOf(incomingCallback(node, parsedBody));
  for (const piece of pieces) fire('data', piece);
  fire('end');
  expect(await code).toBe('accepted');
  expect([resume.mock.calls.length, pause.mock.calls.length]).toEqual([1, 0]);
});

test('a request that closes early, or is already destroyed, is answered as aborted', async () => {
  const { node, fire } = request();
  const code = codeOf(incomingCallback(node));
  fire('data', bytes.subarray(0, 40));
  fire('close');
  expect(await code).toBe('body_aborted');
  expect(await codeOf(incomingCallback(request({ destroyed: true }).node))).toBe('body_aborted');
});

test('threat A18: a body over the limit is paused, and no more of it is read', async () => {
  const { node, fire, listeners } = request();
  const pause = vi.spyOn(node, 'pause');
  const code = codeOf(incomingCallback(node));
  fire('data', Buffer.alloc(65_537, ' '));
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
  async (httpVersionMajor, times) => {
    const close = vi.fn();
    const stream = { once: (event: string, call: () => void) => event === 'finish' && call(), close };
    for (const given of [{ stream }, {}]) {
      const { node, fire } = request({ httpVersionMajor, ...given });
      const code = codeOf(incomingCallback(node));
      fire('data', Buffer.alloc(65_537, ' '));
      expect(await code).toBe('body_too_large');
    }
    expect(close).toHaveBeenCalledTimes(times);
  },
);
