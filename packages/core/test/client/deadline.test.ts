import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Timing } from '../../src/client/client.ts';
import { ApiError, TimeoutError } from '../../src/errors.ts';
import {
  type Answer,
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

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('slow headers end in a TimeoutError', async () => {
  const { timing, deadlines, pending, expire } = recordedTiming();
  const { client, requests } = await serve(expire, { timing, timeoutMs: 12_000 });
  const error = await failureOf(client.listPaymentProviders());
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({
    code: 'timeout',
    message:
      'listPaymentProviders: no complete response within timeoutMs (12000), which ended in attempt 1. ' +
      'Try again later, or raise timeoutMs.',
  });
  expect([deadlines, pending.size, requests.length]).toEqual([[12_000], 0, 1]);
  await requests[0]?.closed;
});

test.each([200, 500])('a stalled body of a %s ends in a TimeoutError', async (status) => {
  const { timing, expire } = recordedTiming();
  const { client, requests } = await serve(stall(status), { timing, fetch: fetchThen(expire) });
  expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
  await requests[0]?.closed;
});

test('the deadline covers all attempts, and its error has the previous failure as its cause', async () => {
  const { timing, deadlines, waits, expire } = recordedTiming();
  const error = await failureWith([failure(500), failure(503), expire], { timing });
  expect(error).toBeInstanceOf(TimeoutError);
  expect(String(error)).toContain('attempt 3');
  expect(error).toMatchObject({ cause: { code: 'api_error', status: 503 } });
  expect([waits.length, deadlines]).toEqual([2, [10_000]]);
});

test('the deadline covers the waits', async () => {
  const { timing, deadlines, expire } = recordedTiming();
  const schedule: Timing['schedule'] = (callback, delayMs) => {
    if (delayMs === 5000) setImmediate(expire);
    return delayMs === 5000 ? () => {} : (timing.schedule?.(callback, delayMs) ?? (() => {}));
  };
  const answers = [failure(503, { 'retry-after': '5' }), providers];
  const { client, requests } = await serve(answers, { timing: { ...timing, schedule } });
  expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
  expect([deadlines, requests.length]).toEqual([[10_000], 1]);
});

test('a wait that would outlast the deadline is not begun, and the call fails immediately', async () => {
  const { timing, waits } = recordedTiming(() => 1);
  let elapsed = 0;
  const slow: Answer = (response, request) => {
    elapsed += 4000;
    failure(503)(response, request);
  };
  // 4 s and 250 ms, then 8 s and 500 ms, then 12 s have passed: no time is left for 1000 ms.
  const options = { timing: { ...timing, monotonic: () => elapsed }, maxAttempts: 9 };
  const error = await failureWith(slow, options);
  expect(error).toBeInstanceOf(ApiError);
  expect(String(error)).toContain('A retry needs a wait of 1 s, and timeoutMs (10000) ends before it.');
  expect(waits).toEqual([250, 500]);
});

test('the late response of a fetch that ignores its signal is discarded', async () => {
  let isDiscarded = false;
  let answer: (response: Response) => void = () => {};
  const late = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  const client = clientWith(() => late, { timeoutMs: 20 });
  expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
  const cancel = (): void => {
    isDiscarded = true;
  };
  answer(new Response(new ReadableStream({ cancel })));
  await turn();
  expect(isDiscarded).toBe(true);
});

test('a body that ignores the signal is cancelled when the deadline passes', async () => {
  const { timing, expire } = recordedTiming();
  let isCancelled = false;
  const body = new ReadableStream({
    pull: () => turn().then(expire),
    cancel: () => {
      isCancelled = true;
    },
  });
  const client = clientWith(() => new Response(body), { timing });
  expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
  expect(isCancelled).toBe(true);
});

const reason = new Error('the customer left');

test('a call that is cancelled before it starts does not reach fetch, even one that ignores its signal', async () => {
  let calls = 0;
  const client = clientWith(() => {
    calls += 1;
    return new Response();
  });
  const call = client.listPaymentProviders({}, { signal: AbortSignal.abort(reason) });
  expect(await failureOf(call)).toBe(reason);
  expect(calls).toBe(0);
});

test.each<[when: string, answer: (abort: () => void) => Answer, happens: boolean]>([
  ['slow headers', (abort) => () => abort(), false],
  ['a stalled body', () => stall(200), true],
])('a call can be cancelled during %s, and leaves no timer and no listener', async (_, answer, isInFetch) => {
  const { timing, pending } = recordedTiming();
  const { signal, ...controller } = abortable();
  const options = isInFetch ? { timing, fetch: fetchThen(controller.abort) } : { timing };
  const { client, requests } = await serve(answer(controller.abort), options);
  expect(await failureOf(client.listPaymentProviders({}, { signal }))).toBe(reason);
  await requests[0]?.closed;
  expect([pending.size, getEventListeners(signal, 'abort')]).toEqual([0, []]);
});

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(reason) };
}

test('a call that is cancelled while it waits for a retry leaves no timer, listener or request', async () => {
  const { signal, abort } = abortable();
  const pending = new Set<NodeJS.Timeout>();
  const schedule = (callback: () => void, delayMs: number): (() => void) => {
    const timer = setTimeout(() => {
      pending.delete(timer);
      callback();
    }, delayMs);
    pending.add(timer);
    if (delayMs === 5000) queueMicrotask(abort);
    return () => {
      pending.delete(timer);
      clearTimeout(timer);
    };
  };
  const answers = [failure(503, { 'retry-after': '5' }), providers];
  const { client, requests } = await serve(answers, { timing: { schedule } });
  expect(await failureOf(client.listPaymentProviders({}, { signal }))).toBe(reason);
  expect([pending.size, getEventListeners(signal, 'abort'), requests.length]).toEqual([0, [], 1]);
});

test('a signal that outlives its calls collects no listeners', async () => {
  const { signal } = new AbortController();
  await (await serve(providers)).client.listPaymentProviders({}, { signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a fetch that returns no response throws an InvalidResponseError', async () => {
  const client = clientWith(() => ({}) as Response, { maxAttempts: 1 });
  expect(await failureOf(client.listPaymentProviders())).toMatchObject({ code: 'invalid_response' });
});
