import { tracingChannel } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import type { ClientCallTrace } from '../../src/client/call/trace.ts';
import { createClient } from '../../src/client/create-client.ts';
import { failureOf } from './failure-of.ts';
import { failure, reply, reset, startService, success } from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';
import { provider, publicKey } from './wire-samples.ts';

const providers = success({ payment_providers: [provider] });

/** The last message of every call. */
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

test('a call is published with its outcome, and with the number of its attempts', async () => {
  const seen = calls();
  const { timing } = recordedTiming();
  const { baseUrl } = await startService(failure(503), reset, providers, reply(200, '{}'));
  const reported: number[] = [];
  const client = createClient({
    baseUrl,
    publicKey,
    timing,
    onResponse: ({ attempt }) => reported.push(attempt),
  });
  await client.listPaymentProviders({ currency: 'UGX' });
  await failureOf(client.listPaymentProviders());
  const [operation, durationMs] = ['listPaymentProviders', expect.any(Number)];
  expect(seen).toEqual([
    { operation, attempts: 3, status: 200, outcome: 'success', durationMs },
    { operation, attempts: 1, status: 200, outcome: 'invalid_response', isFailed: true, durationMs },
  ]);
  expect(reported).toEqual([1, 2, 3, 1]);
});

test('a call that its caller cancels is published as aborted', async () => {
  const seen = calls();
  const controller = new AbortController();
  const { baseUrl } = await startService(() => controller.abort());
  await failureOf(
    createClient({ baseUrl, publicKey }).listPaymentProviders({}, { signal: controller.signal }),
  );
  expect(seen).toMatchObject([{ attempts: 1, outcome: 'aborted', isFailed: true }]);
});
