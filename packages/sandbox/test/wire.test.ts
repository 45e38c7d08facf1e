import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createSandbox, type Sandbox, type SandboxAttempt, type SandboxOptions } from '../src/index.ts';
import { collection } from './support/api.ts';
import { open, textOf, unescaped } from './support/pages.ts';

/** A receiver that knows no HTTP: it keeps the bytes of each connection, and answers with bytes. */
let server: Server | undefined;
let sandbox: Sandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  vi.restoreAllMocks();
});

async function receive(answer: string | Buffer, options: SandboxOptions = {}, path = '/callbacks') {
  const bytes: Buffer[] = [];
  const isWhole = (): boolean => {
    const text = Buffer.concat(bytes).toString('latin1');
    const [head = '', body] = text.split('\r\n\r\n');
    return body?.length === Number(/content-length: (\d+)/i.exec(head)?.[1]);
  };
  server = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      bytes.push(chunk);
      if (isWhole()) socket.end(answer);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  sandbox = createSandbox({
    callbackUrl: `http://127.0.0.1:${port}${path}`,
    retry: { preset: 'none' },
    ...options,
  });
  sandbox.collect({ ...collection, customer_name: 'Zoë 日本' });
  await sandbox.idle();
  const [delivery] = sandbox.deliveries();
  const [attempt] = delivery?.attempts ?? [];
  if (attempt === undefined) throw new Error('nothing was sent');
  return { received: Buffer.concat(bytes), attempt, delivery };
}

function running(): Sandbox {
  if (sandbox === undefined) throw new Error('no sandbox was started');
  return sandbox;
}

const ok = 'HTTP/1.1 200 OK\r\nX-First: a\r\nx-second: b\r\nX-First: c\r\ncontent-length: 2\r\n\r\nok';

/** The bytes that a record describes. */
function bytesOf({ request }: SandboxAttempt): Buffer {
  if (request === null) throw new Error('nothing was sent');
  const { pathname, search } = new URL(request.url);
  const head = [
    `${request.method} ${pathname}${search} HTTP/1.1`,
    ...request.headers.map((one) => one.join(': ')),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${request.body}`);
}

describe('an attempt is recorded as sent', () => {
  test('byte for byte', async () => {
    const { received, attempt } = await receive(ok, {}, '/pay/callbacks?shop=1&x=%20');
    expect(received.equals(bytesOf(attempt))).toBe(true);
    expect(received.toString()).toContain('Zoë 日本');
    expect(attempt.request?.headers.map(([name]) => name)).toEqual([
      'host',
      'connection',
      'content-length',
      'user-agent',
      'content-type',
      'hmac-signature',
    ]);
    // Control: another byte is another record.
    const { request } = attempt;
    if (request === null) throw new Error('nothing was sent');
    const other = { ...attempt, request: { ...request, body: `${request.body} ` } };
    expect(received.equals(bytesOf(other))).toBe(false);
  });

  test('byte for byte on its page as well', async () => {
    const { received, delivery } = await receive(ok, {}, '/pay/callbacks?shop=1&x=%20');
    const { text } = await open(running(), `/deliveries/${delivery?.id}`);
    const [, attempt = ''] =
      /<details class="card" id="attempt-1" open>.*?<h2>Request<\/h2>(.*)/s.exec(text) ?? [];
    const [, head = '', body = ''] =
      /<pre class="wire">(.*?)<\/pre><div class="wire json">(.*?)<\/div>/s.exec(attempt) ?? [];
    const exact = (html: string): string => unescaped(html.replaceAll(/<[^>]+>/g, ''));
    // Each value stands on a line of its own, with a space after its name, and says whether it is signed.
    const values = body
      .replaceAll(/<small>.*?<\/small>|<span class="hidden-text">.*?<\/span>/g, '')
      .split('</span></span>')
      .map((line) =>
        exact(line)
          .trimStart()
          .replace(/^("\w+"): /, '$1:'),
      );
    const shown = `${exact(head).replaceAll('\n', '\r\n')}\r\n\r\n${values.join('')}`;
    expect(shown).toBe(received.toString());
  });

  test('with its signature, t, key and the string that was signed', async () => {
    const { attempt, delivery } = await receive(ok, { misbehave: { bad_signature: true } });
    const { internal_reference } = JSON.parse(delivery?.body ?? '').payload;
    const [, t] = /^t=(\d+),s=[0-9a-f]{64}$/.exec(attempt.request?.signature ?? '') ?? [];
    expect(attempt.request).toMatchObject({
      t,
      key: 'other',
      signed_string: `transaction.completed:ORD-1:${internal_reference}:COLLECTION:COMPLETED`,
    });
  });

  test('with the answer: status, headers as spelled and in order, body and its length', async () => {
    const { attempt } = await receive(ok);
    expect(attempt).toMatchObject({ status: 200, error: null, error_code: null, ms: expect.any(Number) });
    expect(attempt.response).toEqual({
      headers: [
        ['X-First', 'a'],
        ['x-second', 'b'],
        ['X-First', 'c'],
        ['content-length', '2'],
      ],
      body: 'ok',
      bytes: 2,
      is_cut: false,
    });
  });

  test.each([
    ['content-length: 40000\r\n', 40_000],
    ['', null],
  ])('of a long answer with %j the first 16 KiB, and how long it was', async (header, bytes) => {
    const { attempt } = await receive(`HTTP/1.1 500 No\r\n${header}\r\n${'é'.repeat(20_000)}`);
    const body = 'é'.repeat(8192);
    expect(attempt.response).toMatchObject({ body, bytes, is_cut: true });
    const page = textOf((await open(running(), '/deliveries/1')).text);
    expect(page).toContain(`Cut: this is the start${bytes === null ? '' : ' of 40,000 bytes'}.`);
    expect(attempt).toMatchObject({ status: 500, error: null });
  });

  test('a body of exactly 16 KiB is complete', async () => {
    const { attempt } = await receive(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(16_384)}`);
    expect(attempt.response).toMatchObject({ bytes: 16_384, is_cut: false });
  });

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n', 'HPE_INVALID_CONSTANT', null],
    ['a body that ends early', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok', 'ECONNRESET', 200],
    ['no answer', '', 'ECONNRESET', null],
  ])('%s is an error with its code', async (_, answer, error_code, status) => {
    const { attempt, received } = await receive(answer);
    expect(attempt).toMatchObject({ status, error: error_code, error_code, ms: expect.any(Number) });
    expect(received.equals(bytesOf(attempt))).toBe(true);
  });

  test('101 is an attempt without an answer', async () => {
    const { attempt } = await receive('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    expect(attempt).toMatchObject({
      status: null,
      error: 'the connection was closed without an answer',
      error_code: null,
    });
  });
});

describe('another sender', () => {
  test('an injected fetch: the record has the headers passed to it', async () => {
    const given: [string, string][] = [];
    const { attempt } = await receive(ok, {
      fetch: async (url, init) => {
        const request = new Request(url, init);
        given.push(...request.headers);
        return new Response('thanks', { status: 202, headers: { 'x-a': 'b' } });
      },
    });
    expect([...(attempt.request?.headers ?? [])].sort()).toEqual(given.sort());
    expect(attempt).toMatchObject({ status: 202, response: { body: 'thanks', bytes: 6, is_cut: false } });
    expect(attempt.response?.headers).toContainEqual(['x-a', 'b']);
  });

  test("without Node's modules, the platform's fetch", async () => {
    const getBuiltinModule = process.getBuiltinModule;
    vi.spyOn(process, 'getBuiltinModule').mockImplementation((name: string) =>
      name.includes('http') ? undefined : getBuiltinModule(name),
    );
    const { received, attempt } = await receive(ok);
    expect(received.toString()).toContain('sec-fetch-mode');
    expect(attempt.request?.headers.map(([name]) => name)).not.toContain('sec-fetch-mode');
    expect(attempt.status).toBe(200);
  });
});
