import type { RefusalCode } from '@payment-service/core';

export const TRANSITION_STATES = [
  'pending',
  'retrying',
  'settled',
  'superseded',
  'unhandled',
  'quarantined',
  'conflict',
  'dead',
  'resolved',
] as const;

/**
 * Where a transition stands. `settled` is applied, exactly once; `pending` and `retrying` will be worked on; `superseded` and
 * `resolved` are closed; the others wait for something: see the table in the README.
 */
export type TransitionState = (typeof TRANSITION_STATES)[number];

/** Why a transition is in its state; a refusal code for evidence. */
export type TransitionReason =
  | 'no_handler'
  | 'no_expectation'
  | 'empty_reference'
  | 'amount_mismatch'
  | 'transition_not_allowed'
  | 'late_status'
  | 'crash_loop'
  | 'different_bodies'
  | 'contradicting_bodies'
  | 'already_settled'
  | 'attempts_used_up'
  | 'transaction_ended'
  | 'closed_by_person'
  | RefusalCode;
