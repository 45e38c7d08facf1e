import { sampleCallback } from '@payment-service/core/testing';
import type { CallbackData } from './open-shop.ts';

/** The genuine callback for an order of 18,000 UGX. */
export function genuine(reference: string, payload: object = {}): CallbackData {
  return sampleCallback({
    payload: {
      merchant_reference: reference,
      internal_reference: 'INT-1',
      request_amount: 18_000,
      transaction_amount: 18_000,
      ...payload,
    },
  });
}
