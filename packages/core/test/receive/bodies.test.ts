import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import {
  type BodySource,
  createCallbackReceiver,
  type IncomingCallback,
  incomingCallback,
  type NodeRequest,
  type Reply,
  receiveCallback,
} from '../../src/receive/index.ts';
import { parsed, post, unread } from '../incoming.ts';
import { callbackData, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';
import { inflateCases } from './inflate-cases.ts';

const text = JSON.stringify(callbackData({ customer_name: 'Ünïcødé 🛒' }));
const bytes = Buffer.from(text);

/** Core's answer, and the codes that reached onRefused. */
async function answer(
  request: IncomingCallback,
  bodyTimeoutMs?: number,
): Promise<{ reply: Reply | undefined; codes: string[] }> {
  const codes: string[] = [];
  const onRefused = ({ code }: { code: string }): number => codes.push(code);
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    onCallback: () => undefined,
    onRefused,
    bodyTimeoutMs,
  });
  const { reply } = await receiveCallback(request, receiver);
  return { reply, codes };
}

async function statusOf(request: IncomingCallback): Promise<number | undefined> {
  return (await answer(request)).reply?.status;
}

describe('refusals before verification', () => {
  const silent: BodySource = () => () => undefined;
  const aborted: BodySource = ({ chunk, abort }) => {
    chunk(bytes.subarray(0, 9));
    abort();
    return () => undefined;
  };
  const body = unread(bytes);

  test.each<[code: string, status: number, error: string, request: IncomingCallback]>([
    ['method_not_allowed', 405, 'method_not_allowed', post(body, {}, 'GET')],
    ['method_not_allowed', 405, 'method_not_allowed', post(body, {}, 'post')],
    ['encoding_unsupported', 415, 'unsupported_media_type', post(body, { 'content-encoding': 'br' })],
    ['encoding_unsupported', 415, 'unsupported_media_type', post(body, { 'content-encoding': 'gzip, gzip' })],
    [
      'encoding_unsupported',
      415,
      'unsupported_media_type',
      post(body, { 'content-encoding': ['gzip', 'gzip'] }),
    ],
    ['signature_missing', 401, 'unauthorized', post(body, { 'hmac-signature': '' })],
    ['signature_malformed', 401, 'unauthorized', post(body, { 'hmac-signature': `${SIGNATURE} ` })],
    ['signature_malformed', 401, 'unauthorized', post(body, { 'hmac-signature': [SIGNATURE, SIGNATURE] })],
    ['body_too_large', 413, 'content_too_large', post(body, { 'content-length': '65537' })],
    ['body_too_large', 413, 'content_too_large', post(unread(bytes, Buffer.alloc(65_536, ' ')))],
    ['body_too_large', 413, 'content_too_large', post(body, { 'content-length': ['9', '9'] })],
    ['body_timeout', 408, 'request_timeout', post({ state: 'unread', read: silent })],
    ['body_aborted', 400, 'request_aborted', post({ state: 'unread', read: aborted })],
  ])('%s is answered %i, and reaches onRefused', async (code, status, error, request) => {
    const { reply, codes } = await answer(request, 5);
    expect(codes).toEqual([code]);
    expect(reply).toMatchObject({ status, body: JSON.stringify({ error }) });
  });

  test('threat A22: every early refusal has a hint, and says nothing about the request', async () => {
    const onRefused = vi.fn();
    const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onRefused });
    await receiveCallback(post(body, { 'content-encoding': 'secret-encoding' }), receiver);
    const [refusal] = onRefused.mock.calls[0] ?? [];
    expect(Object.keys(refusal).sort()).toEqual(['authentic', 'code', 'hint', 'ok']);
    expect(refusal).toMatchObject({
      ok: false,
      authentic: false,
      hint: expect.stringMatching(/^The body has/),
    });
    expect(JSON.stringify(refusal)).not.toContain('secret-encoding');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', ''])(
    'the content type %j refuses nothing: only JSON decides',
    async (type) => {
      expect(await statusOf(post(unread(bytes), { 'content-type': type }))).toBe(200);
    },
  );

  test.each([
    ['GZIP', gzipSync(bytes)],
    ['x-gzip', gzipSync(bytes)],
    [' deflate ', deflateSync(bytes)],
    ['identity', bytes],
  ])('the content encoding %j is accepted', async (encoding, body) => {
    expect(await statusOf(post(unread(body), { 'content-encoding': encoding }))).toBe(200);
  });

  test.each<[name: string, connection: string | undefined, request: IncomingCallback]>([
    ['a declared length above the limit', 'close', post(body, { 'content-length': '65537' }, 'PUT')],
    ['a chunked body', 'close', post(body, { 'hmac-signature': '', 'transfer-encoding': 'chunked' })],
    [
      'a declared length up to the limit',
      undefined,
      post(body, { 'hmac-signature': '', 'content-length': '65536' }),
    ],
    ['no body', undefined, post(body, {}, 'GET')],
    ['a parsed body', undefined, post(parsed({}), { 'hmac-signature': '', 'content-length': '70000' })],
  ])(
    'threat A18: after an early refusal with %s, the header connection is %s',
    async (_, connection, request) => {
      expect((await answer(request)).reply?.headers['connection']).toBe(connection);
    },
  );
});

describe('threat A34: one size limit, with and without a body parser', () => {
  const padded = (length: number) =>
    JSON.stringify(callbackData({ extra: '' })).replace('"extra":""', (empty) =>
      empty.replace('""', `"${'x'.repeat(length - JSON.stringify(callbackData({ extra: '' })).length)}"`),
    );
  const largest = padded(65_536);
  const tooLarge = padded(65_537);

  test('the two bodies of these tests are one byte apart at the limit', () => {
    expect([largest.length, tooLarge.length]).toEqual([65_536, 65_537]);
  });

  test.each([
    ['an unread body', (body: string) => post(unread(Buffer.from(body)))],
    ['a parsed body without a declared length', (body: string) => post(parsed(JSON.parse(body)))],
    ['a body left as a string', (body: string) => post(parsed(body))],
    ['a body left as bytes', (body: string) => post(parsed(Buffer.from(body)))],
    [
      'a parsed body with a declared length',
      (body: string) => post(parsed(JSON.parse(body)), { 'content-length': `${body.length}` }),
    ],
    [
      'a parsed body that was compressed, whose declared length says little',
      (body: string) =>
        post(parsed(JSON.parse(body)), { 'content-length': '900', 'content-encoding': 'gzip' }),
    ],
  ])(
    'threat A34: %s is accepted with 64 KiB, and refused as body_too_large with one byte more',
    async (_, request) => {
      expect(await answer(request(largest))).toMatchObject({ reply: { status: 200 }, codes: [] });
      expect(await answer(request(tooLarge))).toMatchObject({
        reply: { status: 413 },
        codes: ['body_too_large'],
      });
    },
  );

  test('threat A34: a parser that reads numbers as bigint loses no callback, and lifts no limit', async () => {
    const extra = (digits: number) => post(parsed(callbackData({ extra: 10n ** BigInt(digits) })));
    expect(await statusOf(extra(30))).toBe(200);
    expect(await answer(extra(65_536))).toMatchObject({ reply: { status: 413 }, codes: ['body_too_large'] });
  });

  test('threat A34: a parsed body that is nested too deeply to measure is too large', async () => {
    const deep = JSON.parse(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`);
    expect(await answer(post(parsed(deep)))).toMatchObject({ reply: { status: 413 } });
  });
});

describe('compressed bodies', () => {
  test.each(inflateCases(text))('$name is answered $status', async ({ body, encoding, status, code }) => {
    const { reply, codes } = await answer(post(unread(body), { 'content-encoding': encoding }));
    expect(reply?.status).toBe(status);
    expect(codes).toEqual(code === undefined ? [] : [code]);
  });

  test.each([
    ['two members', Buffer.concat([gzipSync(text.slice(0, 50)), gzipSync(text.slice(50))])],
    ['an empty member before the body', Buffer.concat([gzipSync(''), gzipSync(text)])],
    ['an empty member after the body', Buffer.concat([gzipSync(text), gzipSync('')])],
    ['a trailing byte', Buffer.concat([gzipSync(text), Buffer.alloc(1)])],
    ['trailing zero bytes', Buffer.concat([gzipSync(text), Buffer.alloc(512)])],
    ['a second member that breaks off', Buffer.concat([gzipSync(text), gzipSync(text).subarray(0, 12)])],
    ['trailing bytes that repeat its length', Buffer.concat([gzipSync(text), gzipSync(text).subarray(-4)])],
  ])('gzip with %s is refused as body_malformed, on every Node', async (_, body) => {
    expect(await answer(post(unread(body), { 'content-encoding': 'gzip' }))).toMatchObject({
      reply: { status: 401 },
      codes: ['body_malformed'],
    });
  });

  test('deflate with a trailing byte is refused as body_malformed', async () => {
    const body = Buffer.concat([deflateSync(text), Buffer.alloc(1)]);
    const { codes } = await answer(post(unread(body), { 'content-encoding': 'deflate' }));
    expect(codes).toEqual(['body_malformed']);
  });
});

describe('requests of node:http', () => {
  type Listener = (chunk: Uint8Array | string) => void;

  /** The events of an IncomingMessage, in the order in which a test fires them. */
  function request(headers: NodeRequest['headers'], state: { isRead?: boolean; isDestroyed?: boolean } = {}) {
    const listeners = new Map<string, Set<Listener>>();
    const node: NodeRequest = {
      method: 'POST',
      headers,
      readableDidRead: state.isRead ?? false,
      destroyed: state.isDestroyed ?? false,
      on: (event, listener) => listeners.set(event, (listeners.get(event) ?? new Set()).add(listener)),
      off: (event, listener) => listeners.get(event)?.delete(listener),
      resume: () => undefined,
      pause: () => undefined,
    };
    const fire = (event: string, chunk: Uint8Array | string = ''): void => {
      for (const listener of listeners.get(event) ?? []) listener(chunk);
    };
    return { node, fire, listeners: (event: string) => listeners.get(event)?.size ?? 0 };
  }

  test.each<[name: string, pieces: (Buffer | string)[]]>([
    ['one piece', [bytes]],
    ['bytes in pieces', [bytes.subarray(0, 40), bytes.subarray(40, 41), bytes.subarray(41)]],
    ['strings, when an encoding was set on the stream', [text.slice(0, 40), text.slice(40)]],
    ['an empty piece first', [Buffer.alloc(0), bytes]],
  ])('decision D10: a body is read from %s', async (_, pieces) => {
    const { node, fire } = request({ 'hmac-signature': SIGNATURE });
    const answered = statusOf(incomingCallback(node));
    for (const piece of pieces) fire('data', piece);
    fire('end');
    expect(await answered).toBe(200);
  });

  test('a request that closes early is answered as aborted', async () => {
    const { node, fire } = request({ 'hmac-signature': SIGNATURE });
    const answered = answer(incomingCallback(node));
    fire('data', bytes.subarray(0, 40));
    fire('close');
    expect((await answered).codes).toEqual(['body_aborted']);
  });

  test('threat A18: a body over the limit is paused, and no more of it is read', async () => {
    const { node, fire, listeners } = request({ 'hmac-signature': SIGNATURE });
    const pause = vi.spyOn(node, 'pause');
    const answered = answer(incomingCallback(node));
    fire('data', Buffer.alloc(65_537, ' '));
    expect((await answered).codes).toEqual(['body_too_large']);
    expect(listeners('data')).toBe(0);
    expect(pause).toHaveBeenCalledOnce();
  });

  test('a request that is already destroyed is answered as aborted', async () => {
    const { node } = request({ 'hmac-signature': SIGNATURE }, { isDestroyed: true });
    expect((await answer(incomingCallback(node))).codes).toEqual(['body_aborted']);
  });

  test('threat A38: a bridge that fills headers and no rawHeaders gets the same verdicts', async () => {
    const read = { isRead: true };
    const header = (value: string | string[]) => request({ 'hmac-signature': value }, read).node;
    expect(await statusOf(incomingCallback(header(SIGNATURE), callbackData()))).toBe(200);
    expect(await statusOf(incomingCallback(header(`${SIGNATURE}, ${SIGNATURE}`), callbackData()))).toBe(401);
    expect(await statusOf(incomingCallback(header([SIGNATURE, SIGNATURE]), callbackData()))).toBe(401);
  });

  test('decision D10: unread bytes count more than the empty object that a parser leaves', async () => {
    const { node, fire } = request({ 'hmac-signature': SIGNATURE });
    const answered = statusOf(incomingCallback(node, {}));
    fire('data', bytes);
    fire('end');
    expect(await answered).toBe(200);
  });
});
