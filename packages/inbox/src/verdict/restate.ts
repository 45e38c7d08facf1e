import type { SignedFields } from '@payment-service/core';
import { isUnambiguous, referenceKey, subjectKey } from '../delivery/stored-delivery.ts';
import { STATUS_MEANINGS, TRANSITION_STATES } from '../states.ts';
import type { Statements } from '../store/statements.ts';
import { choiceOf, numberOf, optionalText, type Row, textOf } from '../store/store.ts';
import { isOwn } from '../words.ts';
import { type Archived, findArchived } from './archived.ts';
import {
  type PaymentFacts,
  paymentState,
  type ReportFacts,
  STORED_PAYMENT_STATES,
  type StoredPaymentState,
} from './payment-state.ts';
import { reasonIn } from './stored-values.ts';

/** What identifies a payment. */
export type PaymentKey = Pick<SignedFields, 'merchant_reference' | 'transaction_type'>;

/** The state of a payment as it is stored. */
export const storedStateIn = (row: Row): StoredPaymentState => choiceOf(row, 'state', STORED_PAYMENT_STATES);

/**
 * Decides the state of a payment again, in the transaction that changes one of its reports or what is expected. Begins with
 * `lockPayment()`, before that transaction locks a report: in another order, two transactions could wait for each other.
 *
 * @param settling A report that this transaction is about to settle, and what it means.
 */
export async function restate<Tx>(
  statements: Statements<Tx>,
  { account, ...payment }: PaymentKey & { readonly account: string },
  tx: Tx,
  settling?: Pick<ReportFacts, 'transitionId' | 'subjectKey' | 'appliedAs' | 'place'> & {
    readonly isPayment: boolean;
  },
): Promise<void> {
  const row = await lockPayment(statements, { account, ...payment }, tx);
  const known = await readFacts(statements, { account, ...payment }, row, tx);
  const others = known.reports.filter(({ transitionId }) => transitionId !== settling?.transitionId);
  const own = settling && {
    ...settling,
    ...({ state: 'settled', reason: undefined, changedAt: Number.POSITIVE_INFINITY } as const),
  };
  const { state, needs } = paymentState({
    ...known,
    settledBy: settling?.isPayment ? settling.transitionId : known.settledBy,
    reports: own === undefined ? others : [...others, own],
  });
  if (state !== known.before || needs !== optionalText(row, 'needs'))
    await statements.run('set_payment_state', [...keysOf(payment, account), state, needs ?? null], tx);
}

/** Everything that decides the state of a payment. It has no row after the report that settled it was archived. */
export async function readFacts<Tx>(
  statements: Statements<Tx>,
  { account, ...payment }: PaymentKey & { readonly account: string },
  row: Row | undefined,
  tx?: Tx,
): Promise<PaymentFacts> {
  const reports = (await statements.run('read_reports', keysOf(payment, account), tx)).map(factsIn);
  const before = row === undefined ? 'unexpected' : storedStateIn(row);
  const amount = row === undefined ? undefined : optionalText(row, 'amount');
  // The state before tells what the archived reports were applied as.
  const isTold = amount !== undefined && ['open', 'failed', 'paid', 'reversed'].includes(before);
  const archived = isTold ? [] : await findArchivedReports(statements, { account, ...payment }, tx);
  const settling = archived.find(({ expectation }) => expectation !== undefined);
  return {
    isExpected: amount !== undefined || settling !== undefined,
    isCanceled: row !== undefined && row['canceled_at'] !== null,
    settledBy: (row && optionalText(row, 'settled_by')) ?? settling?.transitionId,
    reports: [...reports.filter(belongs), ...archived.map((each) => archivedFacts(each, account))],
    before,
  };
}

/** The reports of a payment that `prune()` has moved into the archive, newest first. */
export async function findArchivedReports<Tx>(
  statements: Statements<Tx>,
  { account, merchant_reference, transaction_type }: PaymentKey & { readonly account: string },
  tx?: Tx,
): Promise<Archived[]> {
  const found = await findArchived(statements, { keys: { merchant_reference }, account }, tx);
  return found.filter(({ signed }) => signed.transaction_type === transaction_type);
}

const archivedFacts = (
  { changedAt, signed, applied, ...report }: Archived,
  account: string,
): ReportFacts => ({
  ...report,
  ...applied,
  subjectKey: subjectKey(signed.internal_reference, account),
  changedAt: changedAt.getTime(),
});

/** Until the transaction ends, nothing settles it. @returns its row, which is added if nothing was known about it. */
export async function lockPayment<Tx>(
  statements: Statements<Tx>,
  { account, ...payment }: PaymentKey & { readonly account: string },
  tx: Tx,
): Promise<Row> {
  const keys = keysOf(payment, account);
  const [known] = await statements.run('lock_payment', keys, tx);
  if (known !== undefined) return known;
  await statements.run('add_payment', [...keys, account, JSON.stringify(payment.merchant_reference)], tx);
  const [added] = await statements.run('lock_payment', keys, tx);
  if (added === undefined) throw new TypeError('The row of a payment is missing after it was added.');
  return added;
}

/** The values that find its row: its key, and its type as JSON. */
export const keysOf = (payment: PaymentKey, account: string): [string, string] => [
  referenceKey(payment.merchant_reference, account),
  JSON.stringify(payment.transaction_type),
];

function factsIn(row: Row): ReportFacts {
  return {
    transitionId: textOf(row, 'transition_id'),
    subjectKey: textOf(row, 'subject_key'),
    state: choiceOf(row, 'state', TRANSITION_STATES),
    reason: reasonIn(row, 'reason'),
    appliedAs: row['applied_as'] === null ? undefined : choiceOf(row, 'applied_as', STATUS_MEANINGS),
    place: numberOf(row, 'place'),
    changedAt: numberOf(row, 'changed_at'),
  };
}

/** A reference that can be read in more than one way belongs to no payment. */
const belongs = ({ reason }: ReportFacts): boolean =>
  reason === undefined || isOwn(reason) || isUnambiguous(reason);
