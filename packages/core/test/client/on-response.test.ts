import { tracingChannel } from 'node:diagnostics_channel';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ClientCallTrace } from '../../src/client/call/call.ts';
import type { ClientOptions } from '../../src/client/client.ts';
import {
  attempt,
  failure,
  failureOf,
  fetchThen,
  providers,
  reply,
  reset,
  serve,
  stall,
  success,
} from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';
import { provider } from './wire-samples.ts';

// onResponse gets a report of every attempt, and the tracing channel one of every call.

const operation = 'listPaymentProviders';
const durationMs = expect.any(Number);

/** The last message of every call on the tracing channel. */
function calls(): ClientCallTrace[] {
  const seen: ClientCallTrace[] = [];
  const ignore = (): void => {};
  const asyncEnd = (message: unknown): void => void seen.push({ ...(message as ClientCallTrace) });
  const subscriber = { start: ignore, end: ignore, asyncStart: ignore, error: ignore, asyncEnd };
  const channel = tracingChannel('payment-service:client-call');
  channel.subscribe(subscriber);
  onTestFinished(() => void channel.unsubscribe(subscriber));
  return seen;
}

test.each([
  [false, 'without'],
  [true, 'with'],
])('a report contains the wait that follows, %s a subscriber of the channel', async (isTraced) => {
  const seen = isTraced ? calls() : [];
  const answers = [failure(503), reset, providers, reply(200, '{}')];
  const { client, reports } = await serve(answers, { timing: recordedTiming().timing });
  await client.listPaymentProviders({ currency: 'UGX' });
  await failureOf(client.listPaymentProviders());
  const [status, retryInMs] = [undefined, undefined];
  expect(reports).toEqual([
    { operation, attempt: 1, status: 503, durationMs, outcome: 'api_error', retryInMs: 250 },
    { operation, attempt: 2, status, durationMs, outcome: 'connection_failed', retryInMs: 500 },
    { operation, attempt: 3, status: 200, durationMs, outcome: 'success', retryInMs },
    { operation, attempt: 1, status: 200, durationMs, outcome: 'invalid_response', retryInMs },
  ]);
  const traces = [
    { operation, attempts: 3, status: 200, outcome: 'success', durationMs },
    { operation, attempts: 1, status: 200, outcome: 'invalid_response', isFailed: true, durationMs },
  ];
  expect(seen).toEqual(isTraced ? traces : []);
});

test('a missed deadline is reported, with the status if there was one', async () => {
  const { timing, expire } = recordedTiming();
  const outcome = 'timeout';
  const without = await attempt(expire, { timing });
  expect(without.reports).toMatchObject([{ status: undefined, outcome }]);
  const { reports } = await attempt(stall(200), { timing, fetch: fetchThen(expire) });
  expect(reports).toMatchObject([{ status: 200, outcome }]);
});

test('a cancelled call is reported and traced as aborted', async () => {
  const seen = calls();
  const controller = new AbortController();
  const { client, reports } = await serve(() => controller.abort());
  await failureOf(client.listPaymentProviders({}, controller));
  expect(reports).toMatchObject([{ outcome: 'aborted', status: undefined }]);
  expect(seen).toMatchObject([{ attempts: 1, outcome: 'aborted', isFailed: true }]);
});

test.each<[string, () => unknown]>([
  ['throws', () => expect.fail('broken')],
  ['rejects', () => Promise.reject(new Error('metrics are down'))],
])('an onResponse, onDeviation or onChange that %s is logged and fails no call', async (_name, hook) => {
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => logged.mockRestore());
  const answers = [[null, provider], [{ ...provider, is_active: false }]].map((rows) =>
    success({ payment_providers: rows }),
  );
  const options = { onResponse: hook, onDeviation: hook, cache: { ttlMs: 1, onChange: hook } };
  const { client } = await serve(answers, options as Partial<ClientOptions>);
  for (const _ of answers) expect(await client.listPaymentProviders({}, { fresh: true })).toHaveLength(1);
  await vi.waitFor(() => expect(logged).toHaveBeenCalledTimes(4));
  for (const name of ['onResponse', 'onDeviation', 'onChange'])
    expect(String(logged.mock.calls)).toContain(name);
});
