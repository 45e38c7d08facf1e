import { CLOSED_STATES } from '../../states.ts';
import {
  type Comparison,
  type ExpectedMoney,
  equalsExpectation,
  type Settled,
  withRoundedAccepted,
  withTextAccepted,
} from '../../verdict/evaluate.ts';
import type { PaymentKey } from '../../verdict/restate.ts';
import type { PaymentSummary } from '../payments/payment-summary.ts';
import type { KeptBody, TransitionSummary } from '../reports.ts';
import type { ActName } from './action-log.ts';

/**
 * One act on one payment as it was read. Plain JSON, so that a form, a queue or a terminal can carry it: `act()` refuses it if the
 * payment has changed since.
 */
export interface Act extends PaymentKey {
  readonly name: ActName;
  /** The revision of the payment as it was read. */
  readonly revision: string;
  /** The id of the report that it is about. */
  readonly report?: string;
  /** What it can credit. */
  readonly money?: Settled;
  /** The digest of the body whose amount is accepted. */
  readonly body?: string;
  /** Which of the body's two amounts. */
  readonly compare?: Comparison;
  /** Its amount was sent as text. */
  readonly isText?: true;
}

/** A payment with the bodies of its held reports. */
export interface ActedOn extends PaymentSummary {
  /** Its expectation was canceled, even if a report is held after that. */
  readonly isCanceled?: boolean;
  readonly revision: string;
  readonly reports: readonly (TransitionSummary & { readonly bodies?: readonly KeptBody[] })[];
}

type Reported = ActedOn['reports'][number];
/** What an act is about, besides its payment. */
export type Offer = Omit<Act, 'name' | 'revision' | keyof PaymentKey>;

/** One offer for each of these reports. */
export const ofReports =
  (
    isOffered: (report: Reported) => boolean,
    moneyOf: (report: Reported, payment: ActedOn) => Settled | undefined = () => undefined,
  ) =>
  (payment: ActedOn): Offer[] =>
    payment.reports.filter(isOffered).map((report) => {
      const money = moneyOf(report, payment);
      return { report: report.transitionId, ...(money && { money }) };
    });

/** The reasons despite which a held report may be applied. */
const HELD_BACK: ReadonlySet<string | undefined> = new Set([
  ...['transition_not_allowed', 'unnamed_after_paid', 'canceled', 'order_paid', 'contradicting_bodies'],
  ...['timestamp_out_of_tolerance', 'timestamp_unreadable'],
]);

export const isOpen = ({ state }: Reported): boolean => !CLOSED_STATES.includes(state);
export const mayApply = (report: Reported): boolean =>
  !report.isArchived &&
  report.reason !== 'archived' &&
  !report.wasApplied &&
  (!isOpen(report) || HELD_BACK.has(report.reason));
export const mayApplyAgain = ({ isArchived, wasApplied, state }: Reported): boolean =>
  !isArchived && wasApplied && state !== 'pending' && state !== 'retrying';

export const isSame = (one: Settled | undefined, other: Settled | undefined): boolean =>
  one?.currency === other?.currency && one?.amount === other?.amount;

const moneyIn = ({ currency, amount }: Settled): Settled => ({ currency, amount });

/** What is credited if the report equals the expectation. */
export const creditOf = ({ signed }: Reported, { expected, settled }: ActedOn): Settled | undefined =>
  signed.transaction_status === 'COMPLETED' && settled === undefined
    ? expected && moneyIn(expected)
    : undefined;

/** What the rules would credit: nothing for a canceled payment. */
export const creditByRules = (report: Reported, payment: ActedOn): Settled | undefined =>
  payment.isCanceled ? undefined : creditOf(report, payment);

/** What the report has settled. */
export const settledBy = ({ transitionId }: Reported, { settled }: ActedOn): Settled | undefined =>
  settled?.report === transitionId ? moneyIn(settled) : undefined;

/** The amounts of bodies that an operator may accept: each becomes the expectation. */
export function acceptable({ reports, expected, settled }: ActedOn): Offer[] {
  if (settled !== undefined) return [];
  return reports.flatMap((report): Offer[] => {
    const { transaction_status, merchant_reference, internal_reference } = report.signed;
    const isNamed = merchant_reference !== '' && internal_reference !== '';
    if (!isOpen(report) || transaction_status !== 'COMPLETED' || !isNamed) return [];
    const bodies = (report.bodies ?? []).filter(({ refusal }) => refusal === undefined);
    return bodies.flatMap((body) =>
      amountsOf(body, expected).map((offer) => ({
        report: report.transitionId,
        body: body.digest,
        ...offer,
      })),
    );
  });
}

/** What is expected, if the body says it in a form that is not credited automatically; and what else it says. */
function amountsOf(body: KeptBody, expected: ExpectedMoney | undefined): Offer[] {
  const { request, transaction } = body;
  if (expected !== undefined) {
    const own = { money: moneyIn(expected), compare: expected.compare };
    if (withRoundedAccepted(body, expected) !== undefined) return [own];
    const isText = request.text !== undefined || transaction.text !== undefined;
    if (isText && equalsExpectation(withTextAccepted(body), expected)) return [{ ...own, isText: true }];
  }
  const isOne = request.currency === transaction.currency && request.amount === transaction.amount;
  const ways: readonly Comparison[] = isOne ? ['both'] : ['transaction', 'request'];
  return ways.flatMap((compare) => {
    const { currency, amount } = compare === 'request' ? request : transaction;
    if (currency === null || amount === null) return [];
    const money = { currency, amount };
    return isSame(expected, money) ? [] : [{ money, compare }];
  });
}
