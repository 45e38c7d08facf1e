import type { AmountMismatch } from '@payment-service/core';
import type { Money } from './money.ts';

/** What the shop knows of an order. Immutable: a change makes a new one. */
export interface Order {
  /** Our own reference, the `merchant_reference` of the payment. Hard to guess, so it also opens the order's page. */
  readonly reference: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly productId: string;
  readonly item: string;
  readonly quantity: number;
  /** What the payment must be. Whatever a callback claims is compared with this, and never written into it. */
  readonly total: Money;
  readonly account: string;
  readonly customerName: string;
  readonly providerName: string;
  readonly start: PaymentStart;
  /** Present once the order is paid, and never taken away again. */
  readonly payment?: Payment | undefined;
  /** The last outcome other than completed that a callback proved. The order stays open: another one may complete it. */
  readonly reported?: { readonly status: string; readonly message: string } | undefined;
  /** What the customer's redirect said. For the words on the page; nothing else may read it. */
  readonly hint?: { readonly status: string; readonly completed: boolean } | undefined;
  readonly concerns: readonly Concern[];
}

/** How far starting the payment came. `unknown`: no answer, so it may have started all the same. */
export type PaymentStart =
  | { readonly state: 'starting' }
  | { readonly state: 'started'; readonly paymentUrl: string }
  | { readonly state: 'refused' | 'unknown'; readonly why: string };

export interface Payment {
  /** The transition that paid the order: a callback that repeats it changes nothing. */
  readonly transitionId: string;
  readonly internalReference: string;
  readonly at: number;
}

/** Something about a genuine signature that the owner should look at. It never pays an order. */
export interface Concern {
  readonly kind: 'amount' | 'not_a_collection' | 'paid_twice' | 'outcome_after_payment';
  readonly at: number;
  readonly transitionId: string;
  readonly internalReference: string;
  readonly status: string;
  /** For `amount`: where the callback differs from the order, and what it claims. */
  readonly claims: readonly Claim[];
  /** How often the same thing came. */
  readonly times: number;
}

export interface Claim extends AmountMismatch {
  readonly value: string;
}

export type OrderState = 'paid' | 'open' | 'not started';

export function orderState({ payment, start }: Order): OrderState {
  if (payment !== undefined) return 'paid';
  return start.state === 'refused' ? 'not started' : 'open';
}
