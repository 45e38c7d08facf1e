import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OUTCOMES } from '../../src/explain/causes.ts';
import { type Exchange, explainOutcome, type Outcome, type OutcomeCause } from '../../src/explain/index.ts';
import { createCallbackReceiver, incomingCallback, receiveCallback } from '../../src/receive/index.ts';
import { cert, key } from '../client/unverified-certificate.ts';
import { listening } from '../listening.ts';
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

type Server = Parameters<typeof listening>[0];
const at = async (server: Server, protocol = 'http'): Promise<string> =>
  `${protocol}://127.0.0.1:${await listening(server)}${PATH}`;
const http = (listener: RequestListener): Promise<string> => at(createServer(listener));
const answer =
  (status: number, headers: object = {}, body = ''): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { ...headers }).end(body);
  };

function explained(exchange: Exchange): Outcome {
  const outcome = explainOutcome(exchange, KEYS, options);
  produced.add(outcome.cause);
  return outcome;
}

/** Sends a real delivery, and explains the recorded exchange. */
async function deliver(
  url: string,
  { isForged, headers: own }: Partial<Exchange['request']> = {},
  durationMs = 20_000,
): Promise<Outcome> {
  const headers = { 'content-type': 'application/json', 'hmac-signature': SIGNATURE, ...(own as object) };
  const sent = { method: 'POST', headers, body: BODY };
  const signal = AbortSignal.timeout(durationMs);
  const exchange = await fetch(url, { ...sent, redirect: 'manual', signal }).then(
    async (response) => ({
      response: { status: response.status, headers: response.headers, body: await response.text() },
    }),
    (error: Error & { readonly cause?: { readonly code?: string; readonly message?: string } }) => ({
      error: `${error.cause?.code ?? ''} ${error.cause?.message ?? error.message}`,
    }),
  );
  return explained({ request: { ...sent, url, isForged }, durationMs, ...exchange });
}

async function closed(): Promise<string> {
  const server = createTcpServer();
  const url = await at(server);
  await once(server.close(), 'close');
  return url;
}

const unanswered: [what: string, url: () => Promise<string>, cause: RegExp][] = [
  ['a port where nothing listens', closed, /^connection_refused$/],
  ['a host without an address', async () => 'http://no-such-host.invalid/cb', /^name_not_found$/],
  ['a program that hangs up', () => http(({ socket }) => socket.destroy()), /^connection_reset$/],
  ['https to a plain port', () => at(createServer(answer(200)), 'https'), /^tls_to_plain_port$/],
  ['http to a TLS port', () => at(createTlsServer({ cert, key })), /^(plain_to_tls_port|connection_reset)$/],
  [
    'a proxy of a TLS port',
    () => http(answer(400, {}, 'plain HTTP request was sent to HTTPS port')),
    /^plain/,
  ],
  ['a self-signed certificate', () => at(createTlsServer({ cert, key }), 'https'), /^certificate_refused$/],
  ['a server of mail', () => at(createTcpServer((socket) => socket.end('220 mail ready\r\n'))), /./],
];
test.each(unanswered)('explainOutcome() names %s', async (_what, url, cause) => {
  const outcome = await deliver(await url());
  expect(outcome).toMatchObject({ cause: expect.stringMatching(cause), tone: 'bad', ok: false });
  if (outcome.cause === 'connection_refused') expect(outcome.detail).toMatch(/^127.0.0.1:\d+: ECONNREFUSED/);
});

test('explainOutcome() names a handler that never answers as a timeout', async () => {
  const outcome = await deliver(await http(() => {}), {}, 50);
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
  expect(explained({ request: { url, headers: {} }, error })).toMatchObject({ cause, tone: 'bad' });
});

type Answered = readonly [what: string, status: number, shows: RegExp, headers?: object, body?: string];
const own = (error: string) => [{}, JSON.stringify({ error })] as const;
const unauthorized = '{"error":"unauthorized"}';
const page = { 'content-type': 'text/html' };
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
    ['a drained body', 429, /constant response/, ...own('body_consumed')],
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
    [
      'a proxy that drops the header',
      401,
      /via header shows a proxy.*Ua6e/,
      { via: '1.1 edge' },
      unauthorized,
    ],
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
  html_answer: [['a single-page app', 200, /HTML/, page, '<!doctype html>']],
  unexpected_status: [['a redirect without an address', 304, /304/]],
  accepted: [['an endpoint that takes it', 204, /valid/]],
};
test.each(
  Object.entries(ANSWERS).flatMap(([cause, rows]) =>
    rows.map((row): [string, ...Answered] => [cause, ...row]),
  ),
)('explainOutcome() names %s: %s', async (cause, _what, status, shows, headers, body) => {
  const tone = cause === 'accepted' ? 'good' : 'bad';
  const outcome = await deliver(await http(answer(status, headers, body)));
  expect(outcome).toMatchObject({ cause, detail: expect.stringMatching(shows), tone });
});

test.each<[OutcomeCause, path: string, shows: RegExp]>([
  ['near_path', '/payment/callback', /payments\/callbacks is known/],
  ['near_path', '/payments', /is known/],
  ['near_path', '/callbacks', /is known/],
  ['not_found', '/x', /404/],
])('explainOutcome() names %s for the path %s', async (cause, path, shows) => {
  const outcome = await deliver((await http(answer(404))).replace(PATH, path));
  expect(outcome).toMatchObject({ cause, detail: expect.stringMatching(shows), tone: 'bad' });
});

const given = { url: PATH, headers: {}, body: BODY };
test.each([500, 501, 507, 599])('an endpoint that fails is named with its status: %d', (status) => {
  const { title } = explainOutcome({ request: given, response: { status, headers: [] } });
  expect(title).toBe(`Your endpoint returned ${status}.`);
});

test('an answer that was not recorded is an unexpected status', () => {
  const outcome = { cause: 'unexpected_status', detail: 'There is no response.' };
  expect(explainOutcome({ request: given })).toMatchObject(outcome);
});

const signedAt = (t: number, hash?: string): object => ({
  headers: { 'hmac-signature': hash ? `t=${t},s=${hash}` : SIGNATURE.replace(String(T), String(t)) },
});
const wrong = signedAt(T, HASH_OF_OTHER_KEY);
const endsInUa6e = expect.stringContaining('ends in Ua6e');
const sayNothingOfMoney = { detail: expect.not.stringMatching(/amount|credit/) };
const probable = {
  title: 'paymentCallbacks() refused a valid signature.',
  fix: expect.stringMatching(/^Probably the endpoint has another signing key.*dropped hmac-signature/),
};
test.each<[OutcomeCause, tone: string, endpoint: string, sent: object, more?: object]>([
  ['accepted', 'good', 'with the key of the sender', {}, { ok: true }],
  ['other_key', 'bad', 'with another key', {}, { detail: endsInUa6e, ...probable }],
  ['forgery_refused', 'good', 'with the key of the sender', wrong],
  ['old_timestamp_refused', 'neutral', 'with a tolerance', signedAt(T - 3600)],
  ['forgery_accepted', 'neutral', 'with the key of the sender', { isForged: 'amount' }],
  [
    ...(['old_timestamp_accepted', 'neutral', 'with the key of the sender'] as const),
    { isForged: 'timestamp' },
    { title: sayNothingOfMoney.detail, ...sayNothingOfMoney, fix: sayNothingOfMoney.detail },
  ],
])('explainOutcome() of an endpoint that verifies is %s, which is %s, %s', async (...row) => {
  const [cause, tone, endpoint, sent, more] = row;
  const receiver = createCallbackReceiver({
    signingKey: endpoint === 'with another key' ? OTHER_KEY : SIGNING_KEY,
    toleranceSeconds: endpoint === 'with a tolerance' ? 30 : undefined,
    ...{ now: options.now, onCallback: () => undefined },
  });
  const url = await http(async (request, response) => {
    const { reply } = await receiveCallback(incomingCallback(request), receiver);
    response.writeHead(reply?.status ?? 500, reply?.headers).end(reply?.body);
  });
  expect(await deliver(url, sent)).toMatchObject({ cause, tone, ...more });
});

test('accepting a bad signature is an alarm, detected by the keys or from the sender', async () => {
  const off = { cause: 'verification_off', tone: 'bad' };
  expect(await deliver(await http(answer(200)), wrong)).toMatchObject(off);
  const request = { url: PATH, headers: {}, isForged: 'signature' } as const;
  expect(explainOutcome({ request, response: { status: 200, headers: {} } })).toMatchObject(off);
});

test('every cause of explainOutcome() was produced', () => {
  expect(produced).toEqual(new Set(Object.keys(OUTCOMES)));
});

test('threat A23: no exchange makes it throw, or show a key, a header or a body', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom(SIGNING_KEY, SIGNATURE, BODY, '<html>', 'ECONNRESET'));
  const headers = fc.dictionary(fc.oneof(text, fc.constantFrom('www-authenticate', 'hmac-signature')), text);
  const status = fc.integer({ min: 0, max: 700 });
  const request = fc.record({ url: text, headers, body: text });
  const exchange = fc.record(
    { request, response: fc.record({ status, headers, body: text }), error: text },
    { requiredKeys: ['request', 'response'] },
  );
  fc.assert(
    fc.property(exchange, (one) => {
      const { title, detail, fix } = explainOutcome(one, KEYS, options);
      for (const secret of [SIGNING_KEY, SIGNATURE]) expect(title + detail + fix).not.toContain(secret);
    }),
  );
});
