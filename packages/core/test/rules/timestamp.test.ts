import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVerifier } from '../../src/index.ts';
import { callbackData, SIGNATURE, SIGNING_KEY, signatureFor, T } from '../signed-callbacks.ts';
import { accepted, NOW, verdictOf, verify } from '../verify.ts';

// Decision D2: t is not signed, so a tolerance is an option, and the age is always reported.

test('threat A24: with a tolerance, t is accepted exactly within it, in both directions and both units', () => {
  const property = (tolerance: number, ageMs: number, inSeconds: boolean) => {
    const age = inSeconds ? Math.trunc(ageMs / 1000) * 1000 : ageMs;
    const signature = signatureFor('ORD-1001', inSeconds ? (NOW - age) / 1000 : NOW - age);
    const result = verify(callbackData(), signature, { toleranceSeconds: tolerance });
    const isWithin = Math.abs(age) <= tolerance * 1000;
    expect(verdictOf(result)).toBe(isWithin ? 'accepted' : 'timestamp_out_of_tolerance, authentic');
    if (result.ok) expect(result.timestamp.ageSeconds).toBeCloseTo(age / 1000, 9);
    else expect(result).toMatchObject({ evidence: { timestamp: { ageSeconds: age / 1000 } } });
  };
  const seconds = fc.integer({ min: 1, max: 600 });
  const ages = fc.integer({ min: -700_000, max: 700_000 });
  const bounds = [-1001, -1000, 1000, 1001].map((age) => [1, age, false] as [number, number, boolean]);
  fc.assert(fc.property(seconds, ages, fc.boolean(), property), { numRuns: 500, examples: bounds });
});

test('threat A24, threat A28: without a tolerance every t is accepted, and reported unchanged', () => {
  const numbers = fc.bigInt({ min: 0n, max: 10n ** 60n }).map(String);
  fc.assert(
    fc.property(fc.oneof(numbers, fc.stringMatching(/^[!-+\--<>-~]{1,60}$/)), (t) => {
      const { timestamp } = accepted(verify(callbackData(), signatureFor('ORD-1001', t)));
      expect(timestamp.text).toBe(t);
      const unit = /^\d+$/.test(t) ? (BigInt(t) < 10n ** 11n ? 'seconds' : 'milliseconds') : 'unreadable';
      expect(timestamp.unit).toBe(unit);
      expect(timestamp.ageSeconds === undefined).toBe(unit === 'unreadable');
      expect(Object.isFrozen(timestamp)).toBe(true);
    }),
    { examples: [['99999999999'], ['100000000000'], [`${T - 31_536_000}`], ['007']] },
  );
});

test('the clock is read at every verification, not at construction', () => {
  let seconds = T;
  const now = () => seconds * 1000;
  const given = createVerifier({ signingKey: SIGNING_KEY, toleranceSeconds: 30, now });
  const verdict = () => verdictOf(given.verifyCallback({ signature: SIGNATURE, body: callbackData() }));
  expect(verdict()).toBe('accepted');
  seconds += 31;
  expect(verdict()).toBe('timestamp_out_of_tolerance, authentic');
});
