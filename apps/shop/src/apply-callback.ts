import {
  type AmountMismatch,
  claimedAmounts,
  confirmAmount,
  isTransactionCompleted,
  type VerifiedCallback,
} from '@payment-service/core';
import type { Claim, Concern, Order } from './order.ts';

const MOST_CONCERNS = 20;

/**
 * What a verified callback does to the order it names. Pure, so that whoever stores orders can run it inside a
 * transaction of its own.
 *
 * An order is paid by a COMPLETED COLLECTION whose amount and currency are the order's own. The signature alone proves
 * neither amount nor currency: one customer could send the signature of this order with another amount (THREATS A2).
 */
export function applyCallback(order: Order, callback: VerifiedCallback, at: number): Order {
  const { transaction_type, transaction_status } = callback.signed;
  const raise = (kind: Concern['kind'], claims: readonly Claim[] = []): Order =>
    withConcern(order, {
      kind,
      at,
      transitionId: callback.transitionId,
      internalReference: callback.signed.internal_reference,
      status: transaction_status,
      claims,
      times: 1,
    });

  // A payout can carry the same reference; it takes money away instead of bringing it.
  if (transaction_type !== 'COLLECTION') return raise('not_a_collection');
  if (!isTransactionCompleted(callback)) {
    if (order.payment !== undefined) return raise('outcome_after_payment');
    const message = callback.unsigned.status_message ?? '';
    return { ...order, reported: { status: transaction_status, message } };
  }
  const confirmation = confirmAmount(callback, order.total);
  if (!confirmation.ok) {
    // The order stays open. A forged body can come first, and the genuine one must still count (A5).
    const claims = confirmation.mismatches.map((mismatch) => claimOf(callback, mismatch));
    return raise('amount', claims);
  }
  if (order.payment !== undefined) {
    return order.payment.transitionId === callback.transitionId ? order : raise('paid_twice');
  }
  const payment = {
    transitionId: callback.transitionId,
    internalReference: callback.signed.internal_reference,
    at,
  };
  return { ...order, payment, reported: undefined };
}

/** What the callback claims instead, as text for the owner. */
function claimOf(callback: VerifiedCallback, mismatch: AmountMismatch): Claim {
  const { request, transaction } = claimedAmounts(callback);
  const claims = {
    request_currency: request.currency,
    request_amount: request.amount,
    transaction_currency: transaction.currency,
    transaction_amount: transaction.amount,
    transaction_status: callback.signed.transaction_status,
    transaction_type: callback.signed.transaction_type,
  };
  return { ...mismatch, value: claims[mismatch.field] ?? 'nothing' };
}

/** The same thing again only counts up. The list is bounded: whoever holds one signature can send any number of amounts. */
function withConcern(order: Order, concern: Concern): Order {
  const index = order.concerns.findIndex((known) => isSame(known, concern));
  const known = order.concerns[index];
  if (known !== undefined) {
    return { ...order, concerns: order.concerns.with(index, { ...known, times: known.times + 1 }) };
  }
  return order.concerns.length < MOST_CONCERNS ? { ...order, concerns: [...order.concerns, concern] } : order;
}

function isSame(left: Concern, right: Concern): boolean {
  const key = ({ kind, transitionId, claims }: Concern): string =>
    JSON.stringify([kind, transitionId, claims]);
  return key(left) === key(right);
}
