import { canonicalAmount } from '@payment-service/core';
import type { TransitionSummary } from '@payment-service/inbox';
import { groupedDigits } from '@payment-service/pages';

/** What the shop knows about an order. */
export interface Order {
  /** Our own reference, the `merchant_reference` of the payment. It is hard to guess, so it also opens the order's page. */
  readonly reference: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly product: Product;
  /** As the customer typed it, except that the account is the one that was sent. */
  readonly form: CheckoutForm;
  /** What the payment must be: the inbox keeps it as the expectation of this reference. */
  readonly total: Money;
  readonly providerName: string;
  readonly start: PaymentStart;
  /** Present once the order is paid, and never removed. */
  readonly payment?: Payment | undefined;
  /** The last outcome other than completed. The order can still be paid: another payment may complete it. */
  readonly reported?: string | undefined;
  /** What the customer's redirect said. Only for the words on the page; nothing else may read it. */
  readonly hint?: Hint | undefined;
}

export const EMPTY_FORM = { quantity: '1', name: '', account: '', provider: '' };

/** The checkout form as the customer typed it. */
export type CheckoutForm = Readonly<typeof EMPTY_FORM>;

/** The state of the start of the payment. */
export type PaymentStart =
  | { readonly state: 'starting' }
  | { readonly state: 'started'; readonly paymentUrl: string }
  /**
   * `why` is for people to read. `unknown`: there was no valid response, so the payment may have started. Never start it again
   * under the same reference.
   */
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
  /** The total, unless an operator has accepted another amount. */
  readonly settled: Money;
  /** The charge that the callback claims, in its currency, or null. Not signed: show it, but do not book it. */
  readonly charge: string | null;
  readonly at: number;
}

export type OrderState = 'open' | 'paid' | 'failed' | 'not started';

export function orderState({ payment, reported, start }: Order): OrderState {
  if (payment !== undefined) return 'paid';
  if (reported !== undefined) return 'failed';
  return start.state === 'refused' ? 'not started' : 'open';
}

/** Whether it waits for an operator. */
export function isHeld({ state }: Pick<TransitionSummary, 'state'>): boolean {
  return state === 'quarantined' || state === 'conflict' || state === 'dead';
}

/** An amount in whole units of its currency, as a decimal string: "18000", "12.50". No sum ever goes through a float. */
export interface Money {
  readonly currency: string;
  readonly amount: string;
}

/** What the shop sells. */
export interface Product {
  /** Letters, digits and hyphens: it names a cookie, and the picture in web/assets/pictures. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly price: Money;
}

const placesOf = (amount: string): number => amount.split('.')[1]?.length ?? 0;
const minorOf = (amount: string, places: number): bigint =>
  BigInt(amount.replace('.', '') + '0'.repeat(places - placesOf(amount)));

function decimalOf(minor: bigint, places: number): string {
  const digits = String(minor).padStart(places + 1, '0');
  const point = digits.length - places;
  return places === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The price of several, exactly. */
export function multiply({ currency, amount }: Money, quantity: number): Money {
  const places = placesOf(amount);
  return { currency, amount: decimalOf(minorOf(amount, places) * BigInt(quantity), places) };
}

/** The sum in each currency, exactly. */
export function sums(amounts: readonly Money[]): Money[] {
  return [...Map.groupBy(amounts, ({ currency }) => currency)].map(([currency, own]) => {
    const places = Math.max(...own.map(({ amount }) => placesOf(amount)));
    const sum = own.reduce((total, { amount }) => total + minorOf(amount, places), 0n);
    return { currency, amount: decimalOf(sum, places) };
  });
}

/** What was paid: the total as the customer read it, unless an operator has accepted another amount. */
export function paidOf({ total, payment }: Order): Money | undefined {
  const settled = payment?.settled;
  const isTotal = settled?.currency === total.currency && settled.amount === canonicalAmount(total.amount);
  return isTotal ? total : settled;
}

/**
 * For people: "UGX 18,000" with a no-break space and unchanged decimals. Accepts the wire's numbers and our decimal strings.
 */
export function formatMoney({ currency, amount }: { currency: string; amount: string | number }): string {
  return `${currency}\u00a0${groupedDigits(String(amount))}`;
}
