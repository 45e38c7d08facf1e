import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVerifier } from '../../src/index.ts';
import { callbackData, SIGNATURE, SIGNING_KEY, signatureFor, T } from '../signed-callbacks.ts';
import { accepted, verify } from '../verify.ts';

// Decision D2, in addition to the vectors of the contract, which hold every bound of the tolerance: t is not signed, and the
// age is always reported.

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

test('threat A24: the clock is read at every verification, and a refusal has the age as evidence', () => {
  let seconds = T;
  const now = () => seconds * 1000;
  const given = createVerifier({ signingKey: SIGNING_KEY, toleranceSeconds: 30, now });
  const result = () => given.verifyCallback({ signature: SIGNATURE, body: callbackData() });
  expect(result().ok).toBe(true);
  seconds += 31;
  const evidence = { timestamp: { ageSeconds: 31 } };
  expect(result()).toMatchObject({ code: 'timestamp_out_of_tolerance', authentic: true, evidence });
});
