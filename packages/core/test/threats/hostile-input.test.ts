import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anything, hostile } from '../anything.ts';
import { callbackData } from '../signed-callbacks.ts';
import { verdictOf, verifier, verify } from '../verify.ts';

// Arbitrary input before authentication gets a result.

const event = 'transaction.completed';

test('threat A18: verifyCallback answers any input with a result, and accepts none of it', () => {
  fc.assert(
    fc.property(anything, anything, (signature, body) => {
      const results = [verify(body, signature), verify(body), verify({ event, payload: body })];
      expect(results.map(({ ok }) => ok)).toEqual([false, false, false]);
    }),
    { numRuns: 1000 },
  );
});

test('threat A18: verifyRedirect answers any input with a result, and accepts none of it', () => {
  fc.assert(
    fc.property(fc.oneof(anything, fc.webQueryParameters()), (query: unknown) => {
      expect(verifier.verifyRedirect(query as string).ok).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('threat A18: values that throw when they are read get a result too', () => {
  for (const value of hostile) {
    for (const result of [
      ...[verifier.verifyRedirect(value as string), verify(value), verify(callbackData(), value)],
      ...[verify(callbackData({ merchant_reference: value })), verify({ event, payload: value })],
    ])
      expect(result.ok).toBe(false);
    // In an unsigned field the value is unknown, which is not an error.
    expect(verify(callbackData({ customer_name: value, id: value, channel: value })).ok).toBe(true);
  }
});

test('threat A18: 60 KB of brackets get a result, wherever they are', () => {
  const deep = '['.repeat(30_000) + ']'.repeat(30_000);
  const inside = `${JSON.stringify(callbackData()).slice(0, -2)},"x":${deep}}}`;
  for (const text of [deep, '['.repeat(60_000), '{"a":'.repeat(12_000), `{"event":${deep}}`, inside])
    expect(['body_malformed', 'accepted']).toContain(verdictOf(verify(text)));
  const result = verify(JSON.parse(inside));
  expect(result.ok).toBe(true);
  for (const shown of [inspect(result), JSON.stringify(result)]) expect(shown).toContain('ORD-1001');
});
