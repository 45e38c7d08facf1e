import type { TransitionReason } from '../../states.ts';
import { choiceOf, dateOf, type Row } from '../../store/store.ts';
import type { Archived } from '../../verdict/archived.ts';
import type { ExpectedMoney, KnownOrder, ReplacedMoney, Settled } from '../../verdict/evaluate.ts';
import { PAYMENT_STATES, type PaymentState } from '../../verdict/payment-state.ts';
import { findArchivedReports, type PaymentKey } from '../../verdict/restate.ts';
import { expectationIn, jsonTextOf, reasonIn } from '../../verdict/stored-values.ts';
import type { OperatorContext } from '../reports.ts';

/** What is expected of a payment. */
export interface ExpectedPayment extends ExpectedMoney {
  /** From then on an open payment is `overdue`. */
  readonly deadline: Date | undefined;
}

/** One line of a list of payments. No personal data. */
export interface PaymentSummary extends PaymentKey {
  readonly state: PaymentState;
  /** Why a person must look at it, even if it is paid and a second report waits; undefined if no one must. */
  readonly needs: TransitionReason | undefined;
  /** What you have stated. Undefined for a payment that is reported and not expected. */
  readonly expected: ExpectedPayment | undefined;
  /** What was credited: your own amount, never a claim. `report` is the id of the report that settled it. */
  readonly settled: (Settled & { readonly at: Date; readonly report: string }) | undefined;
  /** The debt that it is a part of, as stated to `expect()`. */
  readonly order: KnownOrder | undefined;
  /** What was expected before, the oldest first. */
  readonly replaced: readonly ReplacedMoney[];
  /** When its state, its expectation or its money last changed. */
  readonly changedAt: Date;
  /** Moved into the archive by `prune()`. */
  readonly isArchived: boolean;
}

function summaryIn(row: Row): PaymentSummary {
  const known = expectationIn(row);
  const { currency = '', amount = '', settledBy: report, replaced = [] } = known ?? {};
  const deadline = row['deadline_at'] === null ? undefined : dateOf(row, 'deadline_at');
  return {
    merchant_reference: jsonTextOf(row, 'merchant_reference'),
    transaction_type: jsonTextOf(row, 'transaction_type'),
    state: choiceOf(row, 'state', PAYMENT_STATES),
    needs: reasonIn({ reason: row['needs'] }, 'reason'),
    expected: known && { currency, amount, compare: known.compare, deadline },
    settled: report === undefined ? undefined : { currency, amount, at: dateOf(row, 'settled_at'), report },
    order: known?.order,
    replaced,
    changedAt: dateOf(row, 'changed_at'),
    isArchived: false,
  };
}

/** Of a row, with the money from the archive if the report that settled it is there: its reports arrived after that. */
export async function readSummary<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  row: Row,
  tx?: Tx,
): Promise<PaymentSummary> {
  const summary = summaryIn(row);
  if (summary.expected !== undefined || !['paid', 'reversed'].includes(summary.state)) return summary;
  const archived = await findArchivedReports(statements, { ...summary, account }, tx);
  return archivedSummary(archived, summary) ?? summary;
}

/** Of what `prune()` has left of a payment that it has moved; undefined if it has moved none. */
export function archivedSummary(
  archived: readonly Archived[],
  { state, needs, changedAt }: Partial<PaymentSummary> & Pick<PaymentSummary, 'state' | 'needs'>,
): PaymentSummary | undefined {
  const settling = archived.find(({ expectation }) => expectation !== undefined);
  if (settling?.expectation === undefined) return undefined;
  const { merchant_reference, transaction_type } = settling.signed;
  const { currency, amount, compare } = settling.expectation;
  return {
    ...{
      merchant_reference,
      transaction_type,
      state,
      needs,
      order: undefined,
      replaced: [],
      isArchived: true,
    },
    changedAt: changedAt ?? settling.changedAt,
    expected: { currency, amount, compare, deadline: undefined },
    settled: { currency, amount, at: settling.changedAt, report: settling.transitionId },
  };
}
