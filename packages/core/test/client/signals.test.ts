import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { failureOf, providers, serve, stall } from './local-service.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test.each([
  ['without a cache', undefined],
  ['with a cache', { ttlMs: 60_000 }],
])('many calls with one signal, %s, have one listener on it, and leave none', async (_name, cache) => {
  const { client } = await serve(providers, { cache });
  const { signal } = new AbortController();
  const calls = Array.from({ length: 30 }, (_, number) =>
    client.listPaymentProviders({ currency: `C${number}` }, { signal }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  expect(listeners(signal)).toBe(1);
  await Promise.all(calls);
  expect(listeners(signal)).toBe(0);
  await client.listPaymentProviders({ currency: 'again' }, { signal });
  expect(listeners(signal)).toBe(0);
});

test('a signal that aborts ends all calls that have it, and no other', async () => {
  const { client } = await serve(stall(200));
  const [one, other] = [new AbortController(), new AbortController()];
  const start = ({ signal }: AbortController) =>
    failureOf(client.listPaymentProviders({ currency: String(Math.random()) }, { signal }));
  const ended = [start(one), start(one), start(one)];
  const going = start(other);
  await new Promise((resolve) => setImmediate(resolve));
  one.abort('the customer left');
  expect(await Promise.all(ended)).toEqual(Array(3).fill('the customer left'));
  expect([listeners(one.signal), listeners(other.signal)]).toEqual([0, 1]);
  other.abort('the end');
  expect(await going).toBe('the end');
  // Aborted before: no listener.
  expect(await failureOf(client.listPaymentProviders({}, { signal: one.signal }))).toBe('the customer left');
  expect(listeners(one.signal)).toBe(0);
});
