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

/** The state of a transition; the table in the README says what each state waits for. */
export type TransitionState = (typeof TRANSITION_STATES)[number];

/** Nothing more happens to them unless an operator applies one after all. */
export const CLOSED_STATES: readonly TransitionState[] = ['settled', 'superseded', 'resolved'];

/** The maximum that is counted of each state: a backlog may have any length. */
export const MAX_COUNTED = 10_000;

/**
 * The verdicts on money. Each may change with another body and with what is expected, so it is looked at again, and checked when
 * one of the two arrives (decision D77).
 */
export const MONEY_REASONS = [
  'no_expectation',
  'amount_mismatch',
  'amount_text',
  'amount_missing',
  'amount_inexact',
  'currency_mismatch',
  'currency_case',
  'different_bodies',
  'contradicting_bodies',
  'already_settled',
] as const;
export type MoneyReason = (typeof MONEY_REASONS)[number];

/** Why a transition is in its state; a refusal code for evidence. */
export type TransitionReason =
  | MoneyReason
  | 'no_handler'
  | 'empty_reference'
  | 'completed_in_part'
  | 'unnamed_after_paid'
  | 'canceled'
  | 'order_paid'
  | 'transition_not_allowed'
  | 'late_status'
  | 'archived'
  | 'crash_loop'
  | 'paid_by_another'
  | 'attempts_used_up'
  | 'transaction_ended'
  | 'closed_by_operator'
  | RefusalCode;

export const STATUS_MEANINGS = ['failed', 'reversed', 'interim'] as const;

/** What a status that was applied means for its payment; `COMPLETED` pays it. */
export type StatusMeaning = (typeof STATUS_MEANINGS)[number];

/** What became of a line of a statement; the list is closed. */
export type StatementVerdict =
  | ('settled' | 'not_paid' | 'paid_without_callback' | 'waiting_here' | 'absent_from_statement')
  | ('other_amount' | 'other_currency' | 'other_status' | 'other_account')
  | ('paid_by_another' | 'not_expected' | 'duplicate' | 'contradicted' | 'damaged_id' | 'unclear')
  | ('money_out' | 'heading' | 'blank' | 'total' | 'charge' | 'text')
  | ('no_reference' | 'unknown_status' | 'unknown_direction')
  | ('ambiguous_amount' | 'wrong_length' | 'malformed');
