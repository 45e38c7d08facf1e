import type { Money } from './money.ts';

/** What the shop knows about an order. */
export interface Order {
  /** Our own reference, the `merchant_reference` of the payment. It is hard to guess, so it also opens the order's page. */
  readonly reference: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly productId: string;
  readonly item: string;
  readonly quantity: number;
  /** What the payment must be: the inbox keeps it as the expectation of this reference. */
  readonly total: Money;
  readonly account: string;
  readonly customerName: string;
  readonly providerName: string;
  readonly start: PaymentStart;
  /** Present once the order is paid, and never removed. */
  readonly payment?: Payment | undefined;
  /** The last outcome other than completed. The order can still be paid: another payment may complete it. */
  readonly reported?: string | undefined;
  /** What the customer's redirect said. Only for the words on the page; nothing else may read it. */
  readonly hint?: Hint | undefined;
}

/** The state of the start of the payment. `unknown`: there was no answer, so it may have started. */
export type PaymentStart =
  | { readonly state: 'starting' }
  | { readonly state: 'started'; readonly paymentUrl: string }
  | { readonly state: 'refused' | 'unknown'; readonly why: string };

export interface Hint {
  readonly status: string;
  readonly completed: boolean;
  /** When the first one arrived, in milliseconds since 1970. */
  readonly at: number;
}

/** Written only by a handler of the inbox. */
export interface Payment {
  /** The transition that the inbox settled. */
  readonly transitionId: string;
  /** The total, unless a person has accepted another amount. */
  readonly settled: Money;
  /** The charge that the callback claims, in its currency. Not signed: show it, but do not book it. */
  readonly charge: string | undefined;
  readonly at: number;
}

export const ORDER_STATES = ['open', 'paid', 'failed', 'not started'] as const;
export type OrderState = (typeof ORDER_STATES)[number];

export function orderState({
  payment,
  reported,
  start,
}: Pick<Order, 'payment' | 'reported' | 'start'>): OrderState {
  if (payment !== undefined) return 'paid';
  if (reported !== undefined) return 'failed';
  return start.state === 'refused' ? 'not started' : 'open';
}
