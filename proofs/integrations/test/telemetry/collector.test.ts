import { expect, test } from 'vitest';
import { attributesOf, type ReceivedSpan } from './collector.ts';
import { newObservedShop, PROXY } from './observed-shop.ts';

const [INTERNAL, CLIENT, CONSUMER] = [1, 3, 5];

async function liveSpans(): Promise<ReceivedSpan[]> {
  const { collector, live, flush, errors } = await newObservedShop();
  await live();
  await flush();
  expect(errors).toEqual([]);
  expect(collector.requests.every(({ type }) => type === 'application/json')).toBe(true);
  return collector.spans();
}

test('a collector gets a payment as one story, from the request to the effect of its handler', async () => {
  const spans = await liveSpans();
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

test('a collector gets the outcome of every callback, redirect, attempt and call', async () => {
  const spans = await liveSpans();
  const outcomes = (name: string): unknown[] =>
    spans
      .filter((span) => span.name === name)
      .map((span) => {
        const {
          'payment.outcome': outcome,
          'payment.refusal': refusal,
          'payment.state': state,
        } = attributesOf(span);
        return [outcome, refusal ?? state, span.status.code].filter((value) => value !== undefined).join(' ');
      });
  // Sorted: two callbacks that are under way together end in either order.
  expect(outcomes('payment callback').sort()).toEqual([
    'accepted 0',
    'accepted 0',
    'accepted 0',
    'accepted 0',
    'accepted 0',
    'accepted ambiguous 0',
    'refused mismatch 0',
  ]);
  expect(outcomes('payment redirect').sort()).toEqual(['accepted 0', 'refused mismatch 0']);
  expect(outcomes('payment attempt').sort()).toEqual([
    'parked quarantined 0',
    'retrying retrying 2',
    'settled settled 0',
    'settled settled 0',
  ]);
  expect(outcomes('payment client-call').sort()).toEqual(['api_error 2', 'success 0']);
  expect(spans.find(({ name }) => name === 'payment client-call')?.kind).toBe(CLIENT);
});
