import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Client, ClientOptions } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { ApiError, TimeoutError } from '../../src/errors.ts';
import { failureOf } from './failure-of.ts';
import { fetchThen } from './fetch-then.ts';
import { failure, type LocalService, silence, stall, startService, success } from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';
import { provider, publicKey } from './wire-samples.ts';

const providers = success({ payment_providers: [provider] });

function clientFor({ baseUrl }: LocalService, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl, publicKey, ...options });
}

describe('one deadline covers the whole call', () => {
  test('slow headers end in a TimeoutError', async () => {
    const { timing, deadlines, pending, expire } = recordedTiming();
    const service = await startService(expire);
    const error = await failureOf(clientFor(service, { timing, timeoutMs: 12_000 }).listPaymentProviders());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      code: 'timeout',
      message:
        'listPaymentProviders: no complete response within timeoutMs (12000), which ended in attempt 1. ' +
        'Try again later, or raise timeoutMs.',
    });
    expect(deadlines).toEqual([12_000]);
    expect(pending.size).toBe(0);
    expect(service.requests).toHaveLength(1);
    await service.requests[0]?.closed;
  });

  test('a silent service ends in a TimeoutError with real timers', async () => {
    const service = await startService(silence);
    const error = await failureOf(clientFor(service, { timeoutMs: 50 }).listPaymentProviders());
    expect(error).toBeInstanceOf(TimeoutError);
    await service.requests[0]?.closed;
  });

  test.each([200, 500])('a stalled body of a %s ends in a TimeoutError', async (status) => {
    const { timing, expire } = recordedTiming();
    const service = await startService(stall(status));
    const client = clientFor(service, { timing, fetch: fetchThen(expire) });
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
    await service.requests[0]?.closed;
  });

  test('the deadline covers all attempts, and its error has the previous failure as its cause', async () => {
    const { timing, deadlines, waits, expire } = recordedTiming();
    const service = await startService(failure(500), failure(503), expire);
    const error = await failureOf(clientFor(service, { timing }).listPaymentProviders());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(String(error)).toContain('attempt 3');
    expect(error).toMatchObject({ cause: { code: 'api_error', status: 503 } });
    expect(waits).toHaveLength(2);
    expect(deadlines).toEqual([10_000]);
  });

  test('the deadline covers the waits', async () => {
    const { timing, deadlines, expire } = recordedTiming();
    const service = await startService(failure(503, { 'retry-after': '5' }), providers);
    const client = clientFor(service, {
      timing: {
        ...timing,
        schedule: (callback, delayMs) => {
          if (delayMs === 5000) setImmediate(expire);
          return delayMs === 5000 ? () => {} : (timing.schedule?.(callback, delayMs) ?? (() => {}));
        },
      },
    });
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
    expect(deadlines).toEqual([10_000]);
    expect(service.requests).toHaveLength(1);
  });

  test('a wait that would outlast the deadline is not begun, and the call fails immediately', async () => {
    const { timing, waits } = recordedTiming(() => 1);
    let elapsed = 0;
    const service = await startService((response, request) => {
      elapsed += 4000;
      failure(503)(response, request);
    });
    // 4 s and 250 ms, then 8 s and 500 ms, then 12 s are over: nothing left for 1000 ms.
    const client = clientFor(service, {
      timing: { ...timing, monotonic: () => elapsed },
      maxAttempts: 9,
    });
    const error = await failureOf(client.listPaymentProviders());
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
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      publicKey,
      timeoutMs: 20,
      fetch: () => late,
    });
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
    const body = new ReadableStream({
      cancel: () => {
        isDiscarded = true;
      },
    });
    answer(new Response(body));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDiscarded).toBe(true);
  });
});

describe('a body that ignores the signal', () => {
  test('the body is cancelled when the deadline passes', async () => {
    const { timing, expire } = recordedTiming();
    let isCancelled = false;
    const body = new ReadableStream({
      pull: () => new Promise(() => setImmediate(expire)),
      cancel: () => {
        isCancelled = true;
      },
    });
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      publicKey,
      timing,
      fetch: () => new Response(body),
    });
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(TimeoutError);
    expect(isCancelled).toBe(true);
  });
});

describe('the caller can cancel the call', () => {
  const reason = new Error('the customer left');

  test('a call that is cancelled before it starts sends nothing', async () => {
    const service = await startService(providers);
    const call = clientFor(service).listPaymentProviders({}, { signal: AbortSignal.abort(reason) });
    expect(await failureOf(call)).toBe(reason);
    expect(service.requests).toEqual([]);
  });

  test('a call that is cancelled before it starts does not reach a fetch that ignores its signal', async () => {
    let calls = 0;
    const fetch = (): Response => {
      calls += 1;
      return new Response();
    };
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', publicKey, fetch });
    const call = client.listPaymentProviders({}, { signal: AbortSignal.abort(reason) });
    expect(await failureOf(call)).toBe(reason);
    expect(calls).toBe(0);
  });

  test('a call can be cancelled during slow headers', async () => {
    const { timing, pending } = recordedTiming();
    const controller = new AbortController();
    const service = await startService(() => controller.abort(reason));
    const call = clientFor(service, { timing }).listPaymentProviders({}, { signal: controller.signal });
    expect(await failureOf(call)).toBe(reason);
    await service.requests[0]?.closed;
    expect(pending.size).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('a call can be cancelled during a stalled body', async () => {
    const { timing, pending } = recordedTiming();
    const controller = new AbortController();
    const service = await startService(stall(200));
    const fetch = fetchThen(() => controller.abort(reason));
    const call = clientFor(service, { timing, fetch }).listPaymentProviders(
      {},
      { signal: controller.signal },
    );
    expect(await failureOf(call)).toBe(reason);
    await service.requests[0]?.closed;
    expect(pending.size).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('a call that is cancelled while it waits for a retry leaves no timer, listener or request', async () => {
    const controller = new AbortController();
    const pending = new Set<NodeJS.Timeout>();
    const schedule = (callback: () => void, delayMs: number): (() => void) => {
      const timer = setTimeout(() => {
        pending.delete(timer);
        callback();
      }, delayMs);
      pending.add(timer);
      if (delayMs === 5000) queueMicrotask(() => controller.abort(reason));
      return () => {
        pending.delete(timer);
        clearTimeout(timer);
      };
    };
    const service = await startService(failure(503, { 'retry-after': '5' }), providers);
    const client = clientFor(service, { timing: { schedule } });
    const call = client.listPaymentProviders({}, { signal: controller.signal });
    expect(await failureOf(call)).toBe(reason);
    expect(pending.size).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(service.requests).toHaveLength(1);
  });

  test('a signal without a reason rejects with the AbortError of the platform', async () => {
    const controller = new AbortController();
    const service = await startService(() => controller.abort());
    const call = clientFor(service).listPaymentProviders({}, { signal: controller.signal });
    expect(await failureOf(call)).toBe(controller.signal.reason);
  });

  test('a signal that outlives many calls collects no listeners', async () => {
    const { signal } = new AbortController();
    const { timing, pending } = recordedTiming();
    const service = await startService(failure(503), providers);
    const client = clientFor(service, { timing });
    for (let call = 0; call < 5; call++) await client.listPaymentProviders({}, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(pending.size).toBe(0);
  });
});
