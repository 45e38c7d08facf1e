import { hash } from 'node:crypto';
import type { SignedFields } from '@payment-service/core';
import { checkArgument, type OptionRule } from '@payment-service/core/internal';
import { STRING } from '../../option-rules.ts';
import { optionalText } from '../../store/store.ts';
import { paymentState } from '../../verdict/payment-state.ts';
import { findArchivedReports, keysOf, type PaymentKey, readFacts } from '../../verdict/restate.ts';
import { actionIn, type OperatorAction } from '../acts/action-log.ts';
import { type Act, type ActedOn, isOpen } from '../acts/offers.ts';
import { actsOf } from '../acts/operations.ts';
import { findReports, type OperatorContext, readBodies, type TransitionSummary } from '../reports.ts';
import { type Advice, adviceOf } from './advice.ts';
import { archivedSummary, type PaymentSummary, readSummary } from './payment-summary.ts';

/** Everything about one merchant_reference of one transaction_type. */
export interface Payment extends PaymentSummary {
  /** Changes with everything that an operator decides on. Every act carries it. Opaque. */
  readonly revision: string;
  /** The evidence: one for each status of each transaction, the newest first. */
  readonly reports: readonly TransitionSummary[];
  /** What operators did, the oldest first, and to which report. */
  readonly actions: readonly (OperatorAction & { readonly report: string | undefined })[];
  /** What it means, what to do, and what may be read to the customer. */
  readonly advice: Advice;
  /** What a person can do now. */
  readonly acts: readonly Act[];
}

/** @param reference A merchant_reference, or the internal_reference of one of its transactions. */
export async function findPayment<Tx>(
  context: OperatorContext<Tx>,
  reference: string | Pick<SignedFields, 'internal_reference'>,
  type = 'COLLECTION',
  tx?: Tx,
): Promise<Payment | undefined> {
  checkArgument('payment()', 'type', type, STRING);
  if (typeof reference === 'string')
    return readPayment(context, { merchant_reference: reference, transaction_type: type }, tx);
  checkArgument('payment()', 'reference', reference, REFERENCE);
  const { internal_reference } = reference;
  const [found] = await findReports(context, { internal_reference, limit: 1 }, tx);
  return found && readPayment(context, found.summary.signed, tx);
}

/** Undefined if nothing is known about it. */
export async function readPayment<Tx>(
  context: OperatorContext<Tx>,
  { merchant_reference, transaction_type }: PaymentKey,
  tx?: Tx,
): Promise<Payment | undefined> {
  const { statements, settings } = context;
  const { account } = settings;
  const key = { merchant_reference, transaction_type };
  const [row] = await statements.run('read_payment', [...keysOf(key, account), account], tx);
  const all = await findReports(context, { merchant_reference, limit: 1000 }, tx);
  const found = all.filter(({ summary }) => summary.signed.transaction_type === transaction_type);
  const reports = found.map(({ summary }) => summary);
  const summary = row ? await readSummary(context, row, tx) : await archivedPayment(context, key, tx);
  if (summary === undefined && reports.length === 0) return undefined;
  const known = summary ?? { ...key, ...NOTHING_KNOWN, changedAt: reports[0]?.changedAt ?? new Date(0) };
  const seen = reports.map((report) => [report.transitionId, report.revision, report.wasApplied]);
  const { state, needs, expected, settled, replaced } = known;
  // Without the time of the row, which is added for an act on what no worker has looked at.
  const revision = hash('sha256', JSON.stringify([state, needs, expected, settled, replaced, seen])).slice(
    0,
    16,
  );
  const rows = await statements.run('show_payment_actions', keysOf(key, account), tx);
  const actions = rows.map((each) => ({ ...actionIn(each), report: optionalText(each, 'transition_id') }));
  const acted: ActedOn['reports'][number][] = [];
  for (const { summary: report, row: read } of found) {
    const isHeld = read !== undefined && isOpen(report);
    acted.push(isHeld ? { ...report, bodies: await readBodies(context, read, tx) } : report);
  }
  const isCanceled = row !== undefined && row['canceled_at'] !== null;
  const acts = actsOf({ ...known, isCanceled, revision, reports: acted });
  return { ...known, revision, reports, actions, advice: adviceOf({ ...known, isCanceled }, reports), acts };
}

/** A payment without a row: `prune()` has moved it, and nothing was decided about it since. */
export async function archivedPayment<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  key: PaymentKey,
  tx?: Tx,
): Promise<PaymentSummary | undefined> {
  const archived = await findArchivedReports(statements, { ...key, account }, tx);
  if (archived.every(({ expectation }) => expectation === undefined)) return undefined;
  const verdict = paymentState(await readFacts(statements, { ...key, account }, undefined, tx));
  return archivedSummary(archived, verdict);
}

const REFERENCE: OptionRule = [
  (reference) => typeof Object(reference).internal_reference === 'string',
  'a merchant_reference, or an object with an internal_reference',
];

/** Of a report that no worker has looked at yet. */
const NOTHING_KNOWN = {
  state: 'unexpected',
  needs: undefined,
  expected: undefined,
  settled: undefined,
  order: undefined,
  replaced: [],
  isArchived: false,
} as const;
