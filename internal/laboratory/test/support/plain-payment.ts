import { createVerifier, type VerifiedCallback } from '@payment-service/core';
import { paymentAt } from '../../src/history/payment-plan.ts';
import { SIGNING_KEY } from '../../src/load/callbacks.ts';

/** A payment with one genuine callback, as the inbox gets the two. */
export function plainPayment(seed: number): {
  readonly expectation: { merchant_reference: string; currency: string; amount: string };
  readonly callback: VerifiedCallback;
} {
  for (let index = 0; index < 100; index++) {
    const { kind, reference, expectation, rounds } = paymentAt(seed, index);
    const [delivery] = rounds.flat();
    if (kind !== 'plain' || expectation === undefined || delivery === undefined) continue;
    const callback = createVerifier({ signingKey: SIGNING_KEY }).verifyCallback(delivery);
    if (!callback.ok) break;
    const { currency, amount } = expectation;
    return { expectation: { merchant_reference: reference, currency, amount }, callback };
  }
  throw new Error('The plan has no plain payment that verifies.');
}
