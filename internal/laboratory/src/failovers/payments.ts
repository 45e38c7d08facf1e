import { sampleCallback, signCallback } from '@payment-service/core/testing';

import { SIGNING_KEY } from '../load/callbacks.ts';

/** A payment as the sender and the merchant know it. */
export interface Payment {
  readonly reference: string;
  readonly expectation: {
    readonly merchant_reference: string;
    readonly currency: string;
    readonly amount: string;
  };
  readonly body: string;
  readonly signature: string;
}

export function paymentAt(index: number): Payment {
  const reference = `ORD-${index}`;
  const amount = 500 + index;
  const data = sampleCallback({
    payload: {
      id: index,
      merchant_reference: reference,
      internal_reference: `INT-${index}`,
      request_amount: amount,
      transaction_amount: amount,
    },
  });
  return {
    reference,
    expectation: { merchant_reference: reference, currency: 'UGX', amount: String(amount) },
    body: JSON.stringify(data),
    signature: signCallback({ signingKey: SIGNING_KEY, data }),
  };
}
