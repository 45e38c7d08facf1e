import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type HttpBindings, serve } from '@hono/node-server';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { describe, expect, test } from 'vitest';
import { paymentCallbacks } from '../src/index.ts';

const signingKey = 'FetchTestSigningKey1';
const data = sampleCallback();
const text = JSON.stringify(data);
const signature = signCallback({ signingKey, data });
const path = '/payments/callbacks';

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly seen: number;
}

/** One request to a real server, whose route receives Hono's context after that middleware. */
async function answerAfter(
  middleware: MiddlewareHandler<{ Bindings: HttpBindings }>,
  init: RequestInit = {},
): Promise<Answered> {
  let seen = 0;
  const onCallback = (): void => void seen++;
  const onError = (): void => undefined;
  const callbacks = paymentCallbacks({ signingKey, onCallback, onError, bodyTimeoutMs: 500 });
  const app = new Hono<{ Bindings: HttpBindings }>().use(middleware).all(path, callbacks);
  // With a small buffer, a body stops arriving when one of its streams is full and is not read.
  const serverOptions = { highWaterMark: 1024 };
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', createServer, serverOptions });
  try {
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    const headers = { 'hmac-signature': signature };
    const response = await fetch(url, { method: 'POST', headers, body: text, ...init });
    return { status: response.status, text: await response.text(), seen };
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

const ACCEPTED: Answered = { status: 200, text: '{"status":"accepted"}', seen: 1 };

/** A body without a content-length. */
const chunked = (body: string | Uint8Array): RequestInit => ({
  body: new Blob([body as Uint8Array<ArrayBuffer>]).stream(),
  duplex: 'half',
});

/** As long as a body may be, in chunks that the server does not receive together. */
function inPieces(): RequestInit {
  const bytes = new TextEncoder().encode(text.padEnd(64 * 1024));
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent === bytes.length) return controller.close();
      await new Promise(setImmediate);
      controller.enqueue(bytes.subarray(sent, sent + 4096));
      sent += 4096;
    },
  });
  return { body, duplex: 'half' };
}

/** Replaces the request of the context, like some middleware of Hono. */
function replace(context: Context, init: RequestInit): void {
  context.req.raw = new Request(context.req.raw, { duplex: 'half', ...init });
}

/** Middleware that does this before it calls the next. */
function before(act: (context: Context<{ Bindings: HttpBindings }>) => unknown): MiddlewareHandler {
  return async (context, next) => {
    await act(context);
    await next();
  };
}

const AGREEABLE: Readonly<Record<string, MiddlewareHandler>> = {
  'nothing at all': before(() => undefined),
  'a look at the headers': before(({ req }) => expect(req.header('hmac-signature')).toBe(signature)),
  'a look at the signal': before(({ req }) => expect(req.raw.signal.aborted).toBe(false)),
  'a clone that is not read': before(({ req }) => void req.raw.clone()),
  'a clone that is read at the same time': before(({ req }) => void req.raw.clone().text()),
  'a clone that has been read': before(async ({ req }) =>
    expect(await req.raw.clone().text()).toContain(text),
  ),
  'a look at the stream': before(({ req }) => expect(req.raw.body?.locked).toBe(false)),
  'a request with the same body': before((context) => replace(context, {})),
  'a request with the body in a stream of its own': before((context) =>
    replace(context, { body: context.req.raw.body }),
  ),
  'the body limit of Hono': bodyLimit({ maxSize: 100_000 }),
};

const SENDINGS: Readonly<Record<string, () => RequestInit>> = {
  'with a content-length': () => ({}),
  'in chunks': () => chunked(text),
  'in many pieces': inPieces,
};
const cases = Object.entries(AGREEABLE).flatMap(([name, middleware]) =>
  Object.entries(SENDINGS).map(([sent, init]) => [name, sent, middleware, init] as const),
);

test.each(cases)(
  'the context of Hono, on Node: a genuine callback is accepted after %s, %s',
  async (_name, _sent, middleware, init) => {
    expect(await answerAfter(middleware, init())).toEqual(ACCEPTED);
  },
);

const zipped = gzipSync(text);
const REFUSED = { status: 401, text: '{"error":"unauthorized"}', seen: 0 };

test.each<[string, Answered, (context: Context<{ Bindings: HttpBindings }>) => void, RequestInit?]>([
  [
    'decompressed it',
    ACCEPTED,
    (context) => replace(context, { body: gunzipSync(zipped) }),
    { body: zipped },
  ],
  [
    'written another body',
    REFUSED,
    (context) => replace(context, { body: text.replace(data.payload.merchant_reference, 'ORD-OTHER') }),
  ],
  ['taken the signature away', REFUSED, (context) => replace(context, { headers: {} })],
  [
    'named in its environment a request that it was not made of',
    ACCEPTED,
    (context) => {
      context.env = { ...context.env, incoming: Object.create(context.env.incoming) };
    },
  ],
])(
  'the context of Hono, on Node: the request of the context counts when middleware has %s',
  async (_name, answer, change, init) => {
    expect(await answerAfter(before(change), init)).toEqual(answer);
  },
);

describe('the context of Hono, on Node', () => {
  test.each<[string, (context: Context) => Promise<unknown>]>([
    ['by a reader of Hono', (context) => context.req.text()],
    ['from the request', (context) => context.req.raw.text()],
  ])('a body that was read before %s is answered with body_consumed', async (_name, read) => {
    const answer = { status: 429, text: '{"error":"body_consumed"}', seen: 0 };
    expect(await answerAfter(before(read))).toEqual(answer);
  });

  test.each([
    ['the context', 0, (context: Context): Context | Request => context],
    ['its request', 1, (context: Context): Context | Request => context.req.raw],
  ])('the body stream of %s is created %i times', async (_name, times, from) => {
    let made = 0;
    const callbacks = paymentCallbacks({ signingKey, onCallback: () => undefined });
    const middleware: MiddlewareHandler = (context) => {
      const getBody = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(context.req.raw), 'body')?.get;
      Object.defineProperty(context.req.raw, 'body', {
        get() {
          made++;
          return getBody?.call(this);
        },
      });
      return callbacks(from(context));
    };
    expect(await answerAfter(middleware)).toEqual({ ...ACCEPTED, seen: 0 });
    expect(made).toBe(times);
  });
});

test('threat A44: a body without a length in the context of Hono is read up to the limit', async () => {
  const answer = { status: 413, text: '{"error":"content_too_large"}', seen: 0 };
  for (const bytes of [64 * 1024 + 1, 1_000_000])
    expect(
      await answerAfter(
        before(() => undefined),
        chunked(text.padEnd(bytes)),
      ),
    ).toEqual(answer);
});

describe('the context of Hono, elsewhere', () => {
  const callbacks = paymentCallbacks({ signingKey, onCallback: () => undefined });
  const app = new Hono().route('/payments', new Hono().post('/callbacks', callbacks));
  const request = { method: 'POST', headers: { 'hmac-signature': signature }, body: text };

  test.each<[string, unknown]>([
    ['no environment', undefined],
    ['bindings of a worker', { SIGNING_KEY: signingKey }],
    ['a binding that has the name of the request of Node', { incoming: { url: 'https://queue.example' } }],
    ['a binding that is text', { incoming: 'https://queue.example' }],
  ])('a genuine callback is accepted with %s', async (_name, env) => {
    const response = await app.request(path, request, env as object);
    expect([response.status, await response.text()]).toEqual([ACCEPTED.status, ACCEPTED.text]);
  });
});
