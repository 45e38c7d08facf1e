import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttemptReport, ClientOptions, ClientWithSecretKey } from '../../src/client/client-options.ts';
import { createClient } from '../../src/client/create-client.ts';
import { readRetryAfter } from '../../src/client/retry-after.ts';
import { RetryBudget } from '../../src/client/retry-budget.ts';
import { ApiError, ConnectionError, TimeoutError } from '../../src/errors.ts';
import {
  type Answer,
  failure,
  type LocalService,
  reply,
  reset,
  resetInBody,
  silence,
  stall,
  startService,
  success,
} from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';
import { provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const providers = success({ payment_providers: [provider] });

function clientFor({ baseUrl }: LocalService, options: Partial<ClientOptions> = {}): ClientWithSecretKey {
  return createClient({ baseUrl, publicKey, secretKey, ...options });
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.fail('The call succeeded.'),
    (error: unknown) => error,
  );
}

/** Longer than any test may take: a call that ends earlier did not end by its deadline. */
const NEVER_MS = 10_000;

describe('what is repeated', () => {
  test.each<[string, Answer]>([
    ['408', failure(408)],
    ['429', failure(429)],
    ['500', failure(500)],
    ['502', failure(502)],
    ['503', failure(503)],
    ['504', failure(504)],
    ['503 with a page', reply(503, '<h1>Down</h1>', { 'content-type': 'text/html' })],
    ['503 whose body breaks off', resetInBody(503)],
    ['a reset connection', reset],
    ['a reset in the middle of the body', resetInBody(200)],
  ])('%s, then success', async (_name, answer) => {
    const { timing, pending } = recordedTiming();
    const service = await startService(answer, answer, providers);
    expect(await clientFor(service, { timing }).listPaymentProviders()).toEqual([provider]);
    expect(service.requests).toHaveLength(3);
    expect(pending.size).toBe(0);
  });

  test('every attempt of a balance inquiry carries both keys', async () => {
    const service = await startService(failure(503), reset, success({ merchant_wallets: [wallet] }));
    const { timing } = recordedTiming();
    await clientFor(service, { timing }).getWalletBalances();
    expect(service.requests.map(({ headers }) => [headers['public-key'], headers['secret-key']])).toEqual(
      Array(3).fill([publicKey, secretKey]),
    );
  });

  test.each([1, 2, 5])('maxAttempts %i is the number of requests', async (maxAttempts) => {
    const { timing } = recordedTiming();
    const service = await startService(failure(500));
    const error = await failureOf(clientFor(service, { timing, maxAttempts }).listPaymentProviders());
    expect(error).toMatchObject({ code: 'api_error', status: 500, attempts: maxAttempts });
    expect(service.requests).toHaveLength(maxAttempts);
  });

  test('nobody listens: a ConnectionError that names the host and says how often', async () => {
    const { timing } = recordedTiming();
    const service = await startService(reset);
    const error = await failureOf(clientFor(service, { timing }).listPaymentProviders());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toContain(new URL(service.baseUrl).host);
    expect(String(error)).toContain('(3 attempts)');
    expect(error).toHaveProperty('cause.cause');
    expect(service.requests).toHaveLength(3);
  });
});

describe('waits', () => {
  test('full jitter: a random part of 0.25 s · 2ⁿ, at most 4 s', async () => {
    const service = await startService(failure(503));
    for (const [share, expected] of [
      [1, [250, 500, 1000, 2000, 4000, 4000]],
      [0.5, [125, 250, 500, 1000, 2000, 2000]],
      [0, [0, 0, 0, 0, 0, 0]],
    ] as const) {
      const { timing, waits } = recordedTiming(() => share);
      await failureOf(clientFor(service, { timing, maxAttempts: 7 }).listPaymentProviders());
      expect(waits).toEqual(expected);
    }
  });

  test.each([
    ['in seconds', '2', 2000],
    ['as a date', 'Sat, 21 Nov 2026 07:00:03 GMT', 2500],
    ['as an RFC 850 date', 'Saturday, 21-Nov-26 07:00:03 GMT', 2500],
    ['as an asctime date', 'Sat Nov 21 07:00:03 2026', 2500],
    ['in the past', 'Sat, 21 Nov 2026 06:00:00 GMT', 100],
    ['of 0 seconds', '0', 100],
    ['that cannot be read', 'soon', 100],
    ['with a sign', '-5', 100],
    ['with a fraction', '1.5', 100],
  ])('429 with Retry-After %s: %s', async (_name, value, expected) => {
    const { timing, waits } = recordedTiming(() => 0.4);
    const now = (): number => Date.UTC(2026, 10, 21, 7, 0, 0, 500);
    const service = await startService(failure(429, { 'retry-after': value }), providers);
    await clientFor(service, { timing: { ...timing, now } }).listPaymentProviders();
    expect(waits).toEqual([expected]);
  });

  test('Retry-After is kept to with real timers', async () => {
    let answeredAt = 0;
    let retriedAt = 0;
    const service = await startService(
      (response, request) => {
        failure(503, { 'retry-after': '1' })(response, request);
        answeredAt = performance.now();
      },
      (response, request) => {
        retriedAt = performance.now();
        providers(response, request);
      },
    );
    await clientFor(service, { timing: { random: () => 0 } }).listPaymentProviders();
    // Node's timers may fire a millisecond early.
    expect(retriedAt - answeredAt).toBeGreaterThan(990);
  });

  test.each(['11', '86400', '99999999999999999999999', 'Fri, 21 Nov 2099 07:00:00 GMT'])(
    'Retry-After: %s does not fit into the deadline: the ApiError at once, and it says so',
    async (value) => {
      const { timing, waits, pending } = recordedTiming();
      const service = await startService(failure(429, { 'retry-after': value }));
      const error = await failureOf(clientFor(service, { timing }).listPaymentProviders());
      expect(error).toMatchObject({ code: 'api_error', status: 429, attempts: 1 });
      expect(String(error)).toMatch(/asks for a wait of \d+.* s \(Retry-After\).*timeoutMs \(10000\)/);
      expect(waits).toEqual([]);
      expect(pending.size).toBe(0);
    },
  );

  test('any text at all is a Retry-After of at least 0, or none', () => {
    fc.assert(
      fc.property(fc.string(), fc.date({ noInvalidDate: true }), (text, now) => {
        const wait = readRetryAfter(text, now.getTime());
        return wait === undefined || wait >= 0;
      }),
    );
  });
});

describe('the retry budget', () => {
  test('while everything fails, retries stay within a tenth of the calls after a burst of 10', async () => {
    const { timing } = recordedTiming(() => 0);
    const service = await startService(failure(503));
    const client = clientFor(service, { timing });
    const errors: unknown[] = [];
    for (let call = 0; call < 40; call++) errors.push(await failureOf(client.listPaymentProviders()));
    expect(service.requests.length - 40).toBe(13);
    expect(String(errors[0])).toContain('(3 attempts)');
    expect(String(errors[39])).toContain('calls of this client needed retries');
    expect(errors[39]).toMatchObject({ code: 'api_error', status: 503, attempts: 1 });
  });

  test('whatever the order, no more than 10 retries and a tenth of the calls', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (steps) => {
        const budget = new RetryBudget();
        let calls = 0;
        let retries = 0;
        for (const isCall of steps) {
          if (isCall) {
            budget.deposit();
            calls += 1;
          } else if (budget.take()) retries += 1;
        }
        return retries <= 10 + calls / 10 + 1e-6;
      }),
    );
  });

  test('ten calls pay for one retry again', () => {
    const budget = new RetryBudget();
    while (budget.take());
    for (let call = 0; call < 9; call++) budget.deposit();
    expect(budget.take()).toBe(false);
    budget.deposit();
    expect(budget.take()).toBe(true);
  });
});

describe('one deadline', () => {
  test('slow headers', async () => {
    const service = await startService(silence);
    const error = await failureOf(clientFor(service, { timeoutMs: 100 }).listPaymentProviders());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      code: 'timeout',
      message:
        'listPaymentProviders: no complete answer within timeoutMs (100). Try again later, or raise timeoutMs.',
    });
    expect(service.requests).toHaveLength(1);
    await service.requests[0]?.closed;
  });

  test.each([
    ['of a success', stall],
    [
      'of an error',
      (response) => {
        response.writeHead(500, { 'content-type': 'application/json' });
        response.write('{');
      },
    ],
  ] satisfies [string, Answer][])('a stalled body %s', async (_name, answer) => {
    const service = await startService(answer);
    const error = await failureOf(clientFor(service, { timeoutMs: 100 }).listPaymentProviders());
    expect(error).toBeInstanceOf(TimeoutError);
    await service.requests[0]?.closed;
  });

  test('it covers all attempts together', async () => {
    const slow: Answer = (response, request) => {
      setTimeout(() => failure(503)(response, request), 80);
    };
    const service = await startService(slow);
    const client = clientFor(service, { timeoutMs: 200, maxAttempts: 50, timing: { random: () => 0 } });
    const error = await failureOf(client.listPaymentProviders());
    expect(error).toBeInstanceOf(TimeoutError);
    // With a deadline for each attempt, 10 retries would have been made and the ApiError come out.
    expect(service.requests.length).toBeLessThan(5);
  });

  test('the error of the deadline has the failure before it as its cause', async () => {
    const service = await startService(failure(503), silence);
    const client = clientFor(service, { timeoutMs: 300, timing: { random: () => 0 } });
    const error = await failureOf(client.listPaymentProviders());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(String(error)).toContain('attempt 2');
    expect(error).toMatchObject({ cause: { code: 'api_error', status: 503 } });
  });

  test('a wait that would outlast it is not begun: the failure comes at once', async () => {
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
    expect(String(error)).toContain('leaves no time for another attempt');
    expect(waits).toEqual([250, 500]);
  });

  test('a fetch that does not listen to its signal is left behind, and its late answer discarded', async () => {
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

describe('the caller gives up', () => {
  const reason = new Error('the customer left');

  test('before the call: nothing is sent', async () => {
    const service = await startService(providers);
    const call = clientFor(service).listPaymentProviders({}, { signal: AbortSignal.abort(reason) });
    expect(await failureOf(call)).toBe(reason);
    expect(service.requests).toEqual([]);
  });

  test.each<[string, Answer]>([
    ['during slow headers', silence],
    ['during a stalled body', stall],
  ])('%s', async (_name, answer) => {
    const { timing, pending } = recordedTiming();
    const controller = new AbortController();
    const service = await startService((response, request) => {
      answer(response, request);
      setTimeout(() => controller.abort(reason), 20);
    });
    const call = clientFor(service, { timing }).listPaymentProviders({}, { signal: controller.signal });
    expect(await failureOf(call)).toBe(reason);
    await service.requests[0]?.closed;
    expect(pending.size).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('during the wait for a retry: no timer, no listener and no request are left', async () => {
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
    const client = clientFor(service, { timing: { schedule }, timeoutMs: NEVER_MS });
    const call = client.listPaymentProviders({}, { signal: controller.signal });
    expect(await failureOf(call)).toBe(reason);
    expect(pending.size).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(service.requests).toHaveLength(1);
  });

  test('without a reason of its own: the AbortError of the platform', async () => {
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

describe('onResponse', () => {
  test('reports every attempt, with the wait that follows', async () => {
    const reports: AttemptReport[] = [];
    const { timing } = recordedTiming();
    const service = await startService(failure(503), reset, providers);
    const client = clientFor(service, { timing, onResponse: (report) => reports.push(report) });
    await client.listPaymentProviders();
    const durationMs = expect.any(Number);
    const operation = 'listPaymentProviders';
    expect(reports).toEqual([
      { operation, attempt: 1, status: 503, durationMs, outcome: 'api_error', retryInMs: 250 },
      { operation, attempt: 2, status: undefined, durationMs, outcome: 'connection_failed', retryInMs: 500 },
      { operation, attempt: 3, status: 200, durationMs, outcome: 'success', retryInMs: undefined },
    ]);
  });

  test.each<[string, Answer, Partial<AttemptReport>]>([
    ['a broken answer', reply(200, '{}'), { status: 200, outcome: 'invalid_response' }],
    ['a deadline without headers', silence, { status: undefined, outcome: 'timeout' }],
    ['a deadline within the body', stall, { status: 200, outcome: 'timeout' }],
  ])('reports %s', async (_name, answer, expected) => {
    const reports: AttemptReport[] = [];
    const service = await startService(answer);
    const client = clientFor(service, { timeoutMs: 200, onResponse: (report) => reports.push(report) });
    await failureOf(client.listPaymentProviders());
    expect(reports).toEqual([expect.objectContaining(expected)]);
  });

  test('reports a call that was given up', async () => {
    const reports: AttemptReport[] = [];
    const controller = new AbortController();
    const service = await startService(() => controller.abort());
    const client = clientFor(service, { onResponse: (report) => reports.push(report) });
    await failureOf(client.listPaymentProviders({}, { signal: controller.signal }));
    expect(reports).toEqual([expect.objectContaining({ outcome: 'aborted', status: undefined })]);
  });

  test.each<[string, () => void]>([
    [
      'throws',
      () => {
        throw new Error('metrics are down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('metrics are down'))],
  ])('a hook that %s is logged and costs nobody the answer', async (_name, onResponse) => {
    const logged: unknown[] = [];
    const original = console.error;
    console.error = (...parameters) => logged.push(parameters);
    try {
      const service = await startService(providers);
      expect(await clientFor(service, { onResponse }).listPaymentProviders()).toEqual([provider]);
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      console.error = original;
    }
    expect(logged).toEqual([[expect.stringContaining('onResponse'), new Error('metrics are down')]]);
  });
});
