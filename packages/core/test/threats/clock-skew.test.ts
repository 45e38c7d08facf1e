import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVerifier } from '../../src/index.ts';
import { NOW } from '../ordinary-verifier.ts';
import { callbackData, HASH, SIGNING_KEY } from '../signed-callbacks.ts';
import { codeOf, verify } from './verify.ts';

// A genuine t that a tolerance would refuse.

describe('threat A24: clock skew, and the unit of t', () => {
  test('threat A24: with a tolerance, t is accepted exactly within it, in both directions and both units', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: -700_000, max: 700_000 }),
        fc.boolean(),
        (tolerance, ageMs, inSeconds) => {
          const age = inSeconds ? Math.trunc(ageMs / 1000) * 1000 : ageMs;
          const t = inSeconds ? (NOW - age) / 1000 : NOW - age;
          const given = createVerifier({
            signingKey: SIGNING_KEY,
            toleranceSeconds: tolerance,
            now: () => NOW,
          });
          const result = given.verifyCallback({ signature: `t=${t},s=${HASH}`, body: callbackData() });
          const isWithin = Math.abs(age) <= tolerance * 1000;
          expect(codeOf(result)).toBe(isWithin ? 'accepted' : 'timestamp_out_of_tolerance');
          if (result.ok) expect(result.timestamp.ageSeconds).toBeCloseTo(age / 1000, 9);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('threat A24, threat A28: without a tolerance every t is accepted, and reported unchanged', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.bigInt({ min: 0n, max: 10n ** 60n }).map(String),
          fc.stringMatching(/^[!-+\--<>-~]{1,60}$/),
        ),
        (t) => {
          const result = verify(callbackData(), `t=${t},s=${HASH}`);
          if (!result.ok) throw new Error(`refused: ${result.code}`);
          const { text, unit, ageSeconds } = result.timestamp;
          expect(text).toBe(t);
          expect(unit).toBe(
            /^\d+$/.test(t) ? (BigInt(t) < 10n ** 11n ? 'seconds' : 'milliseconds') : 'unreadable',
          );
          expect(ageSeconds === undefined).toBe(unit === 'unreadable');
        },
      ),
    );
  });
});
