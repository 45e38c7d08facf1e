import { sumOfProducts } from '@payment-service/core/reconcile';
import { textOf } from '../acts/operations.ts';
import type { PaymentFilter, PaymentPage } from './list-payments.ts';
import type { PaymentSummary } from './payment-summary.ts';

/** What is expected and what was credited in one currency, exact. */
export interface PaymentSum {
  readonly currency: string;
  readonly expected: string;
  readonly credited: string;
}

/** The sums of a list of payments, by currency. */
export function sumsOf(payments: readonly Pick<PaymentSummary, 'expected' | 'settled'>[]): PaymentSum[] {
  const all = payments.filter(({ expected }) => expected !== undefined);
  const total = (amounts: readonly (string | undefined)[]): string =>
    sumOfProducts(amounts.flatMap((amount) => (amount === undefined ? [] : [[amount, 1] as const])));
  return [...Map.groupBy(all, ({ expected }) => expected?.currency ?? '')].map(([currency, same]) => ({
    currency,
    expected: total(same.map(({ expected }) => expected?.amount)),
    credited: total(same.map(({ settled }) => settled?.amount)),
  }));
}

/**
 * What is paid of an order, a sentence for each currency, if a page has all of its payments. What was taken back does not count.
 */
export function orderSentences(
  { order: id, limit: _, ...narrowed }: PaymentFilter,
  { items, next }: Pick<PaymentPage, 'items' | 'next'>,
): string[] {
  const [order] = items.map((payment) => payment.order);
  const isWhole = next === undefined && Object.values(narrowed).every((each) => each === undefined);
  if (id === undefined || order === undefined || !isWhole) return [];
  const kept = items.map((each) => (each.state === 'reversed' ? { ...each, settled: undefined } : each));
  return sumsOf(kept).map(({ currency, credited }) => {
    const [paid, total] = [credited, order.total].map((amount) => textOf({ currency, amount }));
    return `${paid} of ${total} is paid of order ${id}.`;
  });
}
