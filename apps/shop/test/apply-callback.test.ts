import { createVerifier, type VerifiedCallback } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyCallback } from '../src/apply-callback.ts';
import type { Order } from '../src/order.ts';

const signingKey = 'TESTSIGNINGKEY';
const verifier = createVerifier({ signingKey });

const open: Order = {
  reference: 'ORD-1001',
  createdAt: 0,
  productId: 'coffee',
  item: 'Coffee beans',
  quantity: 1,
  total: { currency: 'UGX', amount: '500' },
  account: '256770000001',
  customerName: 'Example Customer',
  providerName: 'Example Mobile Money',
  start: { state: 'starting' },
  concerns: [],
};

function callback(payload: object = {}): VerifiedCallback {
  const data = sampleCallback({ payload: { ...payload } });
  const result = verifier.verifyCallback({
    signature: signCallback({ signingKey, data }),
    body: JSON.stringify(data),
  });
  if (!result.ok) throw new Error(result.hint);
  return result;
}

const genuine = callback();
const others = [
  callback({ request_amount: 1, transaction_amount: 1 }),
  callback({ request_amount: 5_000_000 }),
  callback({ transaction_currency: 'KES' }),
  callback({ transaction_status: 'FAILED' }),
  callback({ transaction_status: 'PENDING' }),
  callback({ transaction_type: 'PAYOUT' }),
];

describe('what callbacks do to an order', () => {
  it('whatever comes, in whatever order, it is paid exactly when the genuine callback was among it', () => {
    void fc.assert(
      fc.property(fc.array(fc.constantFrom(genuine, ...others), { maxLength: 12 }), (sequence) => {
        const end = sequence.reduce(applyCallback, open);
        const first = sequence.indexOf(genuine);
        expect(end.payment?.at).toBe(first === -1 ? undefined : first);
        expect(end.total).toEqual(open.total);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing when the callback that paid comes again', () => {
    const paid = applyCallback(open, genuine, 1);
    expect(applyCallback(paid, callback(), 2)).toBe(paid);
  });

  it('forgets a failure that the payment has overtaken', () => {
    const failed = applyCallback(open, callback({ transaction_status: 'FAILED' }), 1);
    expect(failed.reported?.status).toBe('FAILED');
    expect(applyCallback(failed, genuine, 2).reported).toBeUndefined();
  });

  it('counts what repeats, and keeps a bounded list of what does not', () => {
    let order = open;
    for (let times = 0; times < 3; times += 1)
      order = applyCallback(order, callback({ request_amount: 1 }), times);
    expect(order.concerns).toMatchObject([{ kind: 'amount', times: 3, at: 0 }]);
    for (let amount = 1000; amount < 2000; amount += 1) {
      order = applyCallback(order, callback({ request_amount: amount }), amount);
    }
    expect(order.concerns).toHaveLength(20);
    expect(applyCallback(order, genuine, 1).payment).toBeDefined();
  });

  it('shows the claimed amount as it stood in the body, however many digits it has', () => {
    const data = sampleCallback();
    const signature = signCallback({ signingKey, data });
    const body = JSON.stringify(data).replace(
      '"request_amount":500',
      '"request_amount":500.00000000000000000001',
    );
    const result = verifier.verifyCallback({ signature, body });
    if (!result.ok) throw new Error(result.hint);
    const order = applyCallback(open, result, 1);
    expect(order.payment).toBeUndefined();
    expect(order.concerns[0]?.claims).toEqual([
      { field: 'request_amount', reason: 'different', value: '500.00000000000000000001' },
    ]);
  });
});
