import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { SandboxAttempt, SandboxOptions } from '../src/index.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
/** A receiver without HTTP: it keeps the bytes of each connection, and responds with bytes. */
let server: Server | undefined;
afterEach(async () => {
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
});

async function receive(answer: string, options: SandboxOptions = {}, path = '/callbacks') {
  const bytes: Buffer[] = [];
  const isWhole = (): boolean => {
    const text = Buffer.concat(bytes).toString('latin1');
    const [head = '', body] = text.split('\r\n\r\n');
    return body?.length === Number(/content-length: (\d+)/i.exec(head)?.[1]);
  };
  const listening = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      bytes.push(chunk);
      if (isWhole()) socket.end(answer);
    });
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const address = listening.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const callbackUrl = `http://127.0.0.1:${port}${path}`;
  stage.open({ callbackUrl, retry: { preset: 'none' }, ...options });
  await stage.deliver({ customer_name: 'Zoë 日本' });
  const [attempt] = stage.sandbox.deliveries()[0]?.attempts ?? [];
  if (attempt?.request == null) throw new Error('nothing was sent');
  return { received: Buffer.concat(bytes).toString(), attempt, request: attempt.request };
}

const ok = 'HTTP/1.1 200 OK\r\nX-First: a\r\nx-second: b\r\nX-First: c\r\ncontent-length: 2\r\n\r\nok';

/** What a record describes, as bytes on the wire. */
function recorded({ method, url, headers, body }: NonNullable<SandboxAttempt['request']>): string {
  const { pathname, search } = new URL(url);
  const head = [`${method} ${pathname}${search} HTTP/1.1`, ...headers.map((one) => one.join(': '))];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

test('an attempt is recorded as sent, byte for byte, with the answer: its headers as spelled and in order, its body and length', async () => {
  const { received, attempt, request } = await receive(ok, {}, '/pay/callbacks?shop=1&x=%20');
  expect(attempt).toMatchObject({ status: 200, error: null, error_code: null, ms: expect.any(Number) });
  const answered = 'X-First: a, x-second: b, X-First: c, content-length: 2'.split(', ');
  const headers = answered.map((line) => line.split(': '));
  expect(attempt.response).toEqual({ headers, body: 'ok', bytes: 2, is_cut: false });
  expect(recorded(request)).toBe(received);
  expect(received).toContain('Zoë 日本');
  const names = ['host', 'connection', 'content-length', 'user-agent', 'content-type', 'hmac-signature'];
  expect(request.headers.map(([name]) => name)).toEqual(names);
  // Control: another byte is another record.
  expect(recorded({ ...request, body: `${request.body} ` })).not.toBe(received);
});

test.each([
  ['content-length: 40000\r\n', 20_000, 40_000, 'Cut: this is the start of 40,000 bytes.'],
  ['', 20_000, null, 'Cut: this is the start.'],
  ['', 8192, 16_384, undefined],
])(
  'an attempt is recorded with the first 16 KiB of an answer with %j and %i times é, and its size: %j',
  async (header, length, bytes, says) => {
    const { attempt } = await receive(`HTTP/1.1 500 No\r\n${header}\r\n${'é'.repeat(length)}`);
    const response = { body: 'é'.repeat(8192), bytes, is_cut: says !== undefined };
    expect(attempt).toMatchObject({ status: 500, error: null, response });
    expect(await stage.read('/deliveries/1')).toContain(says ?? 'é'.repeat(8192));
  },
);

const early = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok';
const upgrade = 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n';
test.each([
  ['no HTTP', 'SSH-2.0-OpenSSH\r\n', null, 'HPE_INVALID_CONSTANT'],
  ['a body that ends early', early, 200, 'ECONNRESET'],
  ['no answer', '', null, 'ECONNRESET'],
  ['101', upgrade, null, null],
])('an attempt is recorded with the error and its code: %s', async (_, answer, status, error_code) => {
  const { attempt, request, received } = await receive(answer);
  const error = error_code ?? 'the connection was closed without an answer';
  expect(attempt).toMatchObject({ status, error, error_code, ms: expect.any(Number) });
  expect(recorded(request)).toBe(received);
});

test('with an injected fetch, the record has the headers passed to it', async () => {
  const given: [string, string][] = [];
  const { attempt, request } = await receive(ok, {
    fetch: async (url, init) => {
      given.push(...new Request(url, init).headers);
      return new Response('thanks', { status: 202, headers: { 'x-a': 'b' } });
    },
  });
  expect([...request.headers].sort()).toEqual(given.sort());
  expect(attempt).toMatchObject({ status: 202, response: { body: 'thanks', bytes: 6, is_cut: false } });
  expect(attempt.response?.headers).toContainEqual(['x-a', 'b']);
});
