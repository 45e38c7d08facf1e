import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { confirmAmount } from '../../src/index.ts';
import { accepted } from '../accepted.ts';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, SIGNATURE } from '../signed-callbacks.ts';
import { verify } from './verify.ts';

// Other money under a valid signature. What has to be stored against threat A5 belongs to the inbox.

describe('threat A2: other money under a valid signature', () => {
  test('threat A2: whatever the unsigned fields are, the signed ones are as signed, and no other amount is confirmed', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.double({ noNaN: true }), (extra, amount) => {
        const unsigned = { ...extra, request_amount: amount, transaction_amount: amount };
        const { event, payload } = callbackData();
        const result = accepted(
          verify({ event, payload: { ...payload, ...unsigned, ...onlySigned(payload) } }),
        );
        expect(result.signed.merchant_reference).toBe('ORD-1001');
        if (result.kind !== 'callback') throw new Error('a callback became a redirect');
        const confirmed = confirmAmount(result, { currency: 'UGX', amount: '500' });
        if (amount !== 500) expect(confirmed.ok).toBe(false);
      }),
    );
  });

  function onlySigned(payload: Record<string, unknown>): Record<string, unknown> {
    const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
    return { merchant_reference, internal_reference, transaction_type, transaction_status };
  }
});

describe('threat A5: a forged body that comes first', () => {
  test('threat A5: it is not confirmed, and the genuine one after it is, as the same transition', () => {
    const expected = { currency: 'UGX', amount: '500' };
    const [forged, genuine] = [5_000_000, 500].map((amount) =>
      verifier.verifyCallback({
        signature: SIGNATURE,
        body: callbackData({ request_amount: amount, transaction_amount: amount }),
      }),
    );
    if (!forged?.ok || !genuine?.ok) throw new Error('one of the two was refused');
    expect(confirmAmount(forged, expected).ok).toBe(false);
    expect(confirmAmount(genuine, expected).ok).toBe(true);
    expect(forged.transitionId).toBe(genuine.transitionId);
  });
});
