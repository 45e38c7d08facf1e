import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { Agent, RetryAgent, type RequestInit as UndiciInit, fetch as undiciFetch } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import type { FetchInit } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { Sent } from '../../src/errors.ts';
import { listening } from '../listening.ts';
import { cert, key } from './unverified-certificate.ts';
import { publicKey } from './wire-samples.ts';

type Fetch = (url: string, init: FetchInit) => Promise<Response>;
/** undici's own fetch, whose types are those of another copy of the same classes. */
const through =
  (dispatcher: Agent | RetryAgent): Fetch =>
  async (url, init) =>
    new Response(...(await copied(await undiciFetch(url, { ...init, dispatcher } as UndiciInit))));

async function copied(response: {
  status: number;
  text(): Promise<string>;
}): Promise<[string, ResponseInit]> {
  return [await response.text(), { status: response.status }];
}

/** A wrapper as merchants write it: repeats what fails, and throws its last error. */
const repeating =
  (fetch: Fetch, times = 3): Fetch =>
  async (url, init) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await fetch(url, init);
      } catch (error) {
        if (attempt === times || init.signal.aborted) throw error;
      }
    }
  };

const plain: Fetch = (url, init) => fetch(url, init);
const RETRIES = { maxRetries: 3, minTimeout: 1, methods: ['POST' as const] };

const TRANSPORTS = {
  plain: () => plain,
  undici: () => through(new Agent()),
  'a wrapper that repeats': () => repeating(plain),
  'undici that repeats': () => through(new RetryAgent(new Agent(), RETRIES)),
  'HTTP/2': () => through(new Agent({ allowH2: true, connect: { ca: cert } })),
  'HTTP/2 that repeats': () => repeating(through(new Agent({ allowH2: true, connect: { ca: cert } }))),
};

/** What the service does with a connection, by the number of connections that it had before. */
const BEHAVIOURS = {
  'refuses every connection': () => 'refuse',
  'reads and answers 201': () => 201,
  'reads and answers 422': () => 422,
  'reads and answers 409': () => 409,
  'reads and breaks off': () => 'break',
  'reads, breaks off, and is gone': (before: number) => (before === 0 ? 'last' : 'refuse'),
  'breaks off unread': () => 'unread',
} as const;

/** When the caller ends the call. */
const MOMENTS = ['never', 'before', 'connected', 'read', 'in onResponse', 'in a schema', 'after'] as const;

interface Service {
  readonly baseUrl: string;
  /** The ids that it has read a byte of the body of. */
  readonly read: Set<string>;
  on(event: 'connected' | 'read', act: () => void): void;
}

/** A service on HTTP/1.1 or HTTP/2 that behaves as it is told. */
async function newService(behaviour: keyof typeof BEHAVIOURS, isSecure: boolean): Promise<Service> {
  const read = new Set<string>();
  const acts = new Map<string, () => void>();
  const answer = (status: number): string =>
    JSON.stringify({ code: status, status: status < 400 ? 'success' : 'error', message: 'Done', data: {} });
  const what = BEHAVIOURS[behaviour];
  let connections = 0;
  const ofRequest = (body: string, how: ReturnType<typeof what>): void => {
    const [, id] = /"id":"([^"]+)"/.exec(body) ?? [];
    if (id !== undefined) read.add(id);
    acts.get('read')?.();
    if (how === 'last') server.close();
  };
  const sockets = new Set<Socket>();
  const server = isSecure ? createSecureServer({ cert, key }) : createServer();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
    acts.get('connected')?.();
    const how = what(connections);
    connections += 1;
    if (how === 'unread') return socket.resetAndDestroy();
    if (isSecure) return;
    let text = '';
    socket.on('data', (piece) => {
      text += piece;
      if (!/\r\n\r\n\{.*\}$/s.test(text)) return;
      ofRequest(text, how);
      if (typeof how !== 'number') return socket.resetAndDestroy();
      const body = answer(how);
      socket.end(`HTTP/1.1 ${how} X\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
    });
  });
  (server as Http2SecureServer).on('stream', (stream) => {
    let text = '';
    stream.on('error', () => undefined);
    stream.on('data', (piece) => {
      text += piece;
      if (!text.endsWith('}')) return;
      const how = what(connections - 1);
      ofRequest(text, how);
      if (typeof how !== 'number') return stream.session?.destroy();
      stream.respond({ ':status': how });
      stream.end(answer(how));
    });
  });
  const port = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  if (behaviour === 'refuses every connection') {
    server.close();
    await once(server, 'close');
  }
  const baseUrl = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`;
  return { baseUrl, read, on: (event, act) => void acts.set(event, act) };
}

test.each(Object.keys(TRANSPORTS) as (keyof typeof TRANSPORTS)[])(
  'through %s, what an error says was sent agrees with what the service has read, whenever the caller ends the call',
  async (transport) => {
    const claims = new Map<string, number>();
    for (const behaviour of Object.keys(BEHAVIOURS) as (keyof typeof BEHAVIOURS)[]) {
      for (const moment of MOMENTS) {
        const service = await newService(behaviour, transport.startsWith('HTTP/2'));
        const aborting = new AbortController();
        const abort = (): void => aborting.abort(new Error('the customer left'));
        if (moment === 'before') abort();
        if (moment === 'connected' || moment === 'read') service.on(moment, abort);
        const client = createClient({
          baseUrl: service.baseUrl,
          publicKey,
          fetch: TRANSPORTS[transport](),
          timeoutMs: 5000,
          onResponse: () => moment === 'in onResponse' && abort(),
        });
        const validate = async (value: unknown) => {
          if (moment === 'in a schema') abort();
          return { value };
        };
        const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
        const id = `${behaviour}, ${moment}`;
        const start = {
          method: 'POST',
          path: '/collections',
          body: { id },
          signal: aborting.signal,
        } as const;
        const call = moment === 'in a schema' ? client.request({ ...start, schema }) : client.request(start);
        const claim = await call.then(
          () => 'success' as const,
          (error: { sent: Sent }) => error.sent,
        );
        if (moment === 'after') abort();
        const isRead = service.read.has(id);
        // Nothing is claimed that the service contradicts.
        if (claim === 'no' || claim === 'unknown' ? claim === 'no' && isRead : !isRead)
          expect.fail(`${transport}: ${id}: ${claim}, and the service has ${isRead ? '' : 'not '}read it`);
        if (moment === 'before') expect(claim, id).toBe('no');
        const isLate = ['never', 'in onResponse', 'after'].includes(moment);
        // A complete result is returned, whatever the hook does.
        if (isLate && behaviour === 'reads and answers 201') expect(claim, id).toBe('success');
        if (moment === 'never' && behaviour === 'reads and answers 422') expect(claim, id).toBe('refused');
        if (moment === 'never' && behaviour === 'reads and answers 409') expect(claim, id).toBe('unknown');
        const isOnce = !transport.includes('repeats');
        // Where one request was made and no connection, that is a proof.
        if (isOnce && moment === 'never' && behaviour === 'refuses every connection')
          expect(claim, id).toBe('no');
        claims.set(claim, (claims.get(claim) ?? 0) + 1);
      }
    }
    expect([...claims.keys()].toSorted()).toEqual(['no', 'refused', 'success', 'unknown']);
  },
);

const withCode = (code: string, syscall?: string, cause?: Error): Error =>
  Object.assign(new Error(code, { cause }), { code, ...(syscall && { syscall }) });
const refused = withCode('ECONNREFUSED', 'connect');
const notFound = withCode('ENOTFOUND', 'getaddrinfo');
const reset = withCode('ECONNRESET', 'read', refused);
test.each<[what: string, sent: Sent, cause: Error, isRequested?: boolean]>([
  ['a refused connection', 'no', refused],
  ['every address of a host that failed', 'no', new AggregateError([refused, notFound])],
  ['one of the addresses of a host that failed', 'unknown', new AggregateError([refused, reset])],
  ['an older refused connection below a reset', 'unknown', reset],
  [
    'an older refused connection below a closed one',
    'unknown',
    withCode('UND_ERR_SOCKET', undefined, refused),
  ],
  ['a refused connection of no request', 'unknown', refused, false],
])('%s claims for what was sent: %s', async (_what, sent, cause, isRequested = true) => {
  const { baseUrl } = await newService('refuses every connection', false);
  const fetch: Fetch = async (url, init) => {
    // One request that is never written, as the client sees it.
    if (isRequested) await plain(url, init).catch(() => undefined);
    throw new TypeError('fetch failed', { cause });
  };
  const call = createClient({ baseUrl, publicKey, fetch }).request({ method: 'POST', path: '/a' });
  await expect(call).rejects.toMatchObject({ code: 'connection_failed', sent });
});
