import { groupedDigits } from '@payment-service/pages/text';
import { CLOSED_STATES } from '../states.ts';
import {
  type Comparison,
  equalsExpectation,
  type Settled,
  type StoredClaim,
  withRoundedAccepted,
  withTextAccepted,
} from '../work/verdict/evaluate.ts';
import type { PaymentKey } from '../work/verdict/payment.ts';
import { ACT_NAMES, type ActName } from './action-log.ts';
import type { PaymentSummary } from './payment-summary.ts';
import type { KeptBody, TransitionSummary } from './views.ts';

/**
 * One act on one payment as it was read. Plain JSON, so that a form, a queue or a terminal can carry it: `act()` refuses it if the
 * payment has changed since.
 */
export interface Act extends PaymentKey {
  readonly name: ActName;
  /** Of the payment as it was read. */
  readonly revision: string;
  /** The id of the report that it is about. */
  readonly report?: string;
  /** What is credited then. */
  readonly money?: Settled;
  /** The digest of the body whose amount is accepted. */
  readonly body?: string;
  /** Which of its two amounts. */
  readonly compare?: Comparison;
  /** Its amount was sent as text. */
  readonly isText?: true;
}

/** A payment with the bodies of its held reports. */
export interface ActedOn extends PaymentSummary {
  /** Its expectation was canceled, also if a report is held after that. */
  readonly isCanceled?: boolean;
  readonly revision: string;
  readonly reports: readonly (TransitionSummary & { readonly bodies?: readonly KeptBody[] })[];
}

type Reported = ActedOn['reports'][number];
type Offer = Omit<Act, 'name' | 'revision' | keyof PaymentKey>;

/** Everything about one act. Every face is made of it: the API's check, the verb, the form and the documents. */
export interface Operation {
  readonly label: string;
  /** The verb of the command. */
  readonly verb: string;
  readonly about: string;
  /** It can lead to a credit that the rules alone would not make. */
  readonly canCredit: boolean;
  readonly offered: (payment: ActedOn) => readonly Offer[];
  /** What it will do to this payment. */
  readonly effect: (act: Pick<Act, 'money' | 'report'>, payment: ActedOn) => string;
  /** What is said after it. */
  readonly done: (act: Pick<Act, 'money'>) => string;
}

const WORKER = 'the next free worker';

export const OPERATIONS: Readonly<Record<ActName, Operation>> = {
  accept: {
    label: 'Accept an amount',
    verb: 'accept',
    about: 'makes the amount of a report what is expected, and credits it',
    canCredit: true,
    offered: acceptable,
    effect: ({ money }, { expected }) =>
      `Credits ${textOf(money)}${expected === undefined || isSame(expected, money) ? '' : ` in place of ${textOf(expected)}`}. Do this only if you know that it was paid, such as from the service.`,
    done: ({ money }) => `Accepted: ${WORKER} credits ${textOf(money)}.`,
  },
  apply: {
    label: 'Apply it after all',
    verb: 'apply',
    about: 'applies a report that was closed or that a rule holds back; never what was applied',
    canCredit: true,
    offered: ({ reports, ...payment }) =>
      reports
        .filter(mayApply)
        .map((report) => ({ report: report.transitionId, ...moneyOf(report, payment) })),
    effect: ({ money, report }, { reports }) =>
      money === undefined
        ? `Runs your handler of ${statusOf(reports, report)}, despite the rule. Do this only if you know that the status is right.`
        : `Credits ${textOf(money)} despite the rule, if a body equals it. Do this only if you know that it was paid.`,
    done: ({ money }) =>
      `It will be applied: ${WORKER} ${money ? `credits ${textOf(money)}` : 'runs its handler'}.`,
  },
  applyAgain: {
    label: 'Apply again',
    verb: 'apply-again',
    about: 'applies a second time what was applied: the handler credits it once more',
    canCredit: true,
    offered: ({ reports, settled }) =>
      reports.filter(mayApplyAgain).map(({ transitionId: report }) => ({
        report,
        ...(settled?.report === report && { money: { currency: settled.currency, amount: settled.amount } }),
      })),
    effect: ({ money, report }, { reports }) =>
      `It was applied. This ${money ? `credits ${textOf(money)}` : `runs your handler of ${statusOf(reports, report)}`} a second time. Do this only if the service confirms that it happened again, or if you have undone its effect.`,
    done: ({ money }) =>
      `It will be applied again: ${WORKER} ${money ? `credits ${textOf(money)} once more` : 'runs its handler once more'}.`,
  },
  retry: {
    label: 'Retry',
    verb: 'retry',
    about: 'checks a report again now, under the same rules and with all attempts',
    canCredit: false,
    offered: ({ reports, isCanceled, ...payment }) =>
      reports
        .filter((report) => isOpen(report) && report.state !== 'pending')
        // The rules credit nothing of what is canceled.
        .map((report) => ({ report: report.transitionId, ...(!isCanceled && moneyOf(report, payment)) })),
    effect: ({ money }) =>
      `Checks it again now, under the same rules${money ? `: credits ${textOf(money)} if that is what was paid` : ''}.`,
    done: () => `Retried: ${WORKER} checks it again.`,
  },
  close: {
    label: 'Close',
    verb: 'close',
    about: 'closes a report: nothing is credited from it',
    canCredit: false,
    offered: ({ reports }) => reports.filter(isOpen).map(({ transitionId: report }) => ({ report })),
    effect: () => 'Credits nothing, and closes this report.',
    done: () => 'Closed: nothing is credited from this report.',
  },
  expect: {
    label: 'Expect another amount',
    verb: 'expect',
    about: 'states what a payment must be, and checks again what waits for that',
    canCredit: true,
    offered: ({ settled, isArchived, isCanceled, merchant_reference }) =>
      settled !== undefined || isArchived || isCanceled || merchant_reference === '' ? [] : [{}],
    effect: (_act, { expected }) =>
      `The amount that you state becomes what is expected${expected === undefined ? '' : ` in place of ${textOf(expected)}`}, and is credited when a report equals it.`,
    done: ({ money }) => `${textOf(money)} is expected now, and reports that wait for it are checked again.`,
  },
  cancel: {
    label: 'Cancel',
    verb: 'cancel',
    about: 'expects a payment no longer, such as one that the service has refused to start',
    canCredit: false,
    offered: ({ state }) => (['open', 'overdue', 'failed'].includes(state) ? [{}] : []),
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

/** The acts that can be done to all payments that one cause holds, at most so many together. */
export const BULK_ACTS = ['retry', 'close'] as const;
export type BulkAct = (typeof BULK_ACTS)[number];
export const MAX_ACTED = 1000;

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

/** Held by one of these, a report may be applied despite it. */
const HELD_BACK: ReadonlySet<string | undefined> = new Set([
  ...['transition_not_allowed', 'unnamed_after_paid', 'canceled', 'contradicting_bodies'],
  ...['timestamp_out_of_tolerance', 'timestamp_unreadable'],
]);

const isOpen = ({ state }: Reported): boolean => !CLOSED_STATES.includes(state);
const mayApply = (report: Reported): boolean =>
  !report.isArchived &&
  report.reason !== 'archived' &&
  !report.wasApplied &&
  (!isOpen(report) || HELD_BACK.has(report.reason));
const mayApplyAgain = ({ isArchived, wasApplied, state }: Reported): boolean =>
  !isArchived && wasApplied && state !== 'pending' && state !== 'retrying';

const statusOf = (reports: readonly Reported[], id: string | undefined): string =>
  reports.find(({ transitionId }) => transitionId === id)?.signed.transaction_status ?? 'its status';

const isSame = (one: Settled, other: Settled | undefined): boolean =>
  one.currency === other?.currency && one.amount === other.amount;

/** What is credited if the report equals the expectation. */
function moneyOf(
  { signed }: Reported,
  { expected, settled }: Pick<PaymentSummary, 'expected' | 'settled'>,
): Pick<Offer, 'money'> {
  if (signed.transaction_status !== 'COMPLETED' || expected === undefined || settled !== undefined) return {};
  return { money: { currency: expected.currency, amount: expected.amount } };
}

/** The amounts of bodies that an operator may accept: each becomes the expectation. */
function acceptable({ reports, expected, settled }: ActedOn): Offer[] {
  if (settled !== undefined) return [];
  return reports.flatMap((report): Offer[] => {
    const { transaction_status, merchant_reference, internal_reference } = report.signed;
    const isNamed = merchant_reference !== '' && internal_reference !== '';
    const isPayment = transaction_status === 'COMPLETED' && isNamed;
    if (!isOpen(report) || !isPayment) return [];
    return (report.bodies ?? []).flatMap((body) =>
      body.refusal === undefined
        ? amountsOf(body, expected).map((offer) => ({ report: report.transitionId, ...offer }))
        : [],
    );
  });
}

function amountsOf(body: KeptBody, expected: PaymentSummary['expected']): Offer[] {
  const { digest, request, transaction } = body;
  if (expected !== undefined) {
    const { currency, amount, compare } = expected;
    const own = { body: digest, money: { currency, amount }, compare };
    if (withRoundedAccepted({ request, transaction }, expected) !== undefined) return [own];
    const isText = request.text !== undefined || transaction.text !== undefined;
    if (isText && equalsExpectation(withTextAccepted(body), expected)) return [{ ...own, isText: true }];
  }
  const isOne = request.currency === transaction.currency && request.amount === transaction.amount;
  const ways: readonly (readonly [Comparison, StoredClaim])[] = isOne
    ? [['both', transaction]]
    : [
        ['transaction', transaction],
        ['request', request],
      ];
  return ways.flatMap(([compare, { currency, amount }]) => {
    if (currency === null || amount === null) return [];
    const money = { currency, amount };
    return expected !== undefined && isSame(expected, money) ? [] : [{ body: digest, money, compare }];
  });
}
