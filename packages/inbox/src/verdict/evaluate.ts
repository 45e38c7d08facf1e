import type { AmountMismatch, SignedFields } from '@payment-service/core';
import { amountMismatches, type Claim } from '@payment-service/core/internal';
import { sumOfProducts } from '@payment-service/core/reconcile';
import type { Settings } from '../options.ts';
import { MONEY_REASONS, type MoneyReason, type TransitionReason, type TransitionState } from '../states.ts';
import { stateOf } from '../words.ts';

/** Which of a body's two amounts must equal the expectation. */
export type Comparison = 'both' | 'request' | 'transaction';

/** The merchant's own expectation, which a body has confirmed. */
export interface Settled {
  readonly currency: string;
  /** Canonical decimal string: `1999.9` for an expected `'1999.90'`. */
  readonly amount: string;
}

/** An amount that is or was expected for a reference. */
export interface ExpectedMoney extends Settled {
  readonly compare: Comparison;
}

/** What was expected before, and who replaced it. */
export interface ReplacedMoney extends ExpectedMoney {
  readonly by: string;
  readonly note: string;
  readonly at: Date;
}

/** An expectation with its history. */
export interface KnownExpectation extends ExpectedMoney {
  /** The id of the transition that settled it. */
  readonly settledBy: string | undefined;
  /** What was expected before, the oldest first. */
  readonly replaced: readonly ReplacedMoney[];
  /** It was withdrawn: what is paid after that waits for a person. */
  readonly isCanceled: boolean;
  /** The debt that it belongs to. */
  readonly order?: KnownOrder | undefined;
}

/** A debt, of which several payments may be attempts or instalments. */
export interface KnownOrder {
  readonly id: string;
  /** Canonical decimal string, in the currency of the payment. */
  readonly total: string;
}

/** What a body claims about money. */
export interface StoredClaim {
  readonly currency: string | null;
  readonly amount: string | null;
  /** The amount was sent as text, which is no amount: its canonical decimal, or empty for other text. */
  readonly text?: string | undefined;
  /** A body parser has rounded the amount. */
  readonly isInexact?: boolean | undefined;
}

/** The two amounts of a body. */
export interface Claims {
  readonly request: StoredClaim;
  readonly transaction: StoredClaim;
}

export interface EvaluatedBody extends Claims {
  readonly digest: string;
}

/** Everything that decides the outcome of a transition. */
export interface TransitionCase {
  readonly transitionId: string;
  readonly signed: SignedFields;
  /** Distinct verified bodies, in any order. */
  readonly bodies: readonly EvaluatedBody[];
  /** The rules that refused the evidence. Evidence decides nothing. */
  readonly refusals: readonly TransitionReason[];
  readonly expectation: KnownExpectation | undefined;
  /** The status that was last applied for this internal_reference. */
  readonly appliedStatus: string | undefined;
  /** It is already archived: the bodies here arrived later and claim something else. */
  readonly isArchived: boolean;
  /** A transition of another internal_reference has settled the expectation. */
  readonly isPaidByAnother: boolean;
  /** How much of its order other payments have settled, exact. */
  readonly orderPaid: string;
  /** Earlier starts of the handler without an outcome. */
  readonly unfinished: number;
  /** An operator admits it despite the order of statuses, or despite a body with a replaced amount. */
  readonly isWaived: boolean;
}

export type EvaluationRules = Pick<Settings, 'completedEvents' | 'statuses'>;

export type Verdict =
  | {
      readonly kind: 'apply';
      /** Undefined for every status except completed. */
      readonly settled: ExpectedMoney | undefined;
      /** The body that equals it; any body without `settled`. */
      readonly digest: string;
      /** A body claims another amount. */
      readonly isContradicted: boolean;
    }
  | {
      readonly kind: 'park';
      readonly state: TransitionState;
      readonly reason: TransitionReason;
      /** An expectation or another body may change the verdict, so it is rechecked. */
      readonly isWaiting: boolean;
    };

/** A transition whose handler has crashed its process this often is not run again. */
const MAX_UNFINISHED = 3;

/**
 * Decides the outcome of a transition. Pure: the same case has the same verdict on every store, in whatever order its bodies
 * arrived (threat A5). Only the merchant's own expectation is credited, and only if a body equals it.
 *
 * @param isHandled There is a handler for what its status means.
 */
export function evaluate(transition: TransitionCase, rules: EvaluationRules, isHandled: boolean): Verdict {
  const { bodies, refusals, signed, appliedStatus, expectation } = transition;
  const { transaction_status: status } = signed;
  const [first] = bodies;
  if (first === undefined) return park(refusals[0] ?? 'signed_field_malformed');
  // Before all other rules, so that neither an operator nor a rule can apply it again (threat A60).
  if (transition.isArchived) return park('archived');
  if (signed.merchant_reference === '' || signed.internal_reference === '') return park('empty_reference');
  const isCompletedEvent = rules.completedEvents.includes(signed.event);
  const isCompleted = status === 'COMPLETED' && isCompletedEvent;
  const meaning = rules.statuses[status];
  if (status === 'COMPLETED' && !isCompleted) return park('completed_in_part');
  // A handler of every other status records whatever it gets, and the record would end the question about money (threat A71).
  if (!isCompleted && meaning === undefined) {
    const isPaid = expectation?.settledBy !== undefined && !transition.isPaidByAnother;
    if (isPaid || appliedStatus === 'COMPLETED') return park('unnamed_after_paid');
    if (isCompletedEvent) return park('completed_in_part');
  }
  // What has failed or is not final needs no handler.
  if (!isHandled && (isCompleted || meaning === undefined)) return park('no_handler');
  if (transition.unfinished >= MAX_UNFINISHED) return park('crash_loop');
  if (appliedStatus !== undefined && !transition.isWaived && !isAllowed(rules, appliedStatus, status))
    return park(meaning === 'interim' ? 'late_status' : 'transition_not_allowed');
  if (isCompleted) return evaluateMoney(transition);
  // A handler that trusts the status would mark a paid order as unpaid (threat A53).
  if (transition.isPaidByAnother)
    return park(meaning === 'interim' || meaning === 'failed' ? 'late_status' : 'paid_by_another');
  if (meaning === 'reversed' && !isHandled) return park('unnamed_after_paid');
  return { kind: 'apply', settled: undefined, digest: first.digest, isContradicted: bodies.length > 1 };
}

function evaluateMoney(transition: TransitionCase): Verdict {
  const { bodies, expectation, transitionId, isWaived } = transition;
  const wait = (reason: MoneyReason): Verdict => park(reason);
  if (expectation === undefined) return wait(bodies.length > 1 ? 'different_bodies' : 'no_expectation');
  const { settledBy, replaced, isCanceled, order, ...settled } = expectation;
  if (settledBy !== undefined && settledBy !== transitionId) return wait('already_settled');
  const equal = bodies.find((body) => equalsExpectation(body, settled));
  const others = bodies.filter((body) => !equalsExpectation(body, settled));
  // The payer may have paid the earlier amount, and posted the later one with the genuine signature (threat A31).
  const isReplaced = replaced.some((earlier) => others.some((body) => equalsExpectation(body, earlier)));
  if (isReplaced && !isWaived) return wait('contradicting_bodies');
  if (equal === undefined) return wait(mismatchOf(bodies, settled));
  if (isCanceled && !isWaived) return park('canceled');
  if (order !== undefined && !isWaived && isMore([transition.orderPaid, settled.amount], order.total))
    return park('order_paid');
  return { kind: 'apply', settled, digest: equal.digest, isContradicted: others.length > 0 };
}

/** Whether the exact sum of the amounts is more than a total. */
export const isMore = (amounts: readonly string[], total: string): boolean =>
  /^[^-]*[1-9]/.test(sumOfProducts([...amounts.map((amount) => [amount, 1] as const), [total, -1]]));

/** Why no body equals the expectation: the reason that all of them share, or the one that warns of a forgery. */
function mismatchOf(bodies: readonly Claims[], expected: ExpectedMoney): MoneyReason {
  const [reason = 'amount_mismatch', ...others] = new Set(
    bodies.map((body) => reasonOf(mismatchesOf(body, expected))),
  );
  return others.length > 0 ? 'amount_mismatch' : reason;
}

/** The most serious difference gives the reason, so that text is the reason only where nothing else differs. */
function reasonOf(mismatches: readonly AmountMismatch[]): MoneyReason {
  const has = (what: RegExp): boolean =>
    mismatches.some(({ field, reason }) => what.test(`${field} ${reason}`));
  if (has(/amount different/)) return 'amount_mismatch';
  if (has(/currency different/)) return 'currency_mismatch';
  if (has(/missing/)) return 'amount_missing';
  if (has(/inexact/)) return 'amount_inexact';
  return has(/case/) ? 'currency_case' : 'amount_text';
}

/** Whether a body claims what the merchant expects, by the comparison that `confirmAmount()` uses. */
export const equalsExpectation = (body: Claims, expected: ExpectedMoney): boolean =>
  mismatchesOf(body, expected).length === 0;

export function mismatchesOf({ request, transaction }: Claims, expected: ExpectedMoney): AmountMismatch[] {
  return amountMismatches({ request: claimOf(request), transaction: claimOf(transaction) }, expected);
}

/** The same body as if its amounts had been sent as numbers: what an operator accepts. */
export function withTextAccepted({ request, transaction }: Claims): Claims {
  const accepted = ({ currency, amount, text }: StoredClaim): StoredClaim => ({
    currency,
    amount: amount ?? (text || null),
  });
  return { request: accepted(request), transaction: accepted(transaction) };
}

/**
 * The same body with the expected amount in place of numbers that a parser rounded, if nothing else differs from what is
 * expected: an operator accepts it if the service has confirmed that it was paid.
 */
export function withRoundedAccepted(body: Claims, expected: ExpectedMoney): Claims | undefined {
  const accepted = ({ isInexact, ...claim }: StoredClaim): StoredClaim =>
    isInexact ? { ...claim, amount: expected.amount } : claim;
  const stated = { request: accepted(body.request), transaction: accepted(body.transaction) };
  return equalsExpectation(stated, expected) && !equalsExpectation(body, expected) ? stated : undefined;
}

function claimOf({ currency, amount, text, isInexact = false }: StoredClaim): Claim {
  return { currency: currency ?? undefined, amount: amount ?? undefined, isInexact, text };
}

/** Only a reversal follows a payment, and nothing follows a reversal. */
function isAllowed({ statuses }: EvaluationRules, applied: string, next: string): boolean {
  return applied === 'COMPLETED' ? statuses[next] === 'reversed' : statuses[applied] !== 'reversed';
}

function park(reason: TransitionReason): Verdict {
  const isWaiting = MONEY_REASONS.some((each) => each === reason);
  return { kind: 'park', state: stateOf(reason), reason, isWaiting };
}
