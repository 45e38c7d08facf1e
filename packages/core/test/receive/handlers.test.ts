import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { TimeoutError } from '../../src/errors.ts';
import { type AuthenticRefusal, UnavailableError } from '../../src/index.ts';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  type Reply,
  receiveCallback,
  receiveRedirect,
} from '../../src/receive/index.ts';
import { parsed, post } from '../incoming.ts';
import {
  callbackData,
  OTHER_KEY,
  QUERY,
  signatureFor,
  SIGNING_KEY as signingKey,
} from '../signed-callbacks.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const failed = new Error('the handler failed');

async function answer(
  options: Partial<CallbackOptions>,
  request = post(parsed(callbackData())),
): Promise<Reply> {
  const { reply } = await receiveCallback(request, createCallbackReceiver({ signingKey, ...options }));
  if (reply === undefined) throw new Error('The callback was passed through.');
  return reply;
}

describe('onCallback', () => {
  test.each([
    ['returns nothing', () => undefined],
    ['returns a value', () => 7],
    ['returns a promise', () => Promise.resolve()],
  ])('an onCallback that %s is answered 200', async (_, onCallback) => {
    expect(await answer({ onCallback })).toEqual({
      status: 200,
      headers: { 'content-type': JSON_TYPE },
      body: '{"status":"accepted"}',
    });
  });

  test('onCallback gets the verified callback', async () => {
    const onCallback = vi.fn();
    await answer({ onCallback, account: 'shop' });
    expect(onCallback.mock.calls).toMatchObject([
      [{ ok: true, kind: 'callback', account: 'shop', signed: { merchant_reference: 'ORD-1001' } }],
    ]);
  });

  test('without onCallback, the callback is passed through without a reply', async () => {
    const received = await receiveCallback(
      post(parsed(callbackData())),
      createCallbackReceiver({ signingKey }),
    );
    expect(received.reply).toBeUndefined();
    expect(received.callback?.signed.merchant_reference).toBe('ORD-1001');
  });
});

describe('threat A39: the three failures of a handler', () => {
  const failures: [name: string, seconds: string, onCallback: () => unknown][] = [
    ['handler_failed', '30', () => Promise.reject(failed)],
    ['handler_timeout', '30', () => new Promise(() => undefined)],
    ['unavailable', '7', () => Promise.reject(new UnavailableError('down', { retryAfterSeconds: 7 }))],
  ];

  test.each(failures)(
    'threat A39: %s is answered with 429 by default, with Retry-After %s',
    async (error, seconds, onCallback) => {
      const onError = vi.fn();
      expect(await answer({ onCallback, onError, handlerTimeoutMs: 1 })).toEqual({
        status: 429,
        headers: { 'content-type': JSON_TYPE, 'retry-after': seconds },
        body: JSON.stringify({ error }),
      });
      expect(onError).toHaveBeenCalledOnce();
    },
  );

  test.each(failures)('threat A39: %s is answered with failureStatus', async (error, seconds, onCallback) => {
    const options = { onError: () => undefined, handlerTimeoutMs: 1, failureStatus: 503 };
    const expected = { status: 503, headers: { 'retry-after': seconds }, body: JSON.stringify({ error }) };
    expect(await answer({ onCallback, ...options })).toMatchObject(expected);
    const receiver = createRedirectReceiver({
      signingKey,
      onRedirect: onCallback as () => string,
      ...options,
    });
    const { reply } = await receiveRedirect({ method: 'GET', url: `/return?${QUERY}` }, receiver);
    expect(reply).toMatchObject({
      ...expected,
      headers: { ...expected.headers, 'cache-control': 'no-store' },
    });
  });

  test('a handler that throws before it returns a promise is a failed handler', async () => {
    const onError = vi.fn();
    const onCallback = (): never => {
      throw failed;
    };
    expect(await answer({ onCallback, onError })).toMatchObject({ status: 429 });
    expect(onError.mock.calls).toEqual([[failed]]);
  });

  test('threat A39: a body that was consumed unparsed is answered with failureStatus and Retry-After', async () => {
    const onError = vi.fn();
    const request = post({ state: 'consumed' });
    for (const failureStatus of [undefined, 500]) {
      expect(await answer({ onError, failureStatus, onCallback: () => undefined }, request)).toEqual({
        status: failureStatus ?? 429,
        headers: { 'content-type': JSON_TYPE, 'retry-after': '30' },
        body: '{"error":"body_consumed"}',
      });
    }
    expect(onError).toHaveBeenLastCalledWith(expect.objectContaining({ option: 'body' }));
  });
});

describe('handlerTimeoutMs', () => {
  test('the time-out reaches onError as a TimeoutError that says how to go on', async () => {
    const onError = vi.fn();
    await answer({ onCallback: () => new Promise(() => undefined), handlerTimeoutMs: 1, onError });
    expect(onError.mock.calls).toEqual([[expect.any(TimeoutError)]]);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      message:
        'The handler did not settle within handlerTimeoutMs, so the sender was asked to retry. The handler is still running: ' +
        'deduplicate by transitionId, and store the callback before slow work.',
    });
  });

  test('a rejection after the limit reaches onError, and no unhandled rejection ends the process', async () => {
    const onError = vi.fn();
    const { promise, reject } = withReject();
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
    const receiver = createCallbackReceiver({
      signingKey,
      onCallback: () => (queue.shift() ? new Promise(() => undefined) : Promise.resolve()),
      handlerTimeoutMs: 5,
      onError: () => undefined,
    });
    const request = post(parsed(callbackData()));
    const received = await Promise.all(hangs.map(() => receiveCallback(request, receiver)));
    expect(received.map(({ reply }) => reply?.status)).toEqual(
      hangs.map((isHanging) => (isHanging ? 429 : 200)),
    );
  });

  function withReject(): { promise: Promise<never>; reject: (error: Error) => void } {
    let reject = (_error: Error): void => undefined;
    const promise = new Promise<never>((_, rejectIt) => {
      reject = rejectIt;
    });
    return { promise, reject };
  }
});

describe('hooks', () => {
  let printed: MockInstance<typeof console.error>;
  beforeEach(() => {
    printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  });
  afterEach(() => printed.mockRestore());

  test.each([
    [
      'throws',
      () => {
        throw failed;
      },
    ],
    ['rejects', () => Promise.reject(failed)],
  ])('an onRefused that %s changes no answer, and its error reaches onError', async (_, onRefused) => {
    const onError = vi.fn();
    const request = post(parsed(callbackData()), { 'hmac-signature': '' });
    expect(await answer({ onRefused, onError }, request)).toMatchObject({ status: 401 });
    await vi.waitFor(() => expect(onError.mock.calls).toEqual([[failed]]));
  });

  test('an error in onError changes no answer, and is printed', async () => {
    const inHook = new Error('the reporter failed');
    const onError = (): never => {
      throw inHook;
    };
    expect(await answer({ onCallback: () => Promise.reject(failed), onError })).toMatchObject({
      status: 429,
    });
    expect(printed).toHaveBeenCalledWith(inHook);
  });

  test('without onError, the error of a handler is printed', async () => {
    expect(await answer({ onCallback: () => Promise.reject(failed) })).toMatchObject({ status: 429 });
    expect(printed).toHaveBeenCalledWith(failed);
  });

  test('without onError, only the message of an UnavailableError is printed', async () => {
    const onCallback = () => Promise.reject(new UnavailableError('The database is unavailable.'));
    expect(await answer({ onCallback })).toMatchObject({ status: 429 });
    expect(printed.mock.calls).toEqual([['The database is unavailable.']]);
  });
});

describe('onAuthenticRefusal', () => {
  const data = callbackData({ merchant_reference: 'A:B' });
  const authentic = post(parsed(data), { 'hmac-signature': signatureFor('A:B') });

  test('a refusal whose signature is valid is acknowledged after its evidence was kept', async () => {
    const kept: AuthenticRefusal[] = [];
    expect(await answer({ onAuthenticRefusal: (refusal) => kept.push(refusal) }, authentic)).toMatchObject({
      status: 200,
    });
    expect(kept).toMatchObject([{ code: 'ambiguous', evidence: { signed: { merchant_reference: 'A:B' } } }]);
  });

  test('evidence that cannot be kept is not acknowledged', async () => {
    const onAuthenticRefusal = (): never => {
      throw new UnavailableError('The database is unavailable.');
    };
    const options = { onAuthenticRefusal, onError: () => undefined };
    expect(await answer(options, authentic)).toMatchObject({ status: 429, headers: { 'retry-after': '5' } });
  });

  test('without onAuthenticRefusal, such a callback is refused', async () => {
    expect(await answer({}, authentic)).toMatchObject({ status: 401 });
  });

  test('a forged callback is never evidence', async () => {
    const onAuthenticRefusal = vi.fn();
    expect(await answer({ signingKey: OTHER_KEY, onAuthenticRefusal }, authentic)).toMatchObject({
      status: 401,
    });
    expect(onAuthenticRefusal).not.toHaveBeenCalled();
  });
});
