import type { TransitionReason } from '../states.ts';
import { dateOf, numberOf, type Row } from '../store/store.ts';
import type { Archived } from '../work/verdict/archived.ts';
import type { ExpectedMoney, ReplacedMoney, Settled } from '../work/verdict/evaluate.ts';
import { type PaymentKey, storedStateIn } from '../work/verdict/payment.ts';
import type { PaymentState } from '../work/verdict/payment-state.ts';
import { expectationIn, jsonTextOf, reasonIn } from '../work/verdict/stored.ts';

/** What is expected of a payment. */
export interface ExpectedPayment extends ExpectedMoney {
  /** From then on an open payment is `overdue`. */
  readonly deadline: Date | undefined;
}

/** One line of a list of payments. No personal data. */
export interface PaymentSummary extends PaymentKey {
  readonly state: PaymentState;
  /** Why a person must look at it, also for a paid one with a second report; undefined if nobody must. */
  readonly needs: TransitionReason | undefined;
  /** What you have stated. Undefined for what is reported and not expected. */
  readonly expected: ExpectedPayment | undefined;
  /** What was credited: your own amount, never a claim. `report` is the id of the report that settled it. */
  readonly settled: (Settled & { readonly at: Date; readonly report: string }) | undefined;
  /** What was expected before, the oldest first. */
  readonly replaced: readonly ReplacedMoney[];
  /** When its state, its expectation or its money last changed. */
  readonly changedAt: Date;
  /** Moved into the archive by `prune()`. */
  readonly isArchived: boolean;
}

/** `open` is `overdue` past its deadline. */
export function shownState(row: Row): PaymentState {
  const state = storedStateIn(row);
  const isLate = row['deadline_at'] !== null && numberOf(row, 'deadline_at') <= numberOf(row, 'now');
  return state === 'open' && isLate ? 'overdue' : state;
}

export function summaryIn(row: Row): PaymentSummary {
  const known = expectationIn(row);
  const money = known && { currency: known.currency, amount: known.amount };
  const deadline = row['deadline_at'] === null ? undefined : dateOf(row, 'deadline_at');
  return {
    merchant_reference: jsonTextOf(row, 'merchant_reference'),
    transaction_type: jsonTextOf(row, 'transaction_type'),
    state: shownState(row),
    needs: reasonIn({ reason: row['needs'] }, 'reason'),
    expected: money && known && { ...money, compare: known.compare, deadline },
    settled:
      known?.settledBy === undefined || money === undefined
        ? undefined
        : { ...money, at: dateOf(row, 'settled_at'), report: known.settledBy },
    replaced: known?.replaced ?? [],
    changedAt: dateOf(row, 'changed_at'),
    isArchived: false,
  };
}

/** Of what `prune()` has left of it. */
export function archivedSummary({ signed, expectation, changedAt, transitionId }: Archived): PaymentSummary {
  const { merchant_reference, transaction_type } = signed;
  const money = { currency: expectation?.currency ?? '', amount: expectation?.amount ?? '' };
  return {
    ...{ merchant_reference, transaction_type, changedAt },
    ...{ state: 'paid', needs: undefined, replaced: [], isArchived: true },
    expected: { ...money, compare: expectation?.compare ?? 'both', deadline: undefined },
    settled: { ...money, at: changedAt, report: transitionId },
  };
}
