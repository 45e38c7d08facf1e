import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { confirmAmount } from '../../src/index.ts';
import { accepted } from '../accepted.ts';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, SIGNATURE } from '../signed-callbacks.ts';
import { codeOf, verify } from './verify.ts';

// Another amount under a valid signature. Storage against threat A5 belongs to the inbox.

describe('threat A2: another amount under a valid signature', () => {
  test('threat A2: unsigned fields change no signed field, and no other amount is confirmed', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.double({ noNaN: true }), (extra, amount) => {
        const unsigned = { ...extra, request_amount: amount, transaction_amount: amount };
        const { event, payload } = callbackData();
        const result = accepted(
          verify({ event, payload: { ...payload, ...unsigned, ...onlySigned(payload) } }),
        );
        expect(result.signed.merchant_reference).toBe('ORD-1001');
        if (result.kind !== 'callback') throw new Error('A callback became a redirect.');
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

describe('threat A31: the payer forges the amount of their own payment', () => {
  const price = { currency: 'UGX', amount: '5000000' };

  test('threat A31: confirmAmount() cannot tell a claim of the payer from a claim of the service', () => {
    const forged = callbackData({ request_amount: 5_000_000, transaction_amount: 5_000_000 });
    const result = verifier.verifyCallback({ signature: SIGNATURE, body: forged });
    if (!result.ok) throw new Error('The forged amount was noticed: see decision D1.');
    expect(confirmAmount(result, price)).toEqual({ ok: true });
  });

  test('threat A31: a new reference for every attempt makes the signature of a small payment useless', () => {
    const forged = callbackData({
      merchant_reference: 'ORD-1001-2',
      request_amount: 5_000_000,
      transaction_amount: 5_000_000,
    });
    expect(codeOf(verify(forged))).toBe('mismatch');
  });
});

describe('threat A5: a forged body that arrives first', () => {
  test('threat A5: the forged body is not confirmed, and the genuine one after it is, as the same transition', () => {
    const expected = { currency: 'UGX', amount: '500' };
    const [forged, genuine] = [5_000_000, 500].map((amount) =>
      verifier.verifyCallback({
        signature: SIGNATURE,
        body: callbackData({ request_amount: amount, transaction_amount: amount }),
      }),
    );
    if (!forged?.ok || !genuine?.ok) throw new Error('One of the two was refused.');
    expect(confirmAmount(forged, expected).ok).toBe(false);
    expect(confirmAmount(genuine, expected).ok).toBe(true);
    expect(forged.transitionId).toBe(genuine.transitionId);
  });
});
