import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { TimeoutError } from '../../src/errors.ts';
import { type AuthenticRefusal, UnavailableError } from '../../src/index.ts';
import { isAcknowledged } from '../../src/internal.ts';
import type { CallbackOptions, Reply } from '../../src/receive/index.ts';
import { parsed, post, received, redirected } from '../incoming.ts';
import { callbackData, OTHER_KEY, signatureFor } from '../signed-callbacks.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const failed = new Error('the handler failed');
const fail = (): never => {
  throw failed;
};
const rejecting = () => Promise.reject(failed);
const never = () => new Promise(() => undefined);
const genuine = post(parsed(callbackData()));
const authentic = post(parsed(callbackData({ merchant_reference: 'A:B' })), {
  'hmac-signature': signatureFor('A:B'),
});

async function answer(options: Partial<CallbackOptions>, request = genuine): Promise<Reply> {
  const { reply } = await received(request, options);
  return reply ?? expect.fail('The callback was passed through.');
}

test.each([
  ['returns nothing', () => undefined],
  ['returns a value', () => 7],
  ['returns null', () => null],
  ['returns a promise', () => Promise.resolve()],
  ['settles within the limit', () => new Promise((resolve) => setImmediate(resolve))],
])('an onCallback that %s is answered 200, and never reported', async (_, result) => {
  const [onError, onCallback] = [vi.fn(), vi.fn(result)];
  const reply = await answer({ onCallback, account: 'shop', handlerTimeoutMs: 60_000, onError });
  expect(reply).toEqual({ status: 200, headers: JSON_TYPE, body: '{"status":"accepted"}' });
  const signed = { merchant_reference: 'ORD-1001' };
  expect(onCallback.mock.calls).toMatchObject([[{ ok: true, kind: 'callback', account: 'shop', signed }]]);
  expect(onError).not.toHaveBeenCalled();
});

test('without onCallback, the callback is passed through without a reply', async () => {
  const { reply, callback } = await received(genuine, {});
  expect(reply).toBeUndefined();
  expect(callback?.signed.merchant_reference).toBe('ORD-1001');
});

const busy = new UnavailableError('down', { retryAfterSeconds: 7 });
const SLOW =
  'The handler did not settle within handlerTimeoutMs, so the sender was asked to retry. The handler is still running: ' +
  'deduplicate by transitionId, and store the callback before slow work.';
/** A customer is no sender, and is asked nothing. */
const SLOW_REDIRECT =
  'onRedirect did not settle within handlerTimeoutMs, so the customer was sent to refusedLocation, or was shown that the payment is ' +
  'being checked. onRedirect is still running: return the address first, and do slow work later.';
type Row = [name: string, seconds: string, handler: () => unknown, reported: unknown, ofRedirect?: unknown];
test.each<Row>([
  ['handler_failed', '30', rejecting, failed],
  ['handler_failed', '30', fail, failed],
  ['handler_timeout', '30', never, new TimeoutError(SLOW), new TimeoutError(SLOW_REDIRECT)],
  ['unavailable', '7', () => Promise.reject(busy), busy],
])('threat A39: %s is answered with 429 or failureStatus, with Retry-After %s', async (...row) => {
  const [error, seconds, handler, reported, ofRedirect = reported] = row;
  for (const failureStatus of [undefined, 503]) {
    const onError = vi.fn();
    const options = { onError, handlerTimeoutMs: 1, failureStatus };
    const headers = { ...JSON_TYPE, 'retry-after': seconds };
    const expected = { status: failureStatus ?? 429, headers, body: JSON.stringify({ error }) };
    expect(await answer({ onCallback: handler, ...options })).toEqual(expected);
    const { reply } = await redirected({ onRedirect: handler as () => string, ...options });
    const page = { 'content-type': 'text/html; charset=utf-8', 'retry-after': seconds };
    expect(reply).toMatchObject({ status: failureStatus ?? 429, headers: page });
    expect(onError.mock.calls).toEqual([[reported], [ofRedirect]]);
  }
});

test('threat A39: a body that was consumed unparsed is answered with failureStatus, and the error names the remedy', async () => {
  const onError = vi.fn();
  for (const failureStatus of [undefined, 500]) {
    const options = { onError, failureStatus, onCallback: () => undefined };
    expect(await answer(options, post({ state: 'consumed' }))).toEqual({
      status: failureStatus ?? 429,
      headers: { ...JSON_TYPE, 'retry-after': '30' },
      body: '{"error":"body_consumed"}',
    });
  }
  const message = expect.stringMatching(/Mount paymentCallbacks\(\) once, before other middleware/);
  expect(onError).toHaveBeenLastCalledWith(expect.objectContaining({ option: 'body', message }));
});

test('a rejection after the limit reaches onError, and no unhandled rejection ends the process', async () => {
  const onError = vi.fn();
  const { promise, reject } = Promise.withResolvers<never>();
  await answer({ onCallback: () => promise, handlerTimeoutMs: 1, onError });
  reject(failed);
  await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(2));
  expect(onError).toHaveBeenLastCalledWith(failed);
});

let printed: MockInstance<typeof console.error>;
beforeEach(() => {
  printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(() => printed.mockRestore());

test.each([
  ['throws', fail],
  ['rejects', rejecting],
])('an onRefused that %s changes no answer, and its error reaches onError', async (_, onRefused) => {
  const onError = vi.fn();
  const unsigned = post(parsed(callbackData()), { 'hmac-signature': '' });
  expect(await answer({ onRefused, onError }, unsigned)).toMatchObject({ status: 401 });
  await vi.waitFor(() => expect(onError.mock.calls).toEqual([[failed]]));
});

const inHook = new Error('the reporter failed');
const broken = (): never => {
  throw inHook;
};
const down = new UnavailableError('The database is unavailable.');
test.each<[what: string, onError: (() => never) | undefined, thrown: Error, printed: unknown]>([
  ['an error in onError', broken, failed, inHook],
  ['without onError, the error of a handler', undefined, failed, failed],
  ['without onError, only the message of an UnavailableError', undefined, down, down.message],
])('%s is printed, and changes no answer', async (_what, onError, thrown, expected) => {
  const reply = await answer({ onCallback: () => Promise.reject(thrown), onError });
  expect(reply).toMatchObject({ status: 429 });
  expect(printed.mock.calls).toEqual([[expected]]);
});

test.each<[what: string, reply: object, calls: number, options: Partial<CallbackOptions>, failure?: Error]>([
  ['is acknowledged after its evidence was kept', { status: 200 }, 1, {}],
  ['is not, if that fails', { status: 429, headers: { 'retry-after': '5' } }, 1, {}, down],
  ['is refused under another key, and not kept', { status: 401 }, 0, { signingKey: OTHER_KEY }],
])('a refusal whose signature is valid %s', async (_, reply, calls, options, failure) => {
  const onAuthenticRefusal = vi.fn((_refusal: AuthenticRefusal) => (failure ? Promise.reject(failure) : 1));
  const all = { onAuthenticRefusal, onError: () => undefined, ...options };
  expect(await answer(all, authentic)).toMatchObject(reply);
  const refusal = { code: 'ambiguous', evidence: { signed: { merchant_reference: 'A:B' } } };
  expect(onAuthenticRefusal.mock.calls).toMatchObject(Array(calls).fill([refusal]));
  // What would still have to keep it then comes too late (threat A82).
  const kept = onAuthenticRefusal.mock.calls.map(([{ evidence }]) => isAcknowledged(evidence));
  expect(kept).toEqual(Array(calls).fill(failure === undefined));
});
