import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  failure,
  type LocalService,
  reply,
  startService,
  success,
  successBody,
} from '../local-service.ts';
import { provider } from '../wire-samples.ts';
import { cachingClient, named, nameOf } from './caching-client.ts';

describe('every caller gets a copy of the answer', () => {
  test('changes to one answer reach neither the cache nor other callers', async () => {
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

describe('a cached answer can always be copied (threat A33)', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const withExtra = (json: string): Answer => {
    const body = JSON.stringify(successBody({ payment_providers: [provider] }));
    return reply(200, body.replace('"provider_name"', `"extra":${json},"provider_name"`));
  };

  test('a row with 70,000 levels is left out, and every read works', async () => {
    const service = await startService(withExtra(nested(70_000)));
    const { client } = cachingClient(service, {}, () => {});
    for (let read = 0; read < 3; read++) expect(await client.listPaymentProviders()).toEqual([]);
    expect(service.requests).toHaveLength(1);
  });

  test('a nested member named __proto__ becomes the prototype of no copy', async () => {
    const service = await startService(withExtra('{"a":{"__proto__":{"is_admin":true},"kept":1}}'));
    const { client } = cachingClient(service);
    const [first] = await client.listPaymentProviders();
    expect(first).toEqual({ ...provider, extra: { a: { kept: 1 } } });
    expect(Reflect.get(Reflect.get(first ?? {}, 'extra'), 'a')).not.toHaveProperty('is_admin');
  });
});

describe('concurrent callers share one request', () => {
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

  test('twenty concurrent calls send one request', async () => {
    const { answer, release } = held(named('one'));
    const service = await startService(answer, named('two'));
    const { client } = cachingClient(service);
    const calls = Array.from({ length: 20 }, () => nameOf(client.listPaymentProviders()));
    await arrived(service);
    release();
    expect(await Promise.all(calls)).toEqual(Array(20).fill('one'));
    expect(service.requests).toHaveLength(1);
  });

  test('cancelling one caller leaves the request running', async () => {
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

  test('cancelling the last caller cancels the request, and the next caller sends a new one', async () => {
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

  test('a failure reaches all callers', async () => {
    const { answer, release } = held(failure(500));
    const service = await startService(answer);
    const { client } = cachingClient(service);
    const calls = Promise.allSettled([client.listPaymentProviders(), client.listPaymentProviders()]);
    await arrived(service);
    release();
    for (const outcome of await calls) expect(outcome).toMatchObject({ reason: { status: 500 } });
    expect(service.requests).toHaveLength(1);
  });

  test('a call that is cancelled before it starts rejects even if the answer is cached', async () => {
    const service = await startService(named('one'));
    const { client } = cachingClient(service);
    await client.listPaymentProviders();
    const signal = AbortSignal.abort();
    await expect(client.listPaymentProviders({}, { signal })).rejects.toBe(signal.reason);
  });
});
