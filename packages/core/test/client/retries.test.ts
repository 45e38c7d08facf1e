import { expect, test } from 'vitest';
import * as errors from '../../src/errors.ts';
import {
  type Answer,
  attempt,
  failure,
  failureOf,
  providers,
  reply,
  reset,
  resetInBody,
  serve,
} from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';
import { provider } from './wire-samples.ts';

test.each<[string, Answer]>([
  ...[408, 429, 500, 502, 503, 504].map((status): [string, Answer] => [`${status}`, failure(status)]),
  ['a 503 with a page', reply(503, '<h1>Down</h1>', { 'content-type': 'text/html' })],
  ['a 503 whose body breaks off', resetInBody(503)],
  ['a reset connection', reset],
  ['a reset in the middle of the body', resetInBody(200)],
])('%s is retried until the call succeeds', async (_name, answer) => {
  const { timing, pending } = recordedTiming();
  const outcome = await attempt([answer, answer, providers], { timing });
  expect(outcome).toMatchObject({ found: [provider], sent: 3 });
  expect(pending.size).toBe(0);
});

test('a ConnectionError names the host and the number of attempts', async () => {
  const { error, sent, baseUrl } = await attempt(reset, { timing: recordedTiming().timing });
  expect(error).toBeInstanceOf(errors.ConnectionError);
  for (const part of [new URL(baseUrl).host, '(3 attempts)']) expect(String(error)).toContain(part);
  expect(error).toHaveProperty('cause.cause');
  expect(sent).toBe(3);
});

test.each([
  [1, {}, [250, 500, 1000, 2000, 4000, 4000]],
  [0.5, {}, [125, 250, 500, 1000, 2000, 2000]],
  // It may lengthen a wait, and never shortens one.
  [1, { 'retry-after': '1' }, [1000, 1000, 1000, 2000, 4000, 4000]],
])(
  'a wait is a random part (%d) of 0.25 s · 2ⁿ, at most 4 s, and with the headers %j',
  async (share, headers, expected) => {
    const { timing, waits } = recordedTiming(() => share);
    await attempt(failure(503, headers), { timing, maxAttempts: 7 });
    expect(waits).toEqual(expected);
  },
);

test.each([
  ['in seconds', '2', 2000],
  ['as a date', 'Sat, 21 Nov 2026 07:00:03 GMT', 2500],
  ['in an obsolete form', 'Saturday, 21-Nov-26 07:00:03 GMT', 100],
  ['with a fraction', '1.5', 100],
  ['that cannot be read', 'soon', 100],
  ['with a sign', '-5', 100],
])('429 with a Retry-After %s (%s) sets the shortest wait', async (_name, value, expected) => {
  const { timing, waits } = recordedTiming(() => 0.4);
  const now = (): number => Date.UTC(2026, 10, 21, 7, 0, 0, 500);
  const answers = [failure(429, { 'retry-after': value }), providers];
  expect(await attempt(answers, { timing: { ...timing, now } })).toMatchObject({ found: [provider] });
  expect(waits).toEqual([expected]);
});

test.each(['11', '86400', '99999999999999999999999', 'Fri, 21 Nov 2099 07:00:00 GMT'])(
  'a Retry-After of %s exceeds the deadline, and the ApiError says so immediately',
  async (value) => {
    const { timing, waits, pending } = recordedTiming();
    const { error } = await attempt(failure(429, { 'retry-after': value }), { timing });
    const message = expect.stringMatching(/needs a wait of \d.* s \(Retry-After\).*timeoutMs \(10000\)/);
    expect(error).toMatchObject({ code: 'api_error', status: 429, attempts: 1, message });
    expect([waits, pending.size]).toEqual([[], 0]);
  },
);

test('retries stay within a tenth of the calls after a burst of 10 while everything fails', async () => {
  const { timing } = recordedTiming(() => 0);
  const { client, requests } = await serve(failure(503), { timing });
  const failures: unknown[] = [];
  for (let call = 0; call < 40; call++) failures.push(await failureOf(client.listPaymentProviders()));
  expect(requests.length - 40).toBe(13);
  expect(String(failures[0])).toContain('(3 attempts)');
  expect(String(failures[39])).toContain('recent calls of this client needed one');
  expect(failures[39]).toMatchObject({ code: 'api_error', status: 503, attempts: 1 });
});

// Minifiers rename classes, as these subclasses simulate.
test.each([
  ['ApiError', 'api_error', new (class A extends errors.ApiError {})('x', { status: 400 })],
  ['ConnectionError', 'connection_failed', new (class A extends errors.ConnectionError {})('x')],
  ['TimeoutError', 'timeout', new (class A extends errors.TimeoutError {})('x')],
  ['InvalidResponseError', 'invalid_response', new (class A extends errors.InvalidResponseError {})('x')],
  [
    'ConfigurationError',
    'invalid_configuration',
    new (class A extends errors.ConfigurationError {})('o', 'x'),
  ],
  ['InvalidStateError', 'invalid_state', new (class A extends errors.InvalidStateError {})('x')],
  ['UnavailableError', 'unavailable', new (class A extends errors.UnavailableError {})('x')],
])('%s has its name and the code %s when its class is renamed', (name, code, error) => {
  expect(error).toMatchObject({ name, code });
  expect(String(error)).toBe(`${name}: x`);
});
