import { sumOfProducts } from '@payment-service/core/reconcile';
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
