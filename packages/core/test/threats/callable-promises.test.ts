import { expect, test, vi } from 'vitest';
import type { CallbackOptions, Reply } from '../../src/receive/index.ts';
import { runHook } from '../../src/reporting/hook.ts';
import { parsed, post, received, redirected } from '../incoming.ts';
import { callbackData, signatureFor } from '../signed-callbacks.ts';

// An RPC promise is a Proxy of a function. A query builder is an object, and some libraries return a function with `then`.

function thenable(target: object, promise: Promise<unknown>): object {
  return Object.defineProperty(target, 'then', { value: promise.then.bind(promise) });
}

const thenOf = (promise: Promise<unknown>) => (_target: object, name: PropertyKey) =>
  name === 'then' ? promise.then.bind(promise) : undefined;

/** Every form that a promise of another library can have. */
const FORMS: [name: string, wrap: (promise: Promise<unknown>) => unknown][] = [
  ['a promise', (promise) => promise],
  ['a function with then', (promise) => thenable(() => undefined, promise)],
  ['a function whose then is inherited', (promise) => Object.setPrototypeOf(() => 1, thenable({}, promise))],
  [
    'a proxy of a function that makes then on demand',
    (promise) => new Proxy(() => 1, { get: thenOf(promise) }),
  ],
  ['a class with a static then', (promise) => thenable(class {}, promise)],
  [
    'an object whose getter gives then',
    (promise) => Object.defineProperty({}, 'then', { get: () => thenOf(promise)({}, 'then') }),
  ],
];

/** For each awaited hook: runs it with this result, and returns the reply. */
type Ask = (result: () => unknown, options?: object) => Promise<Reply | undefined>;
const HOOKS: [hook: string, ask: Ask][] = [
  ['onCallback', (onCallback, options) => ask({ ...options, onCallback })],
  ['onAuthenticRefusal', (onAuthenticRefusal, options) => ask({ ...options, onAuthenticRefusal }, 'A:B')],
  [
    'onRedirect',
    (result, options) =>
      redirected({ ...options, onRedirect: result as () => string }).then(({ reply }) => reply),
  ],
];

async function ask(options: Partial<CallbackOptions>, reference: 'ORD-1001' | 'A:B' = 'ORD-1001') {
  const headers = { 'hmac-signature': signatureFor(reference) };
  const request = post(parsed(callbackData({ merchant_reference: reference })), headers);
  return (await received(request, options)).reply;
}

const CASES = HOOKS.flatMap(([hook, run]) => FORMS.map(([form, wrap]) => ({ hook, run, form, wrap })));
const failure = new Error('the order service refused');

test.each(CASES)('threat A41: $hook that returns $form is answered after it settled', async (given) => {
  let settle: (value: unknown) => void = () => undefined;
  const promise = new Promise((resolve) => {
    settle = resolve;
  });
  const answered = vi.fn();
  const reply = given.run(() => given.wrap(promise));
  void reply.then(answered);
  for (let turn = 0; turn < 100; turn++) await undefined;
  expect(answered).not.toHaveBeenCalled();
  settle('/thanks');
  expect((await reply)?.status).toBe(given.hook === 'onRedirect' ? 303 : 200);
});

test.each(CASES)('threat A41: the failure of $form reaches onError of $hook', async (given) => {
  const onError = vi.fn();
  const reply = await given.run(() => given.wrap(Promise.reject(failure)), { onError });
  expect(reply).toMatchObject({ status: 429, body: '{"error":"handler_failed"}' });
  expect(onError.mock.calls).toEqual([[failure]]);
});

test.each(CASES)('threat A41: $form that never settles ends $hook after handlerTimeoutMs', async (given) => {
  const options = { onError: () => undefined, handlerTimeoutMs: 1 };
  const reply = await given.run(() => given.wrap(new Promise(() => undefined)), options);
  expect(reply).toMatchObject({ status: 429, body: '{"error":"handler_timeout"}' });
});

test.each(HOOKS)('threat A41: a then that throws when it is read fails %s', async (_, run) => {
  for (const target of [{}, () => undefined]) {
    const onError = vi.fn();
    const get = (): never => {
      throw failure;
    };
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
