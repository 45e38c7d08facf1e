import { groupedDigits } from '@payment-service/pages/text';
import type { Settled } from '../../verdict/evaluate.ts';
import type { PaymentSummary } from '../payments/payment-summary.ts';
import { ACT_NAMES, type ActName } from './action-log.ts';
import { accept, admit, cancel, type Effect, expect } from './effects.ts';
import {
  type Act,
  type ActedOn,
  acceptable,
  creditByRules,
  creditOf,
  isOpen,
  isSame,
  mayApply,
  mayApplyAgain,
  type Offer,
  ofReports,
  settledBy,
} from './offers.ts';

/** Everything about one act. Every interface is built from it: the API's check, the verb, the form and the documents. */
export interface Operation {
  readonly label: string;
  /** The verb of the command. */
  readonly verb: string;
  readonly about: string;
  /** It can lead to a credit that the rules alone would not make. */
  readonly canCredit: boolean;
  readonly offered: (payment: ActedOn) => readonly Offer[];
  /**
   * The state to which it moves its report; `admitted` is `pending`, despite the order of statuses or a body with a replaced
   * amount. Without it, the act is about the payment alone.
   */
  readonly moves?: 'pending' | 'admitted' | 'resolved';
  readonly perform?: Effect;
  /** What it will do to this payment. */
  readonly effect: (act: Pick<Act, 'money' | 'report'>, payment: ActedOn) => string;
  /** What is said after it. */
  readonly done: (act: Pick<Act, 'money'>) => string;
}

export const OPERATIONS: Readonly<Record<ActName, Operation>> = {
  accept: {
    label: 'Accept an amount',
    verb: 'accept',
    about: 'makes the amount of a report the expected one and credits it',
    canCredit: true,
    offered: acceptable,
    moves: 'pending',
    perform: accept,
    effect: ({ money }, { expected }) =>
      `Credits ${textOf(money)}${expected === undefined || isSame(expected, money) ? '' : ` in place of ${textOf(expected)}`}. Do this only if you know that it was paid, for example from the service.`,
    done: ({ money }) => `Accepted: ${textOf(money)}.`,
  },
  apply: {
    label: 'Apply it after all',
    verb: 'apply',
    about: 'applies a report that was closed or that a rule holds back; never one that was applied',
    canCredit: true,
    offered: ofReports(mayApply, creditOf),
    moves: 'admitted',
    perform: admit,
    effect: ({ money, report }, payment) =>
      money === undefined
        ? `Runs your handler for ${statusOf(payment, report)}, despite the rule. Do this only if you know that the status is right.`
        : `Credits ${textOf(money)} despite the rule, if a body equals it. Do this only if you know that it was paid.`,
    done: () => 'It will be applied despite the rule.',
  },
  applyAgain: {
    label: 'Apply again',
    verb: 'apply-again',
    about: 'applies a report a second time: the handler credits it again',
    canCredit: true,
    offered: ofReports(mayApplyAgain, settledBy),
    moves: 'admitted',
    perform: admit,
    effect: ({ money, report }, payment) =>
      `It was applied. This ${money ? `credits ${textOf(money)}` : `runs your handler for ${statusOf(payment, report)}`} a second time. Do this only if the service confirms that it happened again, or if you have undone its effect.`,
    done: () => 'It will be applied again.',
  },
  retry: {
    label: 'Retry',
    verb: 'retry',
    about: 'checks a report again now, under the same rules and with all attempts',
    canCredit: false,
    offered: ofReports((report) => isOpen(report) && report.state !== 'pending', creditByRules),
    moves: 'pending',
    effect: ({ money }) =>
      `Checks it again now, under the same rules${money ? `: credits ${textOf(money)} if that is what was paid` : ''}.`,
    done: () => 'Retried.',
  },
  close: {
    label: 'Close',
    verb: 'close',
    about: 'closes a report: nothing is credited from it',
    canCredit: false,
    offered: ofReports(isOpen),
    moves: 'resolved',
    effect: () => 'Credits nothing, and closes this report.',
    done: () => 'Closed: nothing is credited from this report.',
  },
  expect: {
    label: 'Expect another amount',
    verb: 'expect',
    about: 'states what a payment must be and rechecks the reports that wait for it',
    canCredit: true,
    offered: ({ settled, isArchived, isCanceled, merchant_reference }) =>
      settled !== undefined || isArchived || isCanceled || merchant_reference === '' ? [] : [{}],
    perform: expect,
    effect: (_act, { expected }) =>
      `The amount that you state becomes what is expected${expected === undefined ? '' : ` in place of ${textOf(expected)}`}, and is credited when a report equals it.`,
    done: ({ money }) => `${textOf(money)} is expected now, and reports that wait for it are checked again.`,
  },
  cancel: {
    label: 'Cancel',
    verb: 'cancel',
    about: 'stops expecting a payment, such as one that the service refused to start',
    canCredit: false,
    offered: ({ state }) => (['open', 'overdue', 'failed'].includes(state) ? [{}] : []),
    perform: cancel,
    effect: (_act, { expected }) =>
      `${textOf(expected)} is no longer expected. If it is paid after all, that waits for a person.`,
    done: () => 'Canceled: if it is paid after all, that waits for a person.',
  },
  forget: {
    label: 'Remove personal data',
    verb: 'forget',
    about: 'removes the personal data of a payment, and keeps what prevents a second one',
    canCredit: false,
    offered: ({ merchant_reference }) => (merchant_reference === '' ? [] : [{}]),
    effect: () =>
      'For a request for erasure: removes the content of bodies, the errors and the notes of everything under this reference. What prevents a second payment stays. It cannot be undone, so do not write a name into the note.',
    done: () => 'The personal data of this payment was removed.',
  },
};

/** The acts that can be done to all payments that one reason holds, at most `MAX_ACTED` together. */
export const BULK_ACTS = ['retry', 'close'] as const;
export type BulkAct = (typeof BULK_ACTS)[number];
export const MAX_ACTED = 1000;

type Needs = NonNullable<PaymentSummary['needs']>;
/** What is usually done about a reason, where it is not the first act that is offered: none of these credits. */
const USUAL: Readonly<Partial<Record<Needs, ActName>>> = {
  ...{ no_expectation: 'expect', amount_missing: 'expect', currency_case: 'expect' },
  ...{ already_settled: 'close', paid_by_another: 'close', order_paid: 'close', canceled: 'close' },
  ...{ transition_not_allowed: 'close', empty_reference: 'close', transaction_ended: 'close' },
};

/** What is usually done with a payment; undefined if nothing has to be done. */
export function usualAct({
  state,
  needs,
  acts,
}: PaymentSummary & { readonly acts: readonly Act[] }): ActName | undefined {
  const names = acts.map(({ name }) => name);
  const usual =
    needs === undefined ? (state === 'overdue' ? 'cancel' : undefined) : (USUAL[needs] ?? names[0]);
  return names.find((name) => name === usual);
}

/** From this share of what is expected on, or its inverse, an amount is probably a slip or an attack. */
const FAR = 10;

/** Whether an amount must be confirmed: it is ten times what is expected, a tenth of it, or in another currency. */
export function isFar(money: Settled, expected: Settled | undefined): boolean {
  if (expected === undefined) return false;
  const share = Number(money.amount) / Number(expected.amount);
  return money.currency !== expected.currency || share >= FAR || share <= 1 / FAR;
}

/** What has happened to the money, after an act. */
export function moneyFact({
  settled,
  merchant_reference: reference,
  reports,
}: Pick<PaymentSummary, 'settled' | 'merchant_reference'> & Pick<ActedOn, 'reports'>): string {
  const isUnderWay = reports.some(({ state }) => state === 'pending' || state === 'retrying');
  const to = reference === '' ? '' : ` to ${reference}`;
  const credited = settled
    ? `${textOf(settled)} was credited${to}.`
    : `Nothing was credited${isUnderWay ? ' yet' : to}.`;
  return isUnderWay ? `${credited} The next free worker checks a report.` : credited;
}

/** Everything that can be done with this payment now. */
export function actsOf(payment: ActedOn): Act[] {
  const { merchant_reference, transaction_type, revision } = payment;
  return ACT_NAMES.flatMap((name) =>
    OPERATIONS[name]
      .offered(payment)
      .map((offer) => ({ name, merchant_reference, transaction_type, revision, ...offer })),
  );
}

/** 'UGX 5,000'. */
export const textOf = (money: Settled | undefined): string =>
  money === undefined ? 'the amount' : `${money.currency} ${groupedDigits(money.amount)}`;

const statusOf = ({ reports }: ActedOn, id: string | undefined): string =>
  reports.find(({ transitionId }) => transitionId === id)?.signed.transaction_status ?? 'its status';
