import { describe, expect, test } from 'vitest';
import type { AttemptReport, Client, ClientOptions } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { failureOf } from './failure-of.ts';
import { fetchThen } from './fetch-then.ts';
import { failure, type LocalService, reply, reset, stall, startService, success } from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';
import { provider, publicKey } from './wire-samples.ts';

const providers = success({ payment_providers: [provider] });

function clientFor({ baseUrl }: LocalService, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl, publicKey, ...options });
}

describe('onResponse gets a report of every attempt', () => {
  test('a report contains the wait that follows', async () => {
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

  test('a response that breaks the contract is reported', async () => {
    const reports: AttemptReport[] = [];
    const service = await startService(reply(200, '{}'));
    await failureOf(
      clientFor(service, { onResponse: (report) => reports.push(report) }).listPaymentProviders(),
    );
    expect(reports).toEqual([expect.objectContaining({ status: 200, outcome: 'invalid_response' })]);
  });

  test('a missed deadline is reported, with the status if there was one', async () => {
    const reports: AttemptReport[] = [];
    const onResponse = (report: AttemptReport): void => void reports.push(report);
    const { timing, expire } = recordedTiming();
    const service = await startService(expire, stall(200));
    await failureOf(clientFor(service, { timing, onResponse }).listPaymentProviders());
    const slow = clientFor(service, { timing, onResponse, fetch: fetchThen(expire) });
    await failureOf(slow.listPaymentProviders());
    expect(reports).toEqual([
      expect.objectContaining({ status: undefined, outcome: 'timeout' }),
      expect.objectContaining({ status: 200, outcome: 'timeout' }),
    ]);
  });

  test('a cancelled call is reported', async () => {
    const reports: AttemptReport[] = [];
    const controller = new AbortController();
    const service = await startService(() => controller.abort());
    const client = clientFor(service, { onResponse: (report) => reports.push(report) });
    await failureOf(client.listPaymentProviders({}, { signal: controller.signal }));
    expect(reports).toEqual([expect.objectContaining({ outcome: 'aborted', status: undefined })]);
  });

  test.each([
    ['succeeded', providers, 'success'],
    ['failed and will be repeated', failure(503), 'api_error'],
  ])('a call that the hook cancels after an attempt %s makes one report', async (_name, answer, outcome) => {
    const reports: AttemptReport[] = [];
    const { timing, pending } = recordedTiming();
    const controller = new AbortController();
    const service = await startService(answer);
    const onResponse = (report: AttemptReport): void => {
      reports.push(report);
      controller.abort();
    };
    const call = clientFor(service, { timing, onResponse }).listPaymentProviders({}, controller);
    expect(await failureOf(call)).toBe(controller.signal.reason);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reports).toEqual([expect.objectContaining({ attempt: 1, outcome })]);
    expect(service.requests).toHaveLength(1);
    expect(pending.size).toBe(0);
  });

  test.each<[string, () => void]>([
    [
      'throws',
      () => {
        throw new Error('metrics are down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('metrics are down'))],
  ])('a hook that %s is logged and does not fail the call', async (_name, onResponse) => {
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
