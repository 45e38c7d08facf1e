import { hash } from 'node:crypto';
import type { SignedFields } from '@payment-service/core';
import { checkArgument } from '@payment-service/core/internal';
import { NAME, STRING } from '../option-rules.ts';
import { CLOSED_STATES, type TransitionReason } from '../states.ts';
import { dateOf, numberOf, optionalText, type Row } from '../store/store.ts';
import { type Archived, findArchived } from '../work/verdict/archived.ts';
import type { ExpectedMoney, Settled } from '../work/verdict/evaluate.ts';
import { keysOf, type PaymentKey, storedStateIn } from '../work/verdict/payment.ts';
import type { PaymentState } from '../work/verdict/payment-state.ts';
import { expectationIn, jsonIn, jsonTextOf, membersOf, reasonIn } from '../work/verdict/stored.ts';
import { type ActionNote, actionIn, type OperatorAction } from './action-log.ts';
import { type Advice, adviceOf } from './advice.ts';
import { type Act, type ActedOn, actsOf } from './operations.ts';
import {
  listTransitions,
  type OperatorContext,
  readBodies,
  readTransitions,
  type TransitionSummary,
} from './views.ts';

/** What is expected of a payment. */
export interface ExpectedPayment extends ExpectedMoney {
  /** From then on an open payment is `overdue`. */
  readonly deadline: Date | undefined;
}

/** What was expected before, and who replaced it. */
export interface ReplacedMoney extends Settled, ActionNote {
  readonly at: Date;
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
  checkArgument('payment()', 'type', type, NAME);
  if (typeof reference === 'string')
    return readPayment(context, { merchant_reference: reference, transaction_type: type }, tx);
  const { internal_reference } = reference;
  checkArgument('payment()', 'internal_reference', internal_reference, STRING);
  const [report] = await listTransitions(context, { internal_reference, limit: 1 }, tx);
  return report && readPayment(context, report.signed, tx);
}

/** Undefined if nothing is known of it. */
export async function readPayment<Tx>(
  context: OperatorContext<Tx>,
  { merchant_reference, transaction_type }: PaymentKey,
  tx?: Tx,
): Promise<Payment | undefined> {
  const { statements, settings } = context;
  const { account } = settings;
  const key = { merchant_reference, transaction_type };
  const [row] = await statements.run('read_payment', [...keysOf(key, account), account], tx);
  const all = await listTransitions(context, { merchant_reference, limit: 1000 }, tx);
  const reports = all.filter(({ signed }) => signed.transaction_type === transaction_type);
  const old = (await findArchived(statements, { keys: { merchant_reference }, account }, tx)).find(
    ({ expectation, signed }) => expectation !== undefined && signed.transaction_type === transaction_type,
  );
  const summary = old === undefined ? row && summaryIn(row) : archivedSummary(old);
  if (summary === undefined && reports.length === 0) return undefined;
  const known = summary ?? { ...key, ...NOTHING_KNOWN, changedAt: reports[0]?.changedAt ?? new Date(0) };
  const seen = reports.map((report) => [report.transitionId, report.revision, report.wasApplied]);
  const revision = hash('sha256', JSON.stringify([known, seen])).slice(0, 16);
  const rows = await statements.run('show_payment_actions', keysOf(key, account), tx);
  const actions = rows.map((each) => ({ ...actionIn(each), report: optionalText(each, 'transition_id') }));
  const acts = actsOf({ ...known, revision, reports: await withBodies(context, reports, tx) });
  return { ...known, revision, reports, actions, advice: adviceOf(known), acts };
}

/** Those that wait for a person, with their bodies, whose amounts can be accepted. */
async function withBodies<Tx>(
  context: OperatorContext<Tx>,
  reports: readonly TransitionSummary[],
  tx: Tx | undefined,
): Promise<ActedOn['reports']> {
  const all: ActedOn['reports'][number][] = [];
  for (const report of reports) {
    const [row] = CLOSED_STATES.includes(report.state)
      ? []
      : await readTransitions(context, { transitionId: report.transitionId }, undefined, tx);
    all.push(row === undefined ? report : { ...report, bodies: await readBodies(context, row, tx) });
  }
  return all;
}

/** Of a report that no worker has looked at yet. */
const NOTHING_KNOWN = {
  state: 'unexpected',
  needs: undefined,
  expected: undefined,
  settled: undefined,
  replaced: [],
  isArchived: false,
} as const;

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
    replaced: replacedIn(row),
    changedAt: dateOf(row, 'changed_at'),
    isArchived: false,
  };
}

function replacedIn(row: Row): ReplacedMoney[] {
  const replaced = jsonIn(row, 'replaced');
  return (Array.isArray(replaced) ? replaced : []).map((each) => {
    const { currency, amount, by, note, at } = membersOf(each);
    return {
      currency: String(currency),
      amount: String(amount),
      by: String(by),
      note: String(note),
      at: new Date(Number(at)),
    };
  });
}

function archivedSummary({ signed, expectation, changedAt, transitionId }: Archived): PaymentSummary {
  const { merchant_reference, transaction_type } = signed;
  const money = { currency: expectation?.currency ?? '', amount: expectation?.amount ?? '' };
  return {
    ...{ merchant_reference, transaction_type, changedAt },
    ...{ state: 'paid', needs: undefined, replaced: [], isArchived: true },
    expected: { ...money, compare: expectation?.compare ?? 'both', deadline: undefined },
    settled: { ...money, at: changedAt, report: transitionId },
  };
}
