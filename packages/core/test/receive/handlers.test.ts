import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { TimeoutError } from '../../src/errors.ts';
import { type AuthenticRefusal, UnavailableError } from '../../src/index.ts';
import {
  type CallbackOptions,
  createCallbackReceiver,
  type Reply,
  receiveCallback,
} from '../../src/receive/index.ts';
import { parsed, post, received, redirected } from '../incoming.ts';
import { callbackData, OTHER_KEY, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const failed = new Error('the handler failed');
const fail = (): never => {
  throw failed;
};
const never = () => new Promise(() => undefined);
const genuine = post(parsed(callbackData()));

async function answer(options: Partial<CallbackOptions>, request = genuine): Promise<Reply> {
  const { reply } = await received(request, options);
  if (reply === undefined) throw new Error('The callback was passed through.');
  return reply;
}

test.each([
  ['returns nothing', () => undefined],
  ['returns a value', () => 7],
  ['returns null', () => null],
  ['returns a promise', () => Promise.resolve()],
])('an onCallback that %s is answered 200', async (_, onCallback) => {
  const headers = { 'content-type': JSON_TYPE };
  expect(await answer({ onCallback })).toEqual({ status: 200, headers, body: '{"status":"accepted"}' });
});

test('onCallback gets the verified callback', async () => {
  const onCallback = vi.fn();
  await answer({ onCallback, account: 'shop' });
  expect(onCallback.mock.calls).toMatchObject([
    [{ ok: true, kind: 'callback', account: 'shop', signed: { merchant_reference: 'ORD-1001' } }],
  ]);
});

test('without onCallback, the callback is passed through without a reply', async () => {
  const { reply, callback } = await received(genuine, {});
  expect(reply).toBeUndefined();
  expect(callback?.signed.merchant_reference).toBe('ORD-1001');
});

describe('threat A39: the failures of a handler', () => {
  const down = new UnavailableError('down', { retryAfterSeconds: 7 });
  test.each<[name: string, seconds: string, onCallback: () => unknown, reported: unknown]>([
    ['handler_failed', '30', () => Promise.reject(failed), failed],
    ['handler_failed', '30', fail, failed],
    ['handler_timeout', '30', never, expect.any(TimeoutError)],
    ['unavailable', '7', () => Promise.reject(down), down],
  ])('threat A39: %s is answered with 429 or failureStatus, with Retry-After %s', async (...row) => {
    const [error, seconds, handler, reported] = row;
    for (const failureStatus of [undefined, 503]) {
      const onError = vi.fn();
      const options = { onError, handlerTimeoutMs: 1, failureStatus };
      const expected = {
        status: failureStatus ?? 429,
        headers: { 'content-type': JSON_TYPE, 'retry-after': seconds },
        body: JSON.stringify({ error }),
      };
      expect(await answer({ onCallback: handler, ...options })).toEqual(expected);
      const onRedirect = handler as () => string;
      const { reply } = await redirected({ onRedirect, ...options });
      const isPrivate = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
      expect(reply).toEqual({ ...expected, headers: { ...expected.headers, ...isPrivate } });
      expect(onError.mock.calls).toEqual([[reported], [reported]]);
    }
  });

  test('threat A39: a body that was consumed unparsed is answered with failureStatus, and the error names the remedy', async () => {
    const onError = vi.fn();
    for (const failureStatus of [undefined, 500]) {
      const options = { onError, failureStatus, onCallback: () => undefined };
      expect(await answer(options, post({ state: 'consumed' }))).toEqual({
        status: failureStatus ?? 429,
        headers: { 'content-type': JSON_TYPE, 'retry-after': '30' },
        body: '{"error":"body_consumed"}',
      });
    }
    const message = expect.stringMatching(/Mount paymentCallbacks\(\) before/);
    expect(onError).toHaveBeenLastCalledWith(expect.objectContaining({ option: 'body', message }));
  });

  test('the time-out reaches onError as a TimeoutError that says how to go on', async () => {
    const onError = vi.fn();
    await answer({ onCallback: never, handlerTimeoutMs: 1, onError });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      message:
        'The handler did not settle within handlerTimeoutMs, so the sender was asked to retry. The handler is still running: ' +
        'deduplicate by transitionId, and store the callback before slow work.',
    });
  });

  test('a rejection after the limit reaches onError, and no unhandled rejection ends the process', async () => {
    const onError = vi.fn();
    let reject = (_error: Error): void => undefined;
    const promise = new Promise<never>((_, rejectIt) => {
      reject = rejectIt;
    });
    await answer({ onCallback: () => promise, handlerTimeoutMs: 1, onError });
    reject(failed);
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(2));
    expect(onError).toHaveBeenLastCalledWith(failed);
  });

  test('a handler that settles within the limit is never reported', async () => {
    const onError = vi.fn();
    const onCallback = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    expect(await answer({ onCallback, handlerTimeoutMs: 60_000, onError })).toMatchObject({ status: 200 });
    expect(onError).not.toHaveBeenCalled();
  });

  test('of several concurrent handlers, those that hang are answered with 429, and the others with 200', async () => {
    const hangs = [true, false, true, false, true];
    const queue = [...hangs];
    const onCallback = () => (queue.shift() ? never() : Promise.resolve());
    const options = { onCallback, handlerTimeoutMs: 5, onError: () => undefined };
    const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, ...options });
    const all = await Promise.all(hangs.map(() => receiveCallback(genuine, receiver)));
    const expected = hangs.map((isHanging) => (isHanging ? 429 : 200));
    expect(all.map(({ reply }) => reply?.status)).toEqual(expected);
  });
});

describe('hooks', () => {
  let printed: MockInstance<typeof console.error>;
  beforeEach(() => {
    printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  });
  afterEach(() => printed.mockRestore());

  test.each([
    ['throws', fail],
    ['rejects', () => Promise.reject(failed)],
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
    expect(await answer({ onCallback: () => Promise.reject(thrown), onError })).toMatchObject({
      status: 429,
    });
    expect(printed.mock.calls).toEqual([[expected]]);
  });
});

const data = callbackData({ merchant_reference: 'A:B' });
const authentic = post(parsed(data), { 'hmac-signature': signatureFor('A:B') });

test('a refusal whose signature is valid is acknowledged after its evidence was kept', async () => {
  const kept: AuthenticRefusal[] = [];
  const onAuthenticRefusal = (refusal: AuthenticRefusal): number => kept.push(refusal);
  expect(await answer({ onAuthenticRefusal }, authentic)).toMatchObject({ status: 200 });
  expect(kept).toMatchObject([{ code: 'ambiguous', evidence: { signed: { merchant_reference: 'A:B' } } }]);
});

test('evidence that cannot be kept is not acknowledged', async () => {
  const onAuthenticRefusal = (): never => {
    throw new UnavailableError('The database is unavailable.');
  };
  const options = { onAuthenticRefusal, onError: () => undefined };
  expect(await answer(options, authentic)).toMatchObject({ status: 429, headers: { 'retry-after': '5' } });
});

test('without onAuthenticRefusal, such a callback is refused, and a forged one never reaches it', async () => {
  expect(await answer({}, authentic)).toMatchObject({ status: 401, body: '{"error":"unauthorized"}' });
  const onAuthenticRefusal = vi.fn();
  const options = { signingKey: OTHER_KEY, onAuthenticRefusal };
  expect(await answer(options, authentic)).toMatchObject({ status: 401 });
  expect(onAuthenticRefusal).not.toHaveBeenCalled();
});
