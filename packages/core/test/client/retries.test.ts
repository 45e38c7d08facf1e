import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRetryAfter } from '../../src/client/call/exchange.ts';
import type { ClientOptions, ClientWithSecretKey } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { ConnectionError } from '../../src/errors.ts';
import { failureOf } from './failure-of.ts';
import {
  type Answer,
  failure,
  type LocalService,
  reply,
  reset,
  resetInBody,
  startService,
  success,
} from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';
import { provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const providers = success({ payment_providers: [provider] });

function clientFor({ baseUrl }: LocalService, options: Partial<ClientOptions> = {}): ClientWithSecretKey {
  return createClient({ baseUrl, publicKey, secretKey, ...options });
}

describe('transient failures are retried', () => {
  test.each<[string, Answer]>([
    ['408', failure(408)],
    ['429', failure(429)],
    ['500', failure(500)],
    ['502', failure(502)],
    ['503', failure(503)],
    ['504', failure(504)],
    ['a 503 with a page', reply(503, '<h1>Down</h1>', { 'content-type': 'text/html' })],
    ['a 503 whose body breaks off', resetInBody(503)],
    ['a reset connection', reset],
    ['a reset in the middle of the body', resetInBody(200)],
  ])('%s is retried until the call succeeds', async (_name, answer) => {
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

  test.each([1, 2, 5])('maxAttempts %i limits the number of requests', async (maxAttempts) => {
    const { timing } = recordedTiming();
    const service = await startService(failure(500));
    const error = await failureOf(clientFor(service, { timing, maxAttempts }).listPaymentProviders());
    expect(error).toMatchObject({ code: 'api_error', status: 500, attempts: maxAttempts });
    expect(service.requests).toHaveLength(maxAttempts);
  });

  test('a ConnectionError names the host and the number of attempts', async () => {
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

describe('the client waits between attempts', () => {
  test('a wait is a random part of 0.25 s · 2ⁿ and at most 4 s', async () => {
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
    ['in an obsolete form', 'Saturday, 21-Nov-26 07:00:03 GMT', 100],
    ['in the past', 'Sat, 21 Nov 2026 06:00:00 GMT', 100],
    ['of 0 seconds', '0', 100],
    ['that cannot be read', 'soon', 100],
    ['with a sign', '-5', 100],
    ['with a fraction', '1.5', 100],
  ])('429 with a Retry-After %s (%s) sets the shortest wait', async (_name, value, expected) => {
    const { timing, waits } = recordedTiming(() => 0.4);
    const now = (): number => Date.UTC(2026, 10, 21, 7, 0, 0, 500);
    const service = await startService(failure(429, { 'retry-after': value }), providers);
    await clientFor(service, { timing: { ...timing, now } }).listPaymentProviders();
    expect(waits).toEqual([expected]);
  });

  test('Retry-After is honoured with real timers', async () => {
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
    'a Retry-After of %s exceeds the deadline, and the ApiError says so immediately',
    async (value) => {
      const { timing, waits, pending } = recordedTiming();
      const service = await startService(failure(429, { 'retry-after': value }));
      const error = await failureOf(clientFor(service, { timing }).listPaymentProviders());
      expect(error).toMatchObject({ code: 'api_error', status: 429, attempts: 1 });
      expect(String(error)).toMatch(/needs a wait of \d.* s \(Retry-After\).*timeoutMs \(10000\)/);
      expect(waits).toEqual([]);
      expect(pending.size).toBe(0);
    },
  );

  test('any string is read as a Retry-After of at least 0 or is ignored', () => {
    const dates = fc.date({ noInvalidDate: true });
    const text = fc.oneof(
      fc.string(),
      dates.map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(text, dates, (text, now) => {
        const wait = readRetryAfter(text, now.getTime());
        return wait === undefined || wait >= 0;
      }),
    );
  });
});

describe('the retry budget limits the load on the service', () => {
  test('retries stay within a tenth of the calls after a burst of 10 while everything fails', async () => {
    const { timing } = recordedTiming(() => 0);
    const service = await startService(failure(503));
    const client = clientFor(service, { timing });
    const errors: unknown[] = [];
    for (let call = 0; call < 40; call++) errors.push(await failureOf(client.listPaymentProviders()));
    expect(service.requests.length - 40).toBe(13);
    expect(String(errors[0])).toContain('(3 attempts)');
    expect(String(errors[39])).toContain('recent calls of this client needed one');
    expect(errors[39]).toMatchObject({ code: 'api_error', status: 503, attempts: 1 });
  });

  test('ten calls pay for one retry', async () => {
    const { timing } = recordedTiming(() => 0);
    const spend: Answer[] = Array(11).fill(failure(503));
    const earn: Answer[] = Array(9).fill(providers);
    const service = await startService(...spend, ...earn, failure(503), ...earn, failure(503));
    const client = clientFor(service, { timing, maxAttempts: 11 });
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({ attempts: 11 });
    for (let call = 0; call < 9; call++) await client.listPaymentProviders();
    // The tenth call fails once, and its retry succeeds.
    expect(await client.listPaymentProviders()).toEqual([provider]);
    for (let call = 0; call < 8; call++) await client.listPaymentProviders();
    // The ninth call since that retry fails without a retry.
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({ attempts: 1 });
  });
});
