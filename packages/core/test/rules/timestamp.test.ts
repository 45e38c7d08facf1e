import { describe, expect, test } from 'vitest';
import { createVerifier } from '../../src/index.ts';
import { accepted } from '../accepted.ts';
import { callbackData, SIGNATURE, SIGNING_KEY, signatureFor, T } from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D2, beside the vectors of the contract: a clock that moves, and construction.

describe('decision D2: t is not signed, so a tolerance is an option, and the age is always reported', () => {
  test.each([
    ['that is a year old, without a tolerance,', T, {}, T + 31_536_000, 'accepted'],
    ['that is 30 s old', T, { toleranceSeconds: 30 }, T + 30, 'accepted'],
    ['that is 31 s old', T, { toleranceSeconds: 30 }, T + 31, 'timestamp_out_of_tolerance, authentic'],
    ['that is 31 s ahead', T, { toleranceSeconds: 30 }, T - 31, 'timestamp_out_of_tolerance, authentic'],
    ['in milliseconds that is 30 s old', T * 1000, { toleranceSeconds: 30 }, T + 30, 'accepted'],
    [
      'that is fresh, beside a signature of a year ago,',
      T + 31_536_000,
      { toleranceSeconds: 30 },
      T + 31_536_000,
      'accepted',
    ],
    ['that is unreadable, without a tolerance,', 'soon', {}, T, 'accepted'],
    [
      'that is unreadable, with a tolerance,',
      'soon',
      { toleranceSeconds: 30 },
      T,
      'timestamp_unreadable, authentic',
    ],
  ])('a t %s gets its verdict', (_, t, options, now, verdict) => {
    const result = verify(callbackData(), signatureFor('ORD-1001', t), { ...options, now: () => now * 1000 });
    expect(verdictOf(result)).toBe(verdict);
  });

  test('the age is reported with and without a tolerance', () => {
    expect(accepted(verify(callbackData())).timestamp).toEqual({
      text: `${T}`,
      unit: 'seconds',
      ageSeconds: 10,
    });
    const late = verify(callbackData(), SIGNATURE, { toleranceSeconds: 5 });
    expect(late).toMatchObject({ evidence: { timestamp: { ageSeconds: 10 } } });
  });

  test.each([
    [99_999_999_999, 'seconds'],
    [100_000_000_000, 'milliseconds'],
  ])('a t of %i is read in %s', (t, unit) => {
    const { timestamp } = accepted(verify(callbackData(), signatureFor('ORD-1001', t)));
    expect(timestamp).toMatchObject({ text: `${t}`, unit });
    expect(Object.isFrozen(timestamp)).toBe(true);
  });

  test('the clock is read at every verification, not at construction', () => {
    let seconds = T;
    const given = createVerifier({
      signingKey: SIGNING_KEY,
      toleranceSeconds: 30,
      now: () => seconds * 1000,
    });
    const verdict = () => verdictOf(given.verifyCallback({ signature: SIGNATURE, body: callbackData() }));
    expect(verdict()).toBe('accepted');
    seconds += 31;
    expect(verdict()).toBe('timestamp_out_of_tolerance, authentic');
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '30'])(
    'a tolerance of %s is refused at construction',
    (tolerance) => {
      const options = { signingKey: SIGNING_KEY, toleranceSeconds: tolerance as number };
      expect(() => createVerifier(options)).toThrow(
        expect.objectContaining({
          option: 'toleranceSeconds',
          message: 'toleranceSeconds must be a number of seconds above 0, or be left out.',
        }),
      );
    },
  );
});
