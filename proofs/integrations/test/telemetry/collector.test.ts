import { expect, test } from 'vitest';
import { attributesOf } from './collector.ts';
import { newObservedShop, PROXY } from './observed-shop.ts';

const [INTERNAL, CONSUMER] = [1, 5];

test('a collector gets a payment as one story, from the request to the effect of its handler', async () => {
  const { collector, live, flush, errors } = await newObservedShop();
  await live();
  await flush();
  expect(errors).toEqual([]);
  const spans = collector.spans();
  const callback = spans.find(({ name }) => name === 'payment callback');
  const request = spans.find(({ spanId }) => spanId === callback?.parentSpanId);
  expect(request).toMatchObject({ name: 'POST /callbacks', traceId: callback?.traceId });
  expect(callback).toMatchObject({
    kind: INTERNAL,
    links: [{ traceId: PROXY.split('-')[1], spanId: PROXY.split('-')[2] }],
  });
  const attempt = spans.find(({ links }) => links?.some(({ spanId }) => spanId === callback?.spanId));
  expect(attempt).toMatchObject({ name: 'payment attempt', kind: CONSUMER });
  expect(attempt?.traceId).not.toBe(callback?.traceId);
  expect(attempt?.parentSpanId ?? '').toBe('');
  expect(attempt && attributesOf(attempt)).toMatchObject({
    'payment.outcome': 'settled',
    'payment.attempt': 1,
  });
  const exported = new Set(spans.flatMap((span) => Object.keys(attributesOf(span))));
  expect([...exported].filter((name) => !/^(?:payment|http)\./.test(name))).toEqual([]);
  const effect = spans.find(({ parentSpanId }) => parentSpanId === attempt?.spanId);
  expect(effect).toMatchObject({ name: 'credit', traceId: attempt?.traceId });
  const id = 'payment.transition_id';
  expect(callback && attributesOf(callback)[id]).toMatch(/^[\da-f]{64}$/);
  expect(attempt && attributesOf(attempt)[id]).toBe(callback && attributesOf(callback)[id]);
});
