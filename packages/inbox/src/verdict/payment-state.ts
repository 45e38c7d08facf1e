import type { StatusMeaning, TransitionReason, TransitionState } from '../states.ts';
import { WAITS_FOR_PERSON } from '../words.ts';

/** The states of a payment, in the order in which a person needs them. `overdue` is `open` past its deadline. */
export const PAYMENT_STATES = [
  'held',
  'unexpected',
  'overdue',
  'open',
  'paid',
  'reversed',
  'failed',
  'canceled',
] as const;

/**
 * The state of a payment: everything about one merchant_reference of one transaction_type. `failed` may still be paid; `held` waits
 * for a person; `unexpected` was reported, and nothing is expected; `canceled` pays nothing.
 */
export type PaymentState = (typeof PAYMENT_STATES)[number];

/** Without `overdue`, which follows from the time. */
export type StoredPaymentState = Exclude<PaymentState, 'overdue'>;
export const STORED_PAYMENT_STATES: readonly StoredPaymentState[] = PAYMENT_STATES.filter(
  (state) => state !== 'overdue',
);

/** What decides the state of a payment about one report: one status of one transaction. */
export interface ReportFacts {
  readonly transitionId: string;
  /** The key of its transaction. */
  readonly subjectKey: string;
  readonly state: TransitionState;
  readonly reason: TransitionReason | undefined;
  /** What it meant when it was applied; undefined if it was not, for the completed status, and for a status without a meaning. */
  readonly appliedAs: StatusMeaning | undefined;
  /** Statuses of one transaction are applied in this order. */
  readonly place: number;
  /** When it last changed, by the clock of the database. */
  readonly changedAt: number;
}

/** Everything that decides the state of a payment. */
export interface PaymentFacts {
  /** An expectation was stated. */
  readonly isExpected: boolean;
  readonly isCanceled: boolean;
  /** The id of the transition that settled it. */
  readonly settledBy: string | undefined;
  /** Without those whose reference can be read in more than one way, which belong to no payment. */
  readonly reports: readonly ReportFacts[];
  /** The previous state, which stays true when the report that led to it is archived. */
  readonly before: StoredPaymentState;
}

export interface PaymentVerdict {
  readonly state: StoredPaymentState;
  /** Why a person must look at it; undefined if no one must. */
  readonly needs: TransitionReason | undefined;
}

/**
 * Decides the state of a payment. Pure: it depends neither on the order in which the reports arrived nor on the store. The first
 * state that applies counts.
 */
export function paymentState({ reports, ...payment }: PaymentFacts): PaymentVerdict {
  const held = reports.filter(({ state }) => WAITS_FOR_PERSON.includes(state)).map(({ reason }) => reason);
  const [needs] = held.filter((reason) => reason !== undefined).toSorted();
  const settling = reports.find(({ transitionId }) => transitionId === payment.settledBy);
  if (payment.settledBy !== undefined) {
    const reversals = reports.filter(
      ({ appliedAs, subjectKey }) => appliedAs === 'reversed' && subjectKey === settling?.subjectKey,
    );
    const isReversed =
      reversals.length === 0
        ? payment.before === 'reversed'
        : reversals.some(({ place }) => place > (settling?.place ?? 0));
    return { state: isReversed ? 'reversed' : 'paid', needs };
  }
  if (held.length > 0) return { state: 'held', needs };
  if (payment.isCanceled) return { state: 'canceled', needs };
  if (!payment.isExpected) {
    const money = reports.find(({ state, reason }) => state === 'unhandled' && reason === 'no_expectation');
    return { state: 'unexpected', needs: money?.reason };
  }
  const last = reports.filter(({ appliedAs }) => appliedAs !== undefined).toSorted(newestFirst)[0];
  const isFailed = last === undefined ? payment.before === 'failed' : last.appliedAs === 'failed';
  return { state: isFailed ? 'failed' : 'open', needs };
}

const newestFirst = (one: ReportFacts, other: ReportFacts): number =>
  other.changedAt - one.changedAt || (one.transitionId < other.transitionId ? -1 : 1);
