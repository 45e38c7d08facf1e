import { sumOfProducts } from '@payment-service/core/reconcile';
import { textOf } from '../acts/operations.ts';
import type { PaymentFilter, PaymentPage } from './list-payments.ts';
import type { PaymentSummary } from './payment-summary.ts';

/** What is expected and what was credited of one type in one currency, exact. */
export interface PaymentSum {
  readonly transaction_type: string;
  /** Undefined for payments of which nothing is expected. */
  readonly currency: string | undefined;
  readonly payments: number;
  readonly expected: string;
  readonly credited: string;
}

type Summed = Pick<PaymentSummary, 'transaction_type' | 'expected' | 'settled'>;

/** The sums of a list of payments, by type and currency: what goes out is never added to what comes in. */
export function sumsOf(payments: readonly Summed[]): PaymentSum[] {
  const total = (amounts: readonly (string | undefined)[]): string =>
    sumOfProducts(amounts.flatMap((amount) => (amount === undefined ? [] : [[amount, 1] as const])));
  const groups = Map.groupBy(payments, ({ transaction_type: type, expected }) =>
    JSON.stringify([type, expected?.currency]),
  );
  const inOrder = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return inOrder.flatMap(([, same]) =>
    same.slice(0, 1).map(({ transaction_type, expected }) => ({
      transaction_type,
      currency: expected?.currency,
      payments: same.length,
      expected: total(same.map((one) => one.expected?.amount)),
      credited: total(same.map((one) => one.settled?.amount)),
    })),
  );
}

/** Only the sums with an amount: nothing is known about the money of the others. */
export const moneySumsOf = (payments: readonly Summed[]): (PaymentSum & { readonly currency: string })[] =>
  sumsOf(payments).flatMap(({ currency, ...sum }) => (currency === undefined ? [] : [{ ...sum, currency }]));

/** 'UGX 500', and 'UGX 500, PAYOUT': the usual type is not named. */
export const ofType = (text: string, type: string): string =>
  type === 'COLLECTION' ? text : `${text}, ${type}`;

/**
 * How much of an order is paid, in a sentence for each type and currency, if a page contains all of its payments. What was taken
 * back does not count.
 */
export function orderSentences(
  { order: id, limit: _, ...narrowed }: PaymentFilter,
  { items, next }: Pick<PaymentPage, 'items' | 'next'>,
): string[] {
  const [order] = items.map((payment) => payment.order);
  const isWhole = next === undefined && Object.values(narrowed).every((each) => each === undefined);
  if (id === undefined || order === undefined || !isWhole) return [];
  const kept = items.map((each) => (each.state === 'reversed' ? { ...each, settled: undefined } : each));
  return moneySumsOf(kept).map(({ transaction_type, currency, credited }) => {
    const [paid, total] = [credited, order.total].map((amount) => textOf({ currency, amount }));
    return `${paid} of ${total} is paid for order ${ofType(id, transaction_type)}.`;
  });
}
