import { expect, test, vi } from 'vitest';
import type { CallbackOptions, Reply } from '../../src/receive/index.ts';
import { runHook } from '../../src/reporting/hook.ts';
import { parsed, post, received, redirected } from '../incoming.ts';
import { callbackData, signatureFor } from '../signed-callbacks.ts';

// An RPC promise is a Proxy of a function. A query builder is an object, and some libraries return a function with `then`.

type Pending = Promise<unknown>;
const thenable = (target: object, promise: Pending): object =>
  Object.defineProperty(target, 'then', { value: promise.then.bind(promise) });
const thenOf = (promise: Pending) => (_target: object, name: PropertyKey) =>
  name === 'then' ? promise.then.bind(promise) : undefined;
const gets = (promise: Pending) =>
  Object.defineProperty({}, 'then', { get: () => thenOf(promise)({}, 'then') });

/** Every form that a promise of another library can have. */
const FORMS: [form: string, wrap: (promise: Pending) => unknown][] = [
  ['a promise', (promise) => promise],
  ['a function with then', (promise) => thenable(() => undefined, promise)],
  ['a function whose then is inherited', (promise) => Object.setPrototypeOf(() => 1, thenable({}, promise))],
  ['a proxy that makes then on demand', (promise) => new Proxy(() => 1, { get: thenOf(promise) })],
  ['a class with a static then', (promise) => thenable(class {}, promise)],
  ['an object whose getter gives then', gets],
];

async function ask(options: Partial<CallbackOptions>, reference: 'ORD-1001' | 'A:B' = 'ORD-1001') {
  const headers = { 'hmac-signature': signatureFor(reference) };
  const request = post(parsed(callbackData({ merchant_reference: reference })), headers);
  return (await received(request, options)).reply;
}

/** For each awaited hook: runs it with this result, and returns the reply. */
type Ask = (result: () => unknown, options?: object) => Promise<Reply | undefined>;
const HOOKS: [hook: string, ask: Ask][] = [
  ['onCallback', (onCallback, options) => ask({ ...options, onCallback })],
  ['onAuthenticRefusal', (onAuthenticRefusal, options) => ask({ ...options, onAuthenticRefusal }, 'A:B')],
  ['onRedirect', async (run, rest) => (await redirected({ ...rest, onRedirect: run as () => string })).reply],
];
const failure = new Error('the order service refused');

test.each(HOOKS.flatMap(([hook, run]) => FORMS.map(([form, wrap]) => ({ hook, run, form, wrap }))))(
  'threat A41: $hook that returns $form is answered after it settled, fails with it, and ends after handlerTimeoutMs',
  async ({ hook, run, wrap }) => {
    const failedAs = (error: string) => ({
      status: 429,
      // A customer sees a page (decision D89).
      body: hook === 'onRedirect' ? expect.stringContaining('is being checked') : JSON.stringify({ error }),
    });
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const answered = vi.fn();
    const reply = run(() => wrap(promise));
    void reply.then(answered);
    for (let turn = 0; turn < 100; turn++) await undefined;
    expect(answered).not.toHaveBeenCalled();
    resolve('/thanks');
    expect((await reply)?.status).toBe(hook === 'onRedirect' ? 303 : 200);

    const onError = vi.fn();
    const failed = await run(() => wrap(Promise.reject(failure)), { onError });
    expect(failed).toMatchObject(failedAs('handler_failed'));
    expect(onError.mock.calls).toEqual([[failure]]);

    const late = await run(() => wrap(new Promise(() => undefined)), { onError, handlerTimeoutMs: 1 });
    expect(late).toMatchObject(failedAs('handler_timeout'));
  },
);

test.each(HOOKS)('threat A41: a then that throws when it is read fails %s', async (_, run) => {
  const get = (): never => {
    throw failure;
  };
  for (const target of [{}, () => undefined]) {
    const onError = vi.fn();
    const thrower = Object.defineProperty(target, 'then', { get });
    expect(await run(() => thrower, { onError })).toMatchObject({ status: 429 });
    expect(onError.mock.calls).toEqual([[failure]]);
  }
});

test.each(FORMS)('threat A41: a hook that only reports awaits %s, too', async (_, wrap) => {
  const reported = await new Promise((resolve) => runHook(() => wrap(Promise.reject(failure)), resolve));
  expect(reported).toBe(failure);
});

test('control: a function without then is a value, and is not called', async () => {
  const value = vi.fn();
  expect(await ask({ onCallback: () => value })).toMatchObject({ status: 200 });
  expect(value).not.toHaveBeenCalled();
});
