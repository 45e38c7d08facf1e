import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { OUTCOMES } from '../../src/explain/causes.ts';
import { type Exchange, explainOutcome, type Outcome, type OutcomeCause } from '../../src/explain/index.ts';
import { createVerifier } from '../../src/index.ts';
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

/** Delivers for real, as a sender does, and explains what it recorded. */
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

const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  };

describe('explainOutcome() of a delivery without an answer', () => {
  test('a port where nothing listens is named', async () => {
    const server = createTcpServer();
    const port = await portOf(server);
    server.close();
    await once(server, 'close');
    expect(await deliver(`http://127.0.0.1:${port}${PATH}`)).toMatchObject({
      cause: 'connection_refused',
      tone: 'bad',
      ok: false,
      detail: expect.stringContaining(`127.0.0.1:${port}: ECONNREFUSED`),
    });
  });

  test('a host without an address is named', async () => {
    expect((await deliver('http://no-such-host.invalid/cb')).cause).toBe('name_not_found');
  });

  test('a handler that never answers is named as a timeout', async () => {
    const url = await http(() => {});
    expect(await deliver(url, {}, { timeoutMs: 50, durationMs: 50 })).toMatchObject({
      cause: 'timed_out',
      detail: expect.stringContaining('50 ms'),
    });
  });

  test('a program that closes the connection is named', async () => {
    const url = await http((request) => request.socket.destroy());
    expect((await deliver(url)).cause).toBe('connection_reset');
  });

  test('https to a plain port is named', async () => {
    const url = await http(answer(200));
    expect((await deliver(url.replace('http:', 'https:'))).cause).toBe('tls_to_plain_port');
  });

  test('http to a TLS port is named', async () => {
    const port = await portOf(createTlsServer({ cert, key }));
    expect((await deliver(`http://127.0.0.1:${port}`)).cause).toMatch(
      /^(plain_to_tls_port|connection_reset)$/,
    );
    const proxy = await http(answer(400, {}, '<h1>The plain HTTP request was sent to HTTPS port</h1>'));
    expect((await deliver(proxy)).cause).toBe('plain_to_tls_port');
  });

  test('a certificate that no authority signed is named', async () => {
    const port = await portOf(createTlsServer({ cert, key }));
    expect((await deliver(`https://127.0.0.1:${port}`)).cause).toBe('certificate_refused');
  });

  test('a server that does not speak HTTP is named', async () => {
    const port = await portOf(createTcpServer((socket) => socket.end('220 mail ready\r\n')));
    expect((await deliver(`http://127.0.0.1:${port}`)).ok).toBe(false);
  });

  test.each<[OutcomeCause, string]>([
    ['host_unreachable', 'connect EHOSTUNREACH 10.0.0.1:80'],
    ['name_not_found', 'getaddrinfo EAI_AGAIN shop'],
    ['timed_out', 'The operation was aborted due to timeout'],
    ['timed_out', 'UND_ERR_HEADERS_TIMEOUT'],
    ['timed_out', 'connect ETIMEDOUT'],
    ['connection_reset', 'socket hang up'],
    ['connection_failed', 'EMFILE too many open files'],
    ['connection_failed', 'something else'],
  ])('%s: %s', (cause, error) => {
    const outcome = explainOutcome({ request: { url: 'http://shop/cb', headers: {} }, error });
    produced.add(outcome.cause);
    expect(outcome).toMatchObject({ cause, tone: 'bad' });
  });

  test('a connection that closes on a TLS port is named', () => {
    const request = { url: 'http://127.0.0.1:8443/cb', headers: {} };
    expect(explainOutcome({ request, error: 'read ECONNRESET' }).cause).toBe('plain_to_tls_port');
  });
});

describe('explainOutcome() of an answer', () => {
  test.each<[OutcomeCause, string, RequestListener, RegExp, string?]>([
    ['login_redirect', 'a login page', answer(302, { location: '/login?next=%2Fcb' }), /\/login\./],
    ['https_redirect', 'https', answer(301, { location: 'https://127.0.0.1/payments/callbacks' }), /https:/],
    ['slash_redirect', 'a slash at the end', answer(308, { location: `${PATH}/` }), /callbacks\/\./],
    ['redirected', 'another address', answer(307, { location: '/new' }), /\/new/],
    ['near_path', 'a misspelled path', answer(404), /payments\/callbacks is known/, '/payment/callback'],
    ['near_path', 'an address that was cut off', answer(404), /is known/, '/payments'],
    ['near_path', 'a prefix that is missing', answer(404), /is known/, '/callbacks'],
    ['not_found', 'a path that is like no other', answer(404), /404/, '/x'],
    ['method_refused', 'a route for GET', answer(405, { allow: 'GET' }), /allow: GET/],
    ['body_timeout', 'a body that does not end', answer(408), /408/],
    ['body_refused', 'a parser with a small limit', answer(413), /413/],
    ['media_type_refused', 'a parser of forms', answer(415), /415/],
    ['asked_to_retry', 'a rate limit', answer(429, { 'retry-after': '30' }), /retry-after: 30/],
    ['body_consumed', 'a drained body', answer(429, {}, '{"error":"body_consumed"}'), /constant one/],
    ['body_consumed', 'a drained body, as 503', answer(503, {}, '{"error":"body_consumed"}'), /503/],
    ['handler_failed', 'a handler that failed', answer(429, {}, '{"error":"handler_failed"}'), /429/],
    ['handler_timeout', 'a slow handler', answer(429, {}, '{"error":"handler_timeout"}'), /constant/],
    ['handler_unavailable', 'no database', answer(429, {}, '{"error":"unavailable"}'), /constant/],
    [
      'login_required',
      'basic authentication',
      answer(401, { 'www-authenticate': 'Basic realm="x"' }),
      /Basic/,
    ],
    [
      'login_required',
      'a scheme of its own',
      answer(401, { 'www-authenticate': 'Session realm="x"' }),
      /www-authenticate asks for Session/,
    ],
    ['unauthorized', 'a login that says nothing', answer(401), /Nothing in the response.*ends in Ua6e/],
    ['unauthorized', 'a login', answer(401, {}, '{"message":"Missing session"}'), /mentions "session"/],
    [
      'unauthorized',
      'another error',
      answer(401, {}, '{"error": "unauthorized"}'),
      /Nothing in the response/,
    ],
    ['refused_signature', 'a verifier by hand', answer(401, {}, 'bad signature'), /mentions it.*Ua6e/],
    ['refused_signature', 'the same as 400', answer(400, {}, 'invalid HMAC'), /400/],
    [
      'header_dropped',
      'a proxy that drops the header',
      answer(401, { via: '1.1 edge' }, '{"error":"unauthorized"}'),
      /The header via shows a proxy.*Ua6e/,
    ],
    [
      'header_dropped',
      'a server that is a proxy',
      answer(401, { server: 'nginx/1.27' }, '{"error":"unauthorized"}'),
      /names nginx/,
    ],
    [
      'csrf_guard',
      'a guard against cross-site requests',
      answer(403, {}, 'ForbiddenError: invalid csrf value'),
      /403/,
    ],
    ['forbidden', 'a firewall', answer(403), /403/],
    ['request_refused', 'a validator', answer(422), /422/],
    ['handler_failed', 'a program that throws', answer(500), /500/],
    ['gateway_failed', 'a proxy without its program', answer(502), /502/],
    ['gateway_failed', 'a proxy that waits', answer(504), /504/],
    ['unavailable', 'maintenance', answer(503, { 'retry-after': '60' }), /retry-after: 60/],
    [
      'html_answer',
      'a single-page app',
      answer(200, { 'content-type': 'text/html' }, '<!doctype html>'),
      /HTML/,
    ],
    ['unexpected_status', 'a redirect without an address', answer(304), /304/],
    ['accepted', 'an endpoint that takes it', answer(204), /valid/],
  ])('%s: %s', async (cause, _what, listener, shows, path = PATH) => {
    const outcome = await deliver((await http(listener)) + path);
    expect(outcome).toMatchObject({ cause, detail: expect.stringMatching(shows) });
    expect(outcome.tone).toBe(cause === 'accepted' ? 'good' : 'bad');
  });

  test.each([500, 501, 507, 599])('an endpoint that fails is named with its status: %d', (status) => {
    expect(
      explainOutcome({ request: { url: PATH, headers: {}, body: BODY }, response: { status, headers: [] } })
        .title,
    ).toBe(`Your endpoint returned ${status}.`);
  });

  test('an answer that was not recorded is an unexpected status', () => {
    expect(explainOutcome({ request: { url: 'x', headers: {} } })).toMatchObject({
      cause: 'unexpected_status',
      detail: 'There is no response.',
    });
  });
});

describe('explainOutcome() of an endpoint that verifies', () => {
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

  test('the genuine callback is accepted', async () => {
    expect(await deliver(await endpoint(SIGNING_KEY))).toMatchObject({
      cause: 'accepted',
      tone: 'good',
      ok: true,
    });
  });

  test('with another key, a valid signature is refused, and the key of the sender is named', async () => {
    expect(await deliver(await endpoint(OTHER_KEY))).toMatchObject({
      cause: 'other_key',
      tone: 'bad',
      detail: expect.stringContaining('ends in Ua6e'),
    });
  });

  test('a bad signature is refused, as expected', async () => {
    expect(await deliver(await endpoint(SIGNING_KEY), { headers: wrong })).toMatchObject({
      cause: 'forgery_refused',
      tone: 'good',
    });
  });

  test('an old timestamp is refused, which is neither good nor bad', async () => {
    const headers = { 'hmac-signature': SIGNATURE.replace(String(T), String(T - 3600)) };
    expect(await deliver(await endpoint(SIGNING_KEY, 30), { headers })).toMatchObject({
      cause: 'old_timestamp_refused',
      tone: 'neutral',
    });
  });

  test('a forged amount is accepted, since the signature does not cover it', async () => {
    expect(await deliver(await endpoint(SIGNING_KEY), { isForged: 'amount' })).toMatchObject({
      cause: 'forgery_accepted',
      tone: 'neutral',
    });
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
    const exchange = {
      request: { url, headers: {}, isForged: 'signature' },
      response: { status: 200, headers: {} },
    } as const;
    expect(explainOutcome(exchange).cause).toBe('verification_off');
  });
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
        const { title, detail, fix } = explainOutcome(
          { request, response, error: error ?? undefined },
          KEYS,
          options,
        );
        expect(`${title}${detail}${fix}`).not.toContain(SIGNING_KEY);
        expect(`${title}${detail}${fix}`).not.toContain(SIGNATURE);
      },
    ),
  );
});

test('the endpoint of these tests verifies', () => {
  expect(createVerifier(KEYS).verifyCallback({ signature: SIGNATURE, body: BODY }).ok).toBe(true);
});
