import type { IncomingMessage, ServerResponse } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { Refusal } from '@payment-service/core';
import {
  type IncomingBody,
  type IncomingCallback,
  incomingCallback,
  type Reply,
} from '@payment-service/core/receive';
import { describe, expect, test } from 'vitest';
import type { CallbackRoute } from '../src/application.ts';
import { patience } from '../src/hang-guard.ts';
import { play } from '../src/observation.ts';
import { BRIDGE_SCENARIOS, SCENARIOS } from '../src/scenarios/index.ts';
import { NodeHttp } from './node-http.ts';

// A suite that cannot fail proves nothing: each adapter here breaks one rule, and the scenarios of that rule must fail.
// node-http.test.ts shows that the unbroken adapter passes all scenarios.

/** How long a scenario waits for an adapter that never responds or never closes. The others have the suite's default. */
const PATIENCE_MS = 500;
const NEVER_END: readonly string[] = [
  'hides the declared length',
  'keeps connections open after a refusal of an unread body',
  'keeps connections open while the server shuts down',
  'waits for a handler that never settles',
];

type Header = IncomingCallback['header'];
type Options = CallbackRoute['options'];

const plain = new NodeHttp();
const faulty = (change: Partial<NodeHttp>): NodeHttp => Object.assign(new NodeHttp(), change);

/** An adapter that describes the request wrongly. */
function describing(
  wrongly: (incoming: IncomingCallback, request: IncomingMessage) => IncomingCallback,
): NodeHttp {
  return faulty({
    translate: (request, parsed) => wrongly(incomingCallback(request, parsed), request as IncomingMessage),
  });
}

/** An adapter that reports headers that the request does not have. */
function heading(
  wrongly: (name: string, header: Header, request: IncomingMessage) => ReturnType<Header>,
): NodeHttp {
  return describing((incoming, request) => ({
    ...incoming,
    header: (name) => wrongly(name, incoming.header, request),
  }));
}

/** An adapter that describes bodies in this state wrongly. */
function reading<S extends IncomingBody['state']>(
  state: S,
  wrongly: (body: Extract<IncomingBody, { state: S }>) => IncomingBody,
): NodeHttp {
  return describing(({ body, ...incoming }) => ({
    ...incoming,
    body: body.state === state ? wrongly(body as Parameters<typeof wrongly>[0]) : body,
  }));
}

function answering(wrongly: (reply: Reply, response: ServerResponse) => Reply): NodeHttp {
  return faulty({ answer: (response, reply) => plain.answer(response, wrongly(reply, response)) });
}

/** An adapter that changes the options of every route. */
function configured(change: (options: Options) => Options): NodeHttp {
  return faulty({ callbacks: (route) => plain.callbacks({ ...route, options: change(route.options) }) });
}

function reporting(
  report: (refusal: Refusal, onRefused: (refusal: Refusal) => unknown) => unknown,
): NodeHttp {
  return configured(({ onRefused = () => undefined, ...options }) => ({
    ...options,
    onRefused: (refusal) => void report(refusal, onRefused),
  }));
}

/** The values of a header in `rawHeaders`, which a bridge leaves empty. */
function rawValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  );
}

/** Converts every chunk to a string, which breaks characters that are split between two chunks. */
const decodesChunks = reading('unread', (body) => ({
  ...body,
  read: (sink, length) =>
    body.read({ ...sink, chunk: (piece) => sink.chunk(Buffer.from(piece).toString()) }, length),
}));

/** Core receives a decompressed body: Node's own gunzip accepts what core refuses. */
const gunzips = describing((_incoming, request) => {
  const { 'content-encoding': _, ...headers } = request.headers;
  return incomingCallback(Object.assign(request.pipe(createGunzip()), { method: request.method, headers }));
});

const reportsConsumedAsUnread = reading('consumed', () => ({
  state: 'unread',
  read: ({ end }) => {
    end();
    return () => undefined;
  },
}));

const hidesFiller = reading('parsed', (body) => ({
  ...body,
  data: JSON.parse(JSON.stringify(body.data, (name, value) => (name === 'filler' ? undefined : value))),
}));

const hasty = configured(({ onCallback, ...options }) => ({
  ...options,
  onCallback: (callback) => void Promise.resolve(onCallback?.(callback)).catch(() => undefined),
}));

const hastyWithFunctions = configured(({ onCallback, ...options }) => ({
  ...options,
  onCallback: (callback) => {
    const running = onCallback?.(callback);
    if (typeof running !== 'function') return running;
    Promise.resolve(running).catch(() => undefined);
  },
}));

const passesEverythingThrough = faulty({
  answer: (response) => void plain.passThrough(response, async () => 'passed through'),
});

const withoutPrivacy = faulty({
  passThrough: (response, handle) => {
    response.removeHeader('referrer-policy');
    return plain.passThrough(response, handle);
  },
});

/** Lets the parser of the framework decide on repeated names, empty parameters and invalid escapes. */
const readsTheQueryFirst = faulty({
  target: (request) => {
    const { searchParams } = new URL(request.url ?? '', 'http://shop.example');
    return `/?${new URLSearchParams(Object.fromEntries(searchParams))}`;
  },
});

/** By its fault: an adapter that has it, and the scenarios that must fail. */
type Faults = Readonly<Record<string, readonly [NodeHttp, ...mustFail: string[]]>>;

const REFUSALS: Readonly<Record<string, string>> = {
  method_not_allowed: 'PUT is refused, and the answer names POST',
  encoding_unsupported: 'the encoding zstd is refused',
  signature_missing: 'a missing header is refused',
  signature_malformed: 'threat A12: a repeated header is refused',
  body_too_large: 'threat A18: a chunked body of 65,537 bytes is refused',
  body_timeout: 'threat A18: a stalled body is refused after bodyTimeoutMs, and the connection is closed',
  body_aborted:
    'a sender that hangs up halfway through a declared body is reported, and the server stays healthy',
};

const IN_HANDLER_MODE: Faults = {
  'forgets the parsed body': [
    describing((_incoming, request) => incomingCallback(request)),
    'a callback behind a parser that keeps json verifies',
  ],
  'takes the first of repeated headers': [
    heading((name, _header, request) => rawValues(request, name)[0]),
    'a repeated content-encoding header is refused',
  ],
  'reads headers from rawHeaders': [
    heading((name, _header, request) => rawValues(request, name)),
    'threat A38: a callback from a bridge without rawHeaders verifies',
  ],
  'takes the first value of a list': [
    heading((name, header) => [header(name) ?? []].flat()[0]),
    'threat A38: a repeated signature in a list is refused',
  ],
  'decodes chunk by chunk': [
    decodesChunks,
    'a chunked body, split inside multi-byte characters, arrives whole',
  ],
  'decompresses the body itself': [gunzips, 'gzip of two members is refused on every Node'],
  'hides the declared length': [
    heading((name, header) => (name === 'content-length' ? undefined : header(name))),
    'threat A18: the connection is closed when the declared length is over 64 KiB, and no body is read',
  ],
  'hides a body that is longer than it was measured': [
    hidesFiller,
    'threat A34: a chunked body of 30,000 characters and more than 64 KiB behind a parser that keeps json is refused',
  ],
  'drops the headers of an answer': [
    answering(({ status, body }) => ({ status, body, headers: {} })),
    'PUT is refused, and the answer names POST',
    'a handler that rejects is answered with failureStatus, and the error reaches onError only',
    'a redirect with flat names verifies',
    'a customer whose onRedirect returns nothing sees a page',
  ],
  'keeps connections open after a refusal of an unread body': [
    answering(({ headers: { connection: _, ...headers }, ...reply }) => ({ ...reply, headers })),
    'threat A18: the connection of an unsigned body of 65,537 bytes is closed',
  ],
  'keeps connections open while the server shuts down': [
    describing((incoming) => ({ ...incoming, isClosing: undefined })),
    'a server that shuts down answers what has arrived, refuses new connections, and ends with its last answer',
  ],
  'closes every connection': [
    answering(({ headers, ...reply }) => ({ ...reply, headers: { ...headers, connection: 'close' } })),
    'a connection survives the refusal of a small unread body',
  ],
  'refuses content types, as core once did': [
    answering((reply, { req }) =>
      req.headers['content-type'] === 'application/json' ? reply : { ...reply, status: 415 },
    ),
    'a callback without a content type verifies',
  ],
  'tells the sender why': [
    answering((reply) => (reply.status === 401 ? { ...reply, body: '{"error":"mismatch"}' } : reply)),
    'a callback signed with another key is refused',
  ],
  'answers before the handler has resolved, and loses its error': [
    hasty,
    'no answer is given before the handler has resolved',
    'a handler that rejects is answered with failureStatus, and the error reaches onError only',
  ],
  'answers before a promise that is a function has settled': [
    hastyWithFunctions,
    'threat A41: a handler whose promise is a function is awaited, and its failure reaches onError only',
  ],
  'drops failureStatus': [
    configured(({ failureStatus: _, ...options }) => options),
    'failureStatus 503 is the status of a failed handler',
  ],
  'waits for a handler that never settles': [
    configured(({ handlerTimeoutMs: _, ...options }) => options),
    'a handler that does not settle within handlerTimeoutMs is answered with failureStatus',
  ],
  'lets the parser of the framework read the query first': [
    readsTheQueryFirst,
    'threat A14: a repeated signed name whose first value differs is refused',
    "the merchant's own parameter ?id=7 does not spoil a redirect, and raw has both values",
    'threat A29: a query of 4,050 empty parameters is refused',
    'threat A15: a percent escape that is not UTF-8 is refused',
  ],
  ...Object.fromEntries(
    Object.entries(REFUSALS).map(([code, mustFail]) => [
      `does not report ${code}`,
      [reporting((refusal, onRefused) => refusal.code === code || onRefused(refusal)), mustFail],
    ]),
  ),
};

const IN_PASS_THROUGH_MODE: Faults = {
  'takes the last of repeated headers': [
    heading((name, _header, request) => rawValues(request, name).at(-1)),
    'threat A12: a repeated header is refused',
  ],
  'splits a joined header': [
    heading((name, header) => String(header(name) ?? '').split(', ')[0]),
    'threat A38: a signature that a bridge has joined is refused',
  ],
  'reports a consumed body as unread': [
    reportsConsumedAsUnread,
    'a body that was read and not kept is an error that says what to mount where',
  ],
  'reports the compressed length or none as that of the parsed body': [
    heading((name, header, { headers }) => {
      if (name === 'content-encoding') return undefined;
      return name === 'content-length' ? (headers[name] ?? '100') : header(name);
    }),
    'threat A34: a chunked body over 64 KiB behind a parser that keeps json is refused',
    'threat A34: a body of 2 MB in gzip behind a parser that keeps json is refused',
  ],
  'passes refused requests through': [
    passesEverythingThrough,
    'a callback signed with another key is refused',
    'a redirect signed with another key is refused',
  ],
  'forgets referrer-policy when it passes through': [withoutPrivacy, 'a redirect with flat names verifies'],
  'reports every refusal twice': [
    reporting((refusal, onRefused) => [onRefused(refusal), onRefused(refusal)]),
    ...Object.values(REFUSALS),
  ],
};

const ALL = [...SCENARIOS, ...BRIDGE_SCENARIOS];

describe.each([
  ['handler', IN_HANDLER_MODE],
  ['pass-through', IN_PASS_THROUGH_MODE],
] as const)('in %s mode, the suite notices an adapter that', (mode, faults) => {
  test.each(Object.entries(faults))('%s', async (fault, [adapter, ...mustFail]) => {
    const { ms } = patience;
    for (const title of mustFail) {
      const scenario = ALL.find(({ name }) => name === title);
      if (scenario === undefined) throw new Error(`There is no scenario "${title}".`);
      const hangs = NEVER_END.includes(fault);
      if (hangs) patience.ms = PATIENCE_MS;
      const played = play(adapter, scenario, mode).finally(() => {
        patience.ms = ms;
      });
      await expect(played, title).rejects.toThrow(hangs ? /^Hangs: still waiting for / : undefined);
      await play(plain, scenario, mode);
    }
  });
});

test('every scenario has a unique name', () => {
  expect(new Set(ALL.map(({ kind, name }) => `${kind}: ${name}`)).size).toBe(ALL.length);
});
