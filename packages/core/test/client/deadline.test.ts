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
  stall,
} from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';

// One deadline covers the whole call, and the caller can cancel it.

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

test('a body that ignores the signal is cancelled by the deadline', async () => {
  const { timing, expire } = recordedTiming();
  const cancel = vi.fn();
  const pull = (): Promise<void> => {
    setTimeout(expire);
    return new Promise(() => {});
  };
  const client = clientWith(() => new Response(new ReadableStream({ pull, cancel })), { timing });
  expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
  expect(cancel).toHaveBeenCalledOnce();
});

test('the deadline covers all attempts, and its error has the previous failure as its cause', async () => {
  const { timing, deadlines, waits, expire } = recordedTiming();
  const error = await failureWith([failure(500), failure(503), expire], { timing });
  expect(error).toBeInstanceOf(TimeoutError);
  const message = expect.stringContaining('attempt 3');
  expect(error).toMatchObject({ message, cause: { code: 'api_error', status: 503 } });
  expect([waits.length, deadlines]).toEqual([2, [10_000]]);
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
  expect(String(error)).toContain('A retry needs a wait of 1 s, but timeoutMs (10000) ends first.');
  expect(waits).toEqual([250, 500]);
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
