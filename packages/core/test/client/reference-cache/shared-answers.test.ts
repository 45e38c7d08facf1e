import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type Answer, failure, type LocalService, startService, success } from '../local-service.ts';
import { provider } from '../wire-samples.ts';
import { cachingClient, named, nameOf } from './caching-client.ts';

describe('what one caller does to its answer, no other sees', () => {
  test('neither in the cache nor in a shared request', async () => {
    const service = await startService(
      success({ payment_providers: [{ ...provider, extra: { deep: ['kept'] } }] }),
    );
    const { client } = cachingClient(service);
    const together = await Promise.all([client.listPaymentProviders(), client.listPaymentProviders()]);
    const cached = await client.listPaymentProviders();
    expect(service.requests).toHaveLength(1);
    for (const found of [...together, cached]) {
      const [first] = found;
      if (first === undefined) return expect.fail();
      expect(first).toEqual({ ...provider, extra: { deep: ['kept'] } });
      first.max_amount = 1;
      first.option_prefixes.length = 0;
      const extra: unknown = Reflect.get(first, 'extra');
      if (typeof extra === 'object' && extra !== null) Reflect.set(extra, 'deep', 'changed');
      found.length = 0;
    }
    expect(await client.listPaymentProviders()).toEqual([{ ...provider, extra: { deep: ['kept'] } }]);
  });
});

describe('single flight', () => {
  /** Holds its answer back until told. */
  function held(answer: Answer): { answer: Answer; release: () => void } {
    let release = (): void => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    return {
      answer: (response, request) => void isReleased.then(() => answer(response, request)),
      release: () => release(),
    };
  }

  async function arrived({ requests }: LocalService, count = 1): Promise<void> {
    while (requests.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  test('callers that ask together share one request', async () => {
    const { answer, release } = held(named('one'));
    const service = await startService(answer, named('two'));
    const { client } = cachingClient(service);
    const calls = Array.from({ length: 20 }, () => nameOf(client.listPaymentProviders()));
    await arrived(service);
    release();
    expect(await Promise.all(calls)).toEqual(Array(20).fill('one'));
    expect(service.requests).toHaveLength(1);
  });

  test('one that gives up leaves the request to the others', async () => {
    const { answer, release } = held(named('one'));
    const service = await startService(answer);
    const { client } = cachingClient(service);
    const [first, second] = [new AbortController(), new AbortController()];
    const given = client.listPaymentProviders({}, { signal: first.signal });
    const kept = nameOf(client.listPaymentProviders({}, { signal: second.signal }));
    const plain = nameOf(client.listPaymentProviders());
    await arrived(service);
    const reason = new Error('the customer left');
    first.abort(reason);
    await expect(given).rejects.toBe(reason);
    release();
    expect(await Promise.all([kept, plain])).toEqual(['one', 'one']);
    expect(getEventListeners(first.signal, 'abort')).toEqual([]);
    expect(getEventListeners(second.signal, 'abort')).toEqual([]);
  });

  test('the last one takes the request along, and the next caller gets a new one', async () => {
    const { answer } = held(named('never'));
    const service = await startService(answer, named('two'));
    const { client } = cachingClient(service);
    const controllers = [new AbortController(), new AbortController()];
    const calls = controllers.map(({ signal }) => client.listPaymentProviders({}, { signal }));
    const outcomes = Promise.allSettled(calls);
    await arrived(service);
    for (const controller of controllers) controller.abort();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await service.requests[0]?.closed;
    expect(await nameOf(client.listPaymentProviders())).toBe('two');
  });

  test('a failure reaches everybody', async () => {
    const { answer, release } = held(failure(500));
    const service = await startService(answer);
    const { client } = cachingClient(service);
    const calls = Promise.allSettled([client.listPaymentProviders(), client.listPaymentProviders()]);
    await arrived(service);
    release();
    for (const outcome of await calls) expect(outcome).toMatchObject({ reason: { status: 500 } });
    expect(service.requests).toHaveLength(1);
  });

  test('a caller that has given up before gets nothing, cached or not', async () => {
    const service = await startService(named('one'));
    const { client } = cachingClient(service);
    await client.listPaymentProviders();
    const signal = AbortSignal.abort();
    await expect(client.listPaymentProviders({}, { signal })).rejects.toBe(signal.reason);
  });
});
