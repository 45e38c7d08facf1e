import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { Timing } from '../../src/client/client.ts';
import { ApiError, TimeoutError } from '../../src/errors.ts';
import {
  type Answer,
  attempt,
  clientWith,
  failure,
  failureOf,
  failureWith,
  fetchThen,
  providers,
  serve,
  stall,
} from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';

// One deadline covers the whole call, and the caller can cancel it.

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const reason = new Error('the customer left');
const later = [failure(503, { 'retry-after': '5' }), providers];

test('slow headers end in a TimeoutError', async () => {
  const { timing, deadlines, pending, expire } = recordedTiming();
  const { error, sent, requests } = await attempt(expire, { timing, timeoutMs: 12_000 });
  const message =
    'listPaymentProviders: no complete response within timeoutMs (12000), which ended in attempt 1. ' +
    'Try again later, or raise timeoutMs.';
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ code: 'timeout', message });
  expect([deadlines, pending.size, sent]).toEqual([[12_000], 0, 1]);
  await requests[0]?.closed;
});

test.each([200, 500])('a stalled body of a %s ends in a TimeoutError', async (status) => {
  const { timing, expire } = recordedTiming();
  const { error, requests } = await attempt(stall(status), { timing, fetch: fetchThen(expire) });
  expect(error).toBeInstanceOf(TimeoutError);
  await requests[0]?.closed;
});

test('the deadline covers all attempts, and its error has the previous failure as its cause', async () => {
  const { timing, deadlines, waits, expire } = recordedTiming();
  const error = await failureWith([failure(500), failure(503), expire], { timing });
  expect(error).toBeInstanceOf(TimeoutError);
  const message = expect.stringContaining('attempt 3');
  expect(error).toMatchObject({ message, cause: { code: 'api_error', status: 503 } });
  expect([waits.length, deadlines]).toEqual([2, [10_000]]);
});

test('the deadline covers the waits', async () => {
  const { timing, deadlines, expire } = recordedTiming();
  const schedule: Timing['schedule'] = (callback, delayMs) => {
    if (delayMs === 5000) setImmediate(expire);
    return delayMs === 5000 ? () => {} : (timing.schedule?.(callback, delayMs) ?? (() => {}));
  };
  const { error, sent } = await attempt(later, { timing: { ...timing, schedule } });
  expect(error).toBeInstanceOf(TimeoutError);
  expect([deadlines, sent]).toEqual([[10_000], 1]);
});

test('a wait that would outlast the deadline is not begun, and the call fails immediately', async () => {
  const { timing, waits } = recordedTiming(() => 1);
  let elapsed = 0;
  const slow: Answer = (...exchange) => {
    elapsed += 4000;
    failure(503)(...exchange);
  };
  // 4 s and 250 ms, then 8 s and 500 ms, then 12 s have passed: no time is left for 1000 ms.
  const options = { timing: { ...timing, monotonic: () => elapsed }, maxAttempts: 9 };
  const error = await failureWith(slow, options);
  expect(error).toBeInstanceOf(ApiError);
  expect(String(error)).toContain('A retry needs a wait of 1 s, and timeoutMs (10000) ends before it.');
  expect(waits).toEqual([250, 500]);
});

test('the late response of a fetch that ignores its signal is discarded', async () => {
  const cancel = vi.fn();
  let answer: (response: Response) => void = () => {};
  const late = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  const client = clientWith(() => late, { timeoutMs: 20 });
  expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
  answer(new Response(new ReadableStream({ cancel })));
  await turn();
  expect(cancel).toHaveBeenCalled();
});

test('a body that ignores the signal is cancelled when the deadline passes', async () => {
  const { timing, expire } = recordedTiming();
  const cancel = vi.fn();
  const body = new ReadableStream({ pull: () => turn().then(expire), cancel });
  const client = clientWith(() => new Response(body), { timing });
  expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
  expect(cancel).toHaveBeenCalled();
});

test('a call that is cancelled before it starts does not reach fetch, even one that ignores its signal', async () => {
  const fetch = vi.fn(() => new Response());
  const call = clientWith(fetch).listPaymentProviders({}, { signal: AbortSignal.abort(reason) });
  expect(await failureOf(call)).toBe(reason);
  expect(fetch).not.toHaveBeenCalled();
});

test.each<[when: string, answers: (abort: () => void) => Answer | Answer[]]>([
  ['slow headers', (abort) => () => abort()],
  ['a stalled body', () => stall(200)],
  ['a wait for a retry', () => later],
])(
  'a call that is cancelled during %s leaves no timer, no listener and no request',
  async (when, answers) => {
    const controller = new AbortController();
    const abort = (): void => controller.abort(reason);
    const { timing, pending } = recordedTiming();
    const schedule: Timing['schedule'] = (callback, delayMs) => {
      if (delayMs === 5000) queueMicrotask(abort);
      return timing.schedule?.(callback, delayMs) ?? (() => {});
    };
    const isInBody = when === 'a stalled body';
    const options = { timing: { schedule }, ...(isInBody && { fetch: fetchThen(abort) }) };
    const call = await attempt(answers(abort), options, (client) =>
      client.listPaymentProviders({}, controller),
    );
    expect(call.error).toBe(reason);
    await call.requests[0]?.closed;
    expect([pending.size, listeners(controller.signal), call.sent]).toEqual([0, 0, 1]);
  },
);

test.each([
  ['without a cache', undefined],
  ['with a cache', { ttlMs: 60_000 }],
])('many calls with one signal, %s, have one listener on it, and leave none', async (_name, cache) => {
  const { client } = await serve(providers, { cache });
  const { signal } = new AbortController();
  const call = (currency: string | number) =>
    client.listPaymentProviders({ currency: `${currency}` }, { signal });
  const calls = Array.from({ length: 30 }, (_, number) => call(number));
  await turn();
  expect(listeners(signal)).toBe(1);
  await Promise.all(calls);
  expect(listeners(signal)).toBe(0);
  await call('again');
  expect(listeners(signal)).toBe(0);
});

test('a signal that aborts ends all calls that have it, and no other', async () => {
  const { client } = await serve(stall(200));
  const [one, other] = [new AbortController(), new AbortController()];
  const start = ({ signal }: AbortController) =>
    failureOf(client.listPaymentProviders({ currency: String(Math.random()) }, { signal }));
  const ended = [start(one), start(one), start(one)];
  const going = start(other);
  await turn();
  one.abort('the customer left');
  expect(await Promise.all(ended)).toEqual(Array(3).fill('the customer left'));
  expect([listeners(one.signal), listeners(other.signal)]).toEqual([0, 1]);
  other.abort('the end');
  expect(await going).toBe('the end');
  // Aborted before: no listener.
  expect(await start(one)).toBe('the customer left');
  expect(listeners(one.signal)).toBe(0);
});

test('a fetch that returns no response throws an InvalidResponseError', async () => {
  const client = clientWith(() => ({}) as Response, { maxAttempts: 1 });
  expect(await failureOf(client.listPaymentProviders())).toMatchObject({ code: 'invalid_response' });
});
