import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Refusal } from '@payment-service/core';
import {
  type IncomingBody,
  type IncomingCallback,
  incomingCallback,
  type Reply,
} from '@payment-service/core/receive';
import { describe, expect, test } from 'vitest';
import type { CallbackRoute, Mode, RedirectRoute } from '../src/index.ts';
import { playCallback, playRedirect } from '../src/observation.ts';
import { BRIDGE_SCENARIOS, CALLBACK_SCENARIOS, REDIRECT_SCENARIOS } from '../src/scenarios/index.ts';
import { NodeHttp } from './node-http.ts';

// A suite that cannot fail proves nothing: each adapter here breaks one rule, and the scenario of that rule must fail.
// node-http.test.ts shows that the unbroken adapter passes all scenarios.

// Above the hang guard, whose message says more.
const TIMEOUT = { timeout: 60_000 };

/** An adapter that describes the request wrongly. */
function translating(wrongly: (request: IncomingMessage, parsed: unknown) => IncomingCallback): NodeHttp {
  return Object.assign(new NodeHttp(), { translate: wrongly });
}

function reading(wrongly: (body: IncomingBody, request: IncomingMessage) => IncomingBody): NodeHttp {
  return translating((request, parsed) => {
    const incoming = incomingCallback(request, parsed);
    return { ...incoming, body: wrongly(incoming.body, request) };
  });
}

type Header = IncomingCallback['header'];

/** An adapter that reports headers that the request does not have. */
function heading(wrongly: (header: Header, request: IncomingMessage) => Header): NodeHttp {
  return translating((request, parsed) => {
    const incoming = incomingCallback(request, parsed);
    return { ...incoming, header: wrongly(incoming.header, request) };
  });
}

/** The values of a header in `rawHeaders`, which a bridge leaves empty. */
function rawValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  );
}

/** Converts every chunk to a string, which breaks characters that two chunks share. */
function decodingChunks(body: IncomingBody): IncomingBody {
  if (body.state !== 'unread') return body;
  return {
    ...body,
    read: (sink, length) =>
      body.read({ ...sink, chunk: (piece) => sink.chunk(Buffer.from(piece).toString()) }, length),
  };
}

/** Collects the whole body before core sees a byte of it: Node's own gunzip accepts what core refuses. */
function gunzipping(body: IncomingBody): IncomingBody {
  if (body.state !== 'unread') return body;
  return {
    ...body,
    read: (sink, length) => {
      const chunks: Buffer[] = [];
      const whole = {
        ...sink,
        chunk: (piece: Uint8Array | string) => chunks.push(Buffer.from(piece)),
        end: () => {
          try {
            sink.chunk(gunzipSync(Buffer.concat(chunks)));
            sink.end();
          } catch {
            sink.abort();
          }
        },
      };
      return body.read(whole, length);
    },
  };
}

class WithoutHeaders extends NodeHttp {
  override answer(response: ServerResponse, answer: Reply): void {
    super.answer(response, { ...answer, headers: { 'content-type': 'application/json; charset=utf-8' } });
  }
}

class KeepsConnections extends NodeHttp {
  override answer(response: ServerResponse, { headers, ...answer }: Reply): void {
    const { connection: _, ...others } = headers;
    super.answer(response, { ...answer, headers: others });
  }
}

class ClosesConnections extends NodeHttp {
  override answer(response: ServerResponse, { headers, ...answer }: Reply): void {
    super.answer(response, { ...answer, headers: { ...headers, connection: 'close' } });
  }
}

/** Replaces the options of every route. */
class Reconfigured extends NodeHttp {
  readonly #change: (options: CallbackRoute['options']) => CallbackRoute['options'];

  constructor(change: (options: CallbackRoute['options']) => CallbackRoute['options']) {
    super();
    this.#change = change;
  }

  override callbacks(route: CallbackRoute): ReturnType<NodeHttp['callbacks']> {
    return super.callbacks({ ...route, options: this.#change(route.options) });
  }
}

const hasty = (): NodeHttp =>
  new Reconfigured(({ onCallback, ...options }) => ({
    ...options,
    onCallback: (callback) => {
      Promise.resolve(onCallback?.(callback)).catch(() => undefined);
    },
  }));

const hastyWithFunctions = (): NodeHttp =>
  new Reconfigured(({ onCallback, ...options }) => ({
    ...options,
    onCallback: (callback) => {
      const running = onCallback?.(callback);
      if (typeof running !== 'function') return running;
      Promise.resolve(running).catch(() => undefined);
    },
  }));

const silentAbout = (code: Refusal['code']): NodeHttp =>
  new Reconfigured(({ onRefused, ...options }) => ({
    ...options,
    onRefused: (refusal) => {
      if (refusal.code !== code) onRefused?.(refusal);
    },
  }));

const reportsTwice = (): NodeHttp =>
  new Reconfigured(({ onRefused, ...options }) => ({
    ...options,
    onRefused: (refusal) => {
      onRefused?.(refusal);
      onRefused?.(refusal);
    },
  }));

class Talkative extends NodeHttp {
  override callbacks(route: CallbackRoute): ReturnType<NodeHttp['callbacks']> {
    let code = '';
    const onRefused = (refusal: Refusal): void => {
      code = refusal.code;
      route.options.onRefused?.(refusal);
    };
    this.answer = (response, answer) => {
      const body = answer.status === 401 ? JSON.stringify({ error: code }) : answer.body;
      super.answer(response, { ...answer, body });
    };
    return super.callbacks({ ...route, options: { ...route.options, onRefused } });
  }
}

/** Refuses content types, as core once did. */
class StrictAboutTypes extends NodeHttp {
  override callbacks(route: CallbackRoute): ReturnType<NodeHttp['callbacks']> {
    this.answer = (response, answer) => {
      const isJson = response.req.headers['content-type'] === 'application/json';
      super.answer(response, isJson ? answer : { ...answer, status: 415 });
    };
    return super.callbacks(route);
  }
}

class PassesEverythingThrough extends NodeHttp {
  override answer(response: ServerResponse): void {
    response.statusCode = 202;
    response.setHeader('content-type', 'text/plain');
    response.end('passed through');
  }
}

class WithoutPrivacy extends NodeHttp {
  override async passThrough(response: ServerResponse, handle: () => Promise<string>): Promise<void> {
    response.removeHeader('referrer-policy');
    await super.passThrough(response, handle);
  }
}

class ReadsTheQueryFirst extends NodeHttp {
  override redirects(route: RedirectRoute): ReturnType<NodeHttp['redirects']> {
    this.target = (request) => {
      const { searchParams } = new URL(request.url ?? '', 'http://shop.example');
      return `/?${new URLSearchParams(Object.fromEntries(searchParams))}`;
    };
    return super.redirects(route);
  }
}

type Fault = readonly [fault: string, adapter: () => NodeHttp, mode: Mode, mustFail: string];

const CALLBACK_FAULTS: readonly Fault[] = [
  [
    'forgets the parsed body',
    () => translating((request) => incomingCallback(request)),
    'handler',
    'a callback behind a parser that keeps json verifies',
  ],
  [
    'takes the first of repeated headers',
    () => heading((_header, request) => (name) => rawValues(request, name)[0]),
    'handler',
    'a repeated content-encoding header is refused',
  ],
  [
    'takes the last of repeated headers',
    () => heading((_header, request) => (name) => rawValues(request, name).at(-1)),
    'pass-through',
    'threat A12: a repeated header is refused',
  ],
  [
    'reads headers from rawHeaders',
    () => heading((_header, request) => (name) => rawValues(request, name)),
    'handler',
    'threat A38: a callback from a bridge without rawHeaders verifies',
  ],
  [
    'takes the first value of a list',
    () => heading((header) => (name) => [header(name) ?? []].flat()[0]),
    'handler',
    'threat A38: a repeated signature in a list is refused',
  ],
  [
    'splits a joined header',
    () => heading((header) => (name) => String(header(name) ?? '').split(', ')[0]),
    'pass-through',
    'threat A38: a signature that a bridge has joined is refused',
  ],
  [
    'reports a consumed body as unread',
    () =>
      reading((body) =>
        body.state === 'consumed'
          ? {
              state: 'unread',
              read: ({ end }) => {
                end();
                return () => undefined;
              },
            }
          : body,
      ),
    'pass-through',
    'a body that was read and not kept is an error that says what to mount where',
  ],
  [
    'decodes chunk by chunk',
    () => reading(decodingChunks),
    'handler',
    'a chunked body, split inside multi-byte characters, arrives whole',
  ],
  ...['two members', 'a trailing byte', 'trailing text'].map(
    (trailing): Fault => [
      `decompresses the body itself, ${trailing} included`,
      () =>
        translating((request, parsed) => {
          const incoming = incomingCallback(request, parsed);
          const header: Header = (name) => (name === 'content-encoding' ? undefined : incoming.header(name));
          return { ...incoming, header, body: gunzipping(incoming.body) };
        }),
      'handler',
      `gzip ${trailing === 'two members' ? 'of' : 'with'} ${trailing} is refused on every Node`,
    ],
  ),
  [
    'hides the declared length',
    () => heading((header) => (name) => (name === 'content-length' ? undefined : header(name))),
    'handler',
    'threat A18: a declared length of 65,537 bytes is refused before any of them is sent',
  ],
  ...['a chunked body over 64 KiB', 'a chunked body of 2 MB', 'a body of 2 MB in gzip'].map(
    (body): Fault => [
      `reports the compressed or no length as that of the parsed body: ${body}`,
      () =>
        heading((header, request) => (name) => {
          if (name === 'content-encoding') return undefined;
          return name === 'content-length' ? (request.headers[name] ?? '100') : header(name);
        }),
      'pass-through',
      `threat A34: ${body} behind a parser that keeps json is refused`,
    ],
  ),
  [
    'hides a body that is longer than it was measured',
    () =>
      reading((body) =>
        body.state === 'parsed'
          ? { ...body, data: JSON.parse(JSON.stringify(body.data, withoutFiller)) }
          : body,
      ),
    'handler',
    'threat A34: a chunked body of 30,000 characters and more than 64 KiB behind a parser that keeps json is refused',
  ],
  [
    'drops the headers of an answer',
    () => new WithoutHeaders(),
    'handler',
    'PUT is refused, and the answer names POST',
  ],
  [
    'drops Retry-After',
    () => new WithoutHeaders(),
    'handler',
    'a handler that throws is answered with failureStatus, and the error reaches onError only',
  ],
  [
    'keeps connections open after a refusal of an unread body',
    () => new KeepsConnections(),
    'handler',
    'threat A18: a sender that continues with 100 MB after a 401, in chunks, is disconnected',
  ],
  [
    'closes every connection',
    () => new ClosesConnections(),
    'handler',
    'a connection survives the refusal of a small unread body',
  ],
  [
    'refuses content types',
    () => new StrictAboutTypes(),
    'handler',
    'a callback without a content type verifies',
  ],
  ['tells the sender why', () => new Talkative(), 'handler', 'a callback signed with another key is refused'],
  [
    'answers before the handler has resolved',
    hasty,
    'handler',
    'no answer is given before the handler has resolved',
  ],
  [
    'loses the error of a handler',
    hasty,
    'handler',
    'a handler that rejects is answered with failureStatus, and the error reaches onError only',
  ],
  [
    'answers before a promise that is a function has settled',
    hastyWithFunctions,
    'handler',
    'threat A41: a handler whose promise is a function is awaited, and its failure reaches onError only',
  ],
  [
    'drops failureStatus',
    () => new Reconfigured(({ failureStatus: _, ...options }) => options),
    'handler',
    'failureStatus 503 is the status of a failed handler',
  ],
  [
    'waits for a handler that never settles',
    () => new Reconfigured(({ handlerTimeoutMs: _, ...options }) => options),
    'handler',
    'a handler that does not settle within handlerTimeoutMs is answered with failureStatus 429',
  ],
  [
    'passes refused callbacks through',
    () => new PassesEverythingThrough(),
    'pass-through',
    'a callback signed with another key is refused',
  ],
  ...(
    [
      ['method_not_allowed', 'PUT is refused, and the answer names POST'],
      ['encoding_unsupported', 'the encoding zstd is refused'],
      ['signature_missing', 'a missing header is refused'],
      ['signature_malformed', 'threat A12: a repeated header is refused'],
      ['body_too_large', 'threat A18: a chunked body of 65,537 bytes is refused'],
      [
        'body_timeout',
        'threat A18: a stalled body is refused after bodyTimeoutMs, and the connection is closed',
      ],
      [
        'body_aborted',
        'a sender that hangs up halfway through a declared body is reported, and the server stays healthy',
      ],
    ] as const
  ).flatMap(([code, mustFail]): Fault[] => [
    [`does not report ${code}`, () => silentAbout(code), 'handler', mustFail],
    [`reports ${code} twice`, reportsTwice, 'pass-through', mustFail],
  ]),
];

const REDIRECT_FAULTS: readonly Fault[] = [
  [
    "lets the framework's parser decide on repeated names",
    () => new ReadsTheQueryFirst(),
    'handler',
    'threat A14: a repeated signed name whose first value differs is refused',
  ],
  [
    "lets the framework's parser drop a repeated unsigned name",
    () => new ReadsTheQueryFirst(),
    'handler',
    "the merchant's own parameter ?id=7 does not spoil a redirect, and raw has both values",
  ],
  [
    "lets the framework's parser drop empty parameters",
    () => new ReadsTheQueryFirst(),
    'handler',
    'threat A29: a query of 4,050 empty parameters is refused',
  ],
  [
    "lets the framework's parser repair invalid escapes",
    () => new ReadsTheQueryFirst(),
    'handler',
    'threat A15: a percent escape that is not UTF-8 is refused',
  ],
  [
    'forgets referrer-policy when it passes through',
    () => new WithoutPrivacy(),
    'pass-through',
    'a redirect with flat names verifies',
  ],
  ['drops the location', () => new WithoutHeaders(), 'handler', 'a redirect with flat names verifies'],
  [
    'passes refused redirects through',
    () => new PassesEverythingThrough(),
    'pass-through',
    'a redirect signed with another key is refused',
  ],
];

function withoutFiller(name: string, value: unknown): unknown {
  return name === 'filler' ? undefined : value;
}

function named<T extends { name: string }>(domains: Readonly<Record<string, readonly T[]>>, name: string): T {
  const found = Object.values(domains)
    .flat()
    .find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`There is no scenario "${name}".`);
  return found;
}

const CALLBACKS = { ...CALLBACK_SCENARIOS, ...BRIDGE_SCENARIOS };

describe('the suite notices an adapter that', () => {
  test.each(CALLBACK_FAULTS)('%s (%#)', TIMEOUT, async (_fault, adapter, mode, mustFail) => {
    const scenario = named(CALLBACKS, mustFail);
    await expect(playCallback(adapter(), scenario, mode)).rejects.toThrow();
    await expect(playCallback(new NodeHttp(), scenario, mode)).resolves.toBeUndefined();
  });

  test.each(REDIRECT_FAULTS)('%s', TIMEOUT, async (_fault, adapter, mode, mustFail) => {
    const scenario = named(REDIRECT_SCENARIOS, mustFail);
    await expect(playRedirect(adapter(), scenario, mode)).rejects.toThrow();
    await expect(playRedirect(new NodeHttp(), scenario, mode)).resolves.toBeUndefined();
  });
});

test('every scenario has a unique name', () => {
  const callbacks = Object.values(CALLBACKS).flat();
  const redirects = Object.values(REDIRECT_SCENARIOS).flat();
  for (const names of [callbacks.map(({ name }) => name), redirects.map(({ name }) => name)]) {
    expect(new Set(names).size).toBe(names.length);
  }
});
