import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { OUTCOMES } from '../../src/explain/causes.ts';
import { type Exchange, explainOutcome, type Outcome, type OutcomeCause } from '../../src/explain/index.ts';
import { createCallbackReceiver, incomingCallback, receiveCallback } from '../../src/receive/index.ts';
import { cert, key } from '../client/unverified-certificate.ts';
import {
  callbackData,
  HASH_OF_OTHER_KEY,
  OTHER_KEY,
  SIGNATURE,
  SIGNING_KEY,
  T,
} from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';

const PATH = '/payments/callbacks';
const BODY = JSON.stringify(callbackData());
const KEYS = { signingKey: SIGNING_KEY };
const options = { now: () => NOW };
const produced = new Set<string>();
const running: (Server | TcpServer)[] = [];

afterEach(() => {
  for (const server of running.splice(0)) {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  }
});

async function portOf(server: Server | TcpServer): Promise<number> {
  running.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const http = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await portOf(createServer(listener))}`;

/** Sends a real delivery, and explains the recorded exchange. */
async function deliver(
  url: string,
  changes: Partial<Exchange['request']> = {},
  rest: Partial<Exchange> & { readonly timeoutMs?: number } = {},
): Promise<Outcome> {
  const { timeoutMs = 20_000, ...known } = rest;
  const { isForged, ...sent } = changes;
  const headers = {
    'content-type': 'application/json',
    'hmac-signature': SIGNATURE,
    ...(sent.headers as object),
  };
  const request = { method: 'POST', body: BODY, ...sent, headers, url };
  const exchange = await fetch(url, {
    method: 'POST',
    headers,
    body: BODY,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  }).then(
    async (response) => ({
      response: { status: response.status, headers: response.headers, body: await response.text() },
    }),
    (error: Error & { readonly cause?: { readonly code?: string; readonly message?: string } }) => ({
      error: `${error.cause?.code ?? ''} ${error.cause?.message ?? error.message}`,
    }),
  );
  const outcome = explainOutcome({ request: { ...request, isForged }, ...exchange, ...known }, KEYS, options);
  produced.add(outcome.cause);
  return outcome;
}

const answer = (
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): RequestListener => {
  return (request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  };
};

const tcp = async (server: Server | TcpServer): Promise<string> => `http://127.0.0.1:${await portOf(server)}`;
const closed = async (): Promise<string> => {
  const server = createTcpServer();
  const url = await tcp(server);
  server.close();
  await once(server, 'close');
  return url + PATH;
};

test.each<[what: string, url: () => Promise<string>, cause: RegExp]>([
  ['a port where nothing listens', closed, /^connection_refused$/],
  ['a host without an address', async () => 'http://no-such-host.invalid/cb', /^name_not_found$/],
  [
    'a program that closes the connection',
    () => http((request) => request.socket.destroy()),
    /^connection_reset$/,
  ],
  [
    'https to a plain port',
    async () => (await http(answer(200))).replace('http:', 'https:'),
    /^tls_to_plain_port$/,
  ],
  ['http to a TLS port', () => tcp(createTlsServer({ cert, key })), /^(plain_to_tls_port|connection_reset)$/],
  [
    'a proxy of a TLS port',
    () => http(answer(400, {}, '<h1>The plain HTTP request was sent to HTTPS port</h1>')),
    /^plain_to_tls_port$/,
  ],
  [
    'a certificate that no authority signed',
    async () => (await tcp(createTlsServer({ cert, key }))).replace('http:', 'https:'),
    /^certificate_refused$/,
  ],
  ['a server of mail', () => tcp(createTcpServer((socket) => socket.end('220 mail ready\r\n'))), /./],
])('explainOutcome() names %s', async (_what, url, cause) => {
  const outcome = await deliver(await url());
  expect(outcome).toMatchObject({ cause: expect.stringMatching(cause), tone: 'bad', ok: false });
  if (outcome.cause === 'connection_refused') expect(outcome.detail).toMatch(/^127.0.0.1:\d+: ECONNREFUSED/);
});

test('a handler that never answers is named as a timeout', async () => {
  const url = await http(() => {});
  const outcome = await deliver(url, {}, { timeoutMs: 50, durationMs: 50 });
  expect(outcome).toMatchObject({ cause: 'timed_out', detail: expect.stringContaining('50 ms') });
});

test.each<[OutcomeCause, string, string?]>([
  ['host_unreachable', 'connect EHOSTUNREACH 10.0.0.1:80'],
  ['name_not_found', 'getaddrinfo EAI_AGAIN shop'],
  ['timed_out', 'The operation was aborted due to timeout'],
  ['timed_out', 'UND_ERR_HEADERS_TIMEOUT'],
  ['timed_out', 'connect ETIMEDOUT'],
  ['connection_reset', 'socket hang up'],
  ['connection_failed', 'EMFILE too many open files'],
  ['connection_failed', 'something else'],
  ['plain_to_tls_port', 'read ECONNRESET', 'http://127.0.0.1:8443/cb'],
])('explainOutcome() names %s for the error "%s"', (cause, error, url = 'http://shop/cb') => {
  const outcome = explainOutcome({ request: { url, headers: {} }, error });
  produced.add(outcome.cause);
  expect(outcome).toMatchObject({ cause, tone: 'bad' });
});

type Answered = readonly [what: string, status: number, shows: RegExp, headers?: object, body?: string];
const own = (error: string) => [{}, JSON.stringify({ error })] as const;
const unauthorized = '{"error":"unauthorized"}';
const ANSWERS: { readonly [Cause in OutcomeCause]?: readonly Answered[] } = {
  login_redirect: [['a login page', 302, /\/login\./, { location: '/login?next=%2Fcb' }]],
  https_redirect: [['https', 301, /https:/, { location: `https://127.0.0.1${PATH}` }]],
  slash_redirect: [['a slash at the end', 308, /callbacks\/\./, { location: `${PATH}/` }]],
  redirected: [['another address', 307, /\/new/, { location: '/new' }]],
  method_refused: [['a route for GET', 405, /allow: GET/, { allow: 'GET' }]],
  body_timeout: [['a body that does not end', 408, /408/]],
  body_refused: [['a parser with a small limit', 413, /413/]],
  media_type_refused: [['a parser of forms', 415, /415/]],
  asked_to_retry: [['a rate limit', 429, /retry-after: 30/, { 'retry-after': '30' }]],
  body_consumed: [
    ['a drained body', 429, /constant one/, ...own('body_consumed')],
    ['a drained body, as 503', 503, /503/, ...own('body_consumed')],
  ],
  handler_failed: [
    ['a handler that failed', 429, /429/, ...own('handler_failed')],
    ['a program that throws', 500, /500/],
  ],
  handler_timeout: [['a slow handler', 429, /constant/, ...own('handler_timeout')]],
  handler_unavailable: [['no database', 429, /constant/, ...own('unavailable')]],
  login_required: [
    ['basic authentication', 401, /Basic/, { 'www-authenticate': 'Basic realm="x"' }],
    ['a scheme of its own', 401, /www-authenticate asks for Session/, { 'www-authenticate': 'Session' }],
  ],
  unauthorized: [
    ['a login that says nothing', 401, /Nothing in the response.*ends in Ua6e/],
    ['a login', 401, /mentions "session"/, {}, '{"message":"Missing session"}'],
    ['another error', 401, /Nothing in the response/, {}, '{"error": "unauthorized"}'],
  ],
  refused_signature: [
    ['a verifier by hand', 401, /mentions it.*Ua6e/, {}, 'bad signature'],
    ['the same as 400', 400, /400/, {}, 'invalid HMAC'],
  ],
  header_dropped: [
    ['a proxy that drops the header', 401, /via shows a proxy.*Ua6e/, { via: '1.1 edge' }, unauthorized],
    ['a server that is a proxy', 401, /names nginx/, { server: 'nginx/1.27' }, unauthorized],
  ],
  csrf_guard: [['a guard against CSRF', 403, /403/, {}, 'ForbiddenError: invalid csrf value']],
  forbidden: [['a firewall', 403, /403/]],
  request_refused: [['a validator', 422, /422/]],
  gateway_failed: [
    ['a proxy without its program', 502, /502/],
    ['a proxy that waits', 504, /504/],
  ],
  unavailable: [['maintenance', 503, /retry-after: 60/, { 'retry-after': '60' }]],
  html_answer: [['a single-page app', 200, /HTML/, { 'content-type': 'text/html' }, '<!doctype html>']],
  unexpected_status: [['a redirect without an address', 304, /304/]],
  accepted: [['an endpoint that takes it', 204, /valid/]],
};
test.each(
  Object.entries(ANSWERS).flatMap(([cause, rows]) =>
    rows.map((row): [string, ...Answered] => [cause, ...row]),
  ),
)('explainOutcome() names %s: %s', async (cause, _what, status, shows, headers, body) => {
  const outcome = await deliver((await http(answer(status, { ...headers }, body))) + PATH);
  expect(outcome).toMatchObject({ cause, detail: expect.stringMatching(shows) });
  expect(outcome.tone).toBe(cause === 'accepted' ? 'good' : 'bad');
});

test.each<[OutcomeCause, path: string, shows: RegExp]>([
  ['near_path', '/payment/callback', /payments\/callbacks is known/],
  ['near_path', '/payments', /is known/],
  ['near_path', '/callbacks', /is known/],
  ['not_found', '/x', /404/],
])('explainOutcome() names %s for the path %s', async (cause, path, shows) => {
  const outcome = await deliver((await http(answer(404))) + path);
  expect(outcome).toMatchObject({ cause, detail: expect.stringMatching(shows), tone: 'bad' });
});

test.each([500, 501, 507, 599])('an endpoint that fails is named with its status: %d', (status) => {
  const exchange = { request: { url: PATH, headers: {}, body: BODY }, response: { status, headers: [] } };
  expect(explainOutcome(exchange).title).toBe(`Your endpoint returned ${status}.`);
});

test('an answer that was not recorded is an unexpected status', () => {
  const outcome = { cause: 'unexpected_status', detail: 'There is no response.' };
  expect(explainOutcome({ request: { url: 'x', headers: {} } })).toMatchObject(outcome);
});

const wrong = { 'hmac-signature': `t=${T},s=${HASH_OF_OTHER_KEY}` };

function endpoint(signingKey: string, toleranceSeconds?: number): Promise<string> {
  const receiver = createCallbackReceiver({
    signingKey,
    toleranceSeconds,
    now: options.now,
    onCallback: () => undefined,
  });
  return http((request, response) => {
    void receiveCallback(incomingCallback(request), receiver).then(({ reply }) =>
      response.writeHead(reply?.status ?? 500, reply?.headers).end(reply?.body),
    );
  });
}

const old = { 'hmac-signature': SIGNATURE.replace(String(T), String(T - 3600)) };
const tolerance = 30;
test.each<
  [what: string, endpoint: [string, number?], request: Partial<Exchange['request']>, outcome: object]
>([
  ['the genuine callback is accepted', [SIGNING_KEY], {}, { cause: 'accepted', tone: 'good', ok: true }],
  [
    'with another key, a valid signature is refused, and the key of the sender is named',
    [OTHER_KEY],
    {},
    { cause: 'other_key', tone: 'bad', detail: expect.stringContaining('ends in Ua6e') },
  ],
  [
    'a bad signature is refused, as expected',
    [SIGNING_KEY],
    { headers: wrong },
    { cause: 'forgery_refused', tone: 'good' },
  ],
  [
    'an old timestamp is refused, which is neither good nor bad',
    [SIGNING_KEY, tolerance],
    { headers: old },
    { cause: 'old_timestamp_refused', tone: 'neutral' },
  ],
  [
    'a forged amount is accepted, since the signature does not cover it',
    [SIGNING_KEY],
    { isForged: 'amount' },
    { cause: 'forgery_accepted', tone: 'neutral' },
  ],
])('%s', async (_what, given, request, outcome) => {
  expect(await deliver(await endpoint(...given), request)).toMatchObject(outcome);
});

test('a changed t is accepted, since the signature does not cover it, and the amount is not mentioned', async () => {
  const outcome = await deliver(await endpoint(SIGNING_KEY), { isForged: 'timestamp' });
  expect(outcome).toMatchObject({ cause: 'old_timestamp_accepted', tone: 'neutral' });
  expect(`${outcome.title} ${outcome.detail} ${outcome.fix}`).not.toMatch(/amount|credit/);
});

test('with another key, the cause is called probable, and the other causes are named', async () => {
  const { title, fix } = await deliver(await endpoint(OTHER_KEY));
  expect(title).toBe('paymentCallbacks() refused a valid signature.');
  expect(fix).toMatch(/^Probably the endpoint has another signing key.*dropped hmac-signature/);
});

test('accepting a bad signature is an alarm, detected by the keys or from the sender', async () => {
  const url = await http(answer(200));
  expect(await deliver(url, { headers: wrong })).toMatchObject({ cause: 'verification_off', tone: 'bad' });
  const request = { url, headers: {}, isForged: 'signature' } as const;
  expect(explainOutcome({ request, response: { status: 200, headers: {} } }).cause).toBe('verification_off');
});

test('every cause of explainOutcome() was produced', () => {
  expect(produced).toEqual(new Set(Object.keys(OUTCOMES)));
});

test('threat A23: no exchange makes it throw, or show a key, a header or a body', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom(SIGNING_KEY, SIGNATURE, BODY, '<html>', 'ECONNRESET'));
  const headers = fc.dictionary(fc.oneof(text, fc.constantFrom('www-authenticate', 'hmac-signature')), text);
  fc.assert(
    fc.property(
      text,
      headers,
      fc.integer({ min: 0, max: 700 }),
      text,
      fc.option(text),
      (url, given, status, body, error) => {
        const response = { status, headers: given, body };
        const request = { url, headers: given, body };
        const exchange = { request, response, error: error ?? undefined };
        const { title, detail, fix } = explainOutcome(exchange, KEYS, options);
        for (const secret of [SIGNING_KEY, SIGNATURE])
          expect(`${title}${detail}${fix}`).not.toContain(secret);
      },
    ),
  );
});
