import { amountMismatches, type Claim } from '@payment-service/core';
import type { StoredClaim } from './intake-record.ts';
import type { TransitionReason, TransitionState } from './transition-state.ts';

/** Which of a body's two amounts must equal the expectation. */
export type Comparison = 'both' | 'request' | 'transaction';

/** Money as the merchant itself knows it: its own expectation, which a body has confirmed. */
export interface Settled {
  readonly currency: string;
  /** Canonical decimal text: `1999.9` for an expected `'1999.90'`. */
  readonly amount: string;
}

export interface EvaluatedBody {
  readonly digest: string;
  readonly request: StoredClaim;
  readonly transaction: StoredClaim;
}

export interface EvaluatedExpectation extends Settled {
  readonly compare: Comparison;
  /** The transition that settled it. */
  readonly settledBy: string | undefined;
}

/** All that decides what becomes of a transition. */
export interface TransitionCase {
  readonly transitionId: string;
  readonly merchantReference: string;
  readonly internalReference: string;
  readonly status: string;
  /** Whether the signed fields say that the transaction completed. */
  readonly isCompleted: boolean;
  /** The rule that refused it, where nothing but evidence came. */
  readonly refusal: TransitionReason | undefined;
  /** Distinct bodies that verified, in any order. */
  readonly bodies: readonly EvaluatedBody[];
  readonly expectation: EvaluatedExpectation | undefined;
  /** The status last applied for this internal_reference. */
  readonly appliedStatus: string | undefined;
  /** Starts of the handler that no outcome followed. */
  readonly unfinishedStarts: number;
  /** A person lets it through in spite of the order of statuses. */
  readonly isWaived: boolean;
}

/** Next statuses that are allowed after an applied one; a status that is not named allows every next one. */
export type AllowedTransitions = Readonly<Record<string, readonly string[]>>;

export interface EvaluationRules {
  /** Statuses that the handler takes beside completed transactions; undefined for those alone. */
  readonly statuses: readonly string[] | undefined;
  readonly allowTransitions: AllowedTransitions;
}

export type Verdict =
  | {
      readonly kind: 'apply';
      readonly settled: Settled | undefined;
      /** How the body of this digest equals the expectation; both undefined without `settled`. */
      readonly compare: Comparison | undefined;
      readonly digest: string | undefined;
    }
  | { readonly kind: 'park'; readonly state: TransitionState; readonly reason: TransitionReason };

/** A handler that ends its process this often is stopped. */
const MOST_UNFINISHED_STARTS = 3;

/**
 * Decides what becomes of a transition. Pure: the same case gives the same verdict on every engine, in whatever order
 * its bodies came (threat A5). Money is applied only as the merchant's own expectation, when a body equals it.
 */
export function evaluate(transition: TransitionCase, rules: EvaluationRules): Verdict {
  const { bodies, refusal, status, isCompleted, appliedStatus } = transition;
  if (bodies.length === 0) return park('quarantined', refusal ?? 'signed_field_malformed');
  if (transition.merchantReference === '' || transition.internalReference === '')
    return park('quarantined', 'empty_reference');
  if (!isHandled(transition, rules.statuses)) return park('unhandled', 'no_handler');
  if (transition.unfinishedStarts >= MOST_UNFINISHED_STARTS) return park('quarantined', 'crash_loop');
  if (appliedStatus !== undefined && !transition.isWaived && !isAllowed(rules, appliedStatus, status))
    return park('quarantined', 'transition_not_allowed');
  return isCompleted
    ? evaluateMoney(transition)
    : { kind: 'apply', settled: undefined, compare: undefined, digest: undefined };
}

function evaluateMoney({ bodies, expectation, transitionId }: TransitionCase): Verdict {
  if (expectation === undefined) {
    return bodies.length > 1 ? park('conflict', 'different_bodies') : park('unhandled', 'no_expectation');
  }
  const { currency, amount, compare, settledBy } = expectation;
  if (settledBy !== undefined && settledBy !== transitionId) return park('conflict', 'already_settled');
  const equal = bodies.find((body) => equalsExpectation(body, expectation));
  if (equal === undefined) return park('quarantined', 'amount_mismatch');
  return { kind: 'apply', settled: Object.freeze({ currency, amount }), compare, digest: equal.digest };
}

/** Whether a body claims what the merchant expects, by the comparison that `confirmAmount()` uses. */
export function equalsExpectation(
  { request, transaction }: Pick<EvaluatedBody, 'request' | 'transaction'>,
  expectation: Pick<EvaluatedExpectation, 'currency' | 'amount' | 'compare'>,
): boolean {
  const claims = { request: claimIn(request), transaction: claimIn(transaction) };
  return amountMismatches(claims, expectation).length === 0;
}

function claimIn({ currency, amount }: StoredClaim): Claim {
  return { currency: currency ?? undefined, amount: amount ?? undefined, isInexact: false };
}

/** COMPLETED under another event than transaction.completed is no payment, and no handler is asked to tell them apart. */
function isHandled(
  { status, isCompleted }: TransitionCase,
  statuses: readonly string[] | undefined,
): boolean {
  if (statuses === undefined) return isCompleted;
  return statuses.includes(status) && (isCompleted || status !== 'COMPLETED');
}

function isAllowed({ allowTransitions }: EvaluationRules, applied: string, next: string): boolean {
  return !Object.hasOwn(allowTransitions, applied) || (allowTransitions[applied]?.includes(next) ?? false);
}

function park(state: TransitionState, reason: TransitionReason): Verdict {
  return { kind: 'park', state, reason };
}
