import type { RefusalCode, SignedFields } from '@payment-service/core';
import { checkArgument, type OptionRule } from '@payment-service/core/internal';
import { capital } from '@payment-service/pages/text';
import { MAX_COUNTED, MONEY_REASONS, type TransitionReason, type TransitionState } from './states.ts';

/** What a state or a reason means, for an operator. */
export interface Words {
  readonly heading: string;
  readonly meaning: string;
  readonly todo: string;
}

/** In the order that an operator needs: the states that wait for one are first. */
export const STATE_WORDS: Readonly<Record<TransitionState, Words>> = {
  quarantined: {
    heading: 'Kept as evidence',
    meaning: 'Not credited: a rule holds it back.',
    todo: 'Ask the service what was paid, then accept the amount or close it.',
  },
  conflict: {
    heading: 'Needs a decision',
    meaning: 'Nothing was applied.',
    todo: 'Ask the service what happened, then decide.',
  },
  dead: {
    heading: 'All attempts failed',
    meaning: 'It is not retried automatically.',
    todo: 'Fix what its last error names, then retry it.',
  },
  unhandled: {
    heading: 'Kept, not applied',
    meaning: 'Nothing was applied.',
    todo: 'Check it if you did not expect it.',
  },
  retrying: {
    heading: 'Applying it failed',
    meaning: 'Nothing was written, and it is retried automatically.',
    todo: 'Nothing, unless you need to fix its last error.',
  },
  pending: {
    heading: 'About to be applied',
    meaning: 'The next free worker applies it.',
    todo: 'Nothing: it is applied automatically.',
  },
  settled: { heading: 'Applied', meaning: 'It was applied.', todo: 'Nothing: your program has it.' },
  superseded: {
    heading: 'Out of date',
    meaning: 'A later status was applied before it arrived.',
    todo: 'Nothing: it changes no money.',
  },
  resolved: { heading: 'Closed', meaning: 'An operator closed it.', todo: 'Nothing: it was decided.' },
};

/** All states, in that order. */
export const SHOWN_STATES = Object.keys(STATE_WORDS) as readonly TransitionState[];

/** The states that only an operator ends. */
export const WAITS_FOR_PERSON: readonly TransitionState[] = ['quarantined', 'conflict', 'dead'];

type OwnReason = Exclude<TransitionReason, RefusalCode>;

export const REASON_WORDS: Readonly<Record<OwnReason, Words & { readonly state: TransitionState }>> = {
  late_status: {
    state: 'superseded',
    ...STATE_WORDS.superseded,
    meaning:
      'It arrived after the payment: an earlier status, or the failure of another transaction of the reference.',
  },
  archived: {
    state: 'superseded',
    ...STATE_WORDS.superseded,
    meaning: 'Another body of an archived transition. Nothing is applied from it.',
  },
  no_expectation: {
    state: 'unhandled',
    heading: 'Nothing is expected under this reference',
    meaning: 'The signature is valid, but no expectation has this reference.',
    todo: 'If the payment is yours, state what you expect: it is then checked again.',
  },
  no_handler: {
    state: 'unhandled',
    heading: 'No handler for this status',
    meaning: 'The signature is valid, but no handler accepts this type and status.',
    todo: 'Nothing if the status does not matter to you. Otherwise add a handler, then retry it.',
  },
  amount_mismatch: {
    state: 'quarantined',
    heading: 'Suspicious: the amount differs',
    meaning:
      'No callback claims the expected amount. Either the customer paid another amount, your expectation is wrong, or someone changed the callback.',
    todo: 'Ask the service what was paid. It is checked again when a genuine body arrives, or when you accept another amount.',
  },
  amount_text: {
    state: 'quarantined',
    heading: 'The amount was sent as text',
    meaning:
      'The contract requires a number, and a body has text, such as "500". Text is not credited automatically.',
    todo: 'If it is a decimal and as expected, accept the text. Otherwise ask the service what was paid.',
  },
  amount_missing: {
    state: 'quarantined',
    heading: 'The amount or the currency is missing',
    meaning: 'No body has both amounts and currencies.',
    todo: 'Ask the service what was paid, then state that as expected, and let it compare the amount that the body has. If it has neither, close it.',
  },
  amount_inexact: {
    state: 'quarantined',
    heading: 'The amount is not exact',
    meaning: 'A body parser in front of the route has rounded a number of more than 15 digits.',
    todo: 'Mount the route before the parser. Ask the service what was paid, and state the exact amount as expected. Then accept the body.',
  },
  currency_mismatch: {
    state: 'quarantined',
    heading: 'Another currency',
    meaning: 'The amount is as expected, but the currency is different.',
    todo: 'Ask the service what was paid. If your expectation is wrong, replace it.',
  },
  currency_case: {
    state: 'quarantined',
    heading: 'The currency differs only in upper and lower case',
    meaning: 'Currencies are compared character by character, and those of the protocol are upper case.',
    todo: 'If you mistyped the currency, replace the expectation.',
  },
  completed_in_part: {
    state: 'quarantined',
    heading: 'Completed in only one of two fields',
    meaning:
      'Either its event or its status says that it is completed, and the other does not. Nothing was applied, and it may have been paid.',
    todo: 'Ask the service whether it was paid, and what the two names mean. Add the event to completedEvents, or the status to statuses, then retry it. Otherwise close it.',
  },
  unnamed_after_paid: {
    state: 'quarantined',
    heading: 'A status without a meaning, after the payment',
    meaning:
      'The order is paid, and the service has reported another status of its transaction, which statuses does not name, or which has no handler.',
    todo: 'Ask the service what the status means. Add it to statuses, and a handler if it is a reversal, then apply it after all. Otherwise close it.',
  },
  canceled: {
    state: 'quarantined',
    heading: 'Paid after it was canceled',
    meaning: 'The service reports that it is completed, but your team had canceled it.',
    todo: 'Refund it and close it, or apply it after all.',
  },
  order_paid: {
    state: 'quarantined',
    heading: 'Its order is already paid',
    meaning:
      'The service reports that it is completed. With it, the payments of its order would be more than the total of the order.',
    todo: 'Ask the service whether the customer has paid twice. If so, refund it and close it; otherwise apply it after all.',
  },
  transition_not_allowed: {
    state: 'quarantined',
    heading: 'Another outcome after the final one',
    meaning: 'The service reported another outcome of a transaction that was already final.',
    todo: "Ask the service for the transaction's status. Apply this one after all, or close it.",
  },
  crash_loop: {
    state: 'quarantined',
    heading: 'The handler crashes the program',
    meaning: 'The process ended three times while the handler ran.',
    todo: 'Fix the handler, then retry it.',
  },
  empty_reference: {
    state: 'quarantined',
    heading: 'No reference',
    meaning: 'A signed reference is empty, so nothing can be credited.',
    todo: 'Close it.',
  },
  different_bodies: {
    state: 'conflict',
    heading: 'Different amounts, and no expectation',
    meaning: 'The bodies differ, and no expectation says which one is right.',
    todo: 'Ask the service what was paid. Then state that as expected, or accept the correct body.',
  },
  contradicting_bodies: {
    state: 'conflict',
    heading: 'Suspicious: it has a replaced amount',
    meaning: 'A body has an amount that was expected before and has been replaced.',
    todo: 'Ask the service which amount was paid. If it is the earlier one, accept that amount. If it is the expected one, or if it is still held after that, apply it after all.',
  },
  paid_by_another: {
    state: 'conflict',
    heading: 'A status of another transaction, after the order was paid',
    meaning:
      'Another transaction has paid this reference, and this one reports a status that is not known to mean failed. The order stays paid.',
    todo: 'Ask the service what the status means, then close it.',
  },
  already_settled: {
    state: 'conflict',
    heading: 'Paid twice',
    meaning: 'A second transaction paid the same expectation.',
    todo: 'Refund it, then close it.',
  },
  attempts_used_up: {
    state: 'dead',
    heading: 'All attempts failed',
    meaning: 'Every attempt failed, and nothing was written. The last error is kept.',
    todo: 'Fix the cause, then retry it.',
  },
  transaction_ended: {
    state: 'dead',
    heading: 'It may already be applied',
    meaning: 'The handler ended its transaction, so its effect may be committed.',
    todo: 'Check whether the credit is in your tables. If it is, close it. If not, fix the handler, then retry it.',
  },
  closed_by_operator: { state: 'resolved', ...STATE_WORDS.resolved },
};

/** For the code of every rule that refused a callback whose signature matches. */
export const EVIDENCE_WORDS: Words = {
  heading: 'A rule refuses it',
  meaning: 'The signature is valid, but a rule refused it. It is kept as evidence and pays nothing.',
  todo: 'Review it, then close it. Apply it after all if only a rule about the timestamp refused it.',
};

/** Why the content of a body is not shown, or what to know about it. */
export const BODY_WORDS = {
  sealed:
    'The content is encrypted, and the key is missing here: open it where the option encryption is set.',
  removed: 'The content was removed because of its age, or on request.',
  unsealed:
    'The content is not encrypted: it was kept before encryption was set, or another program wrote it. Do not rely on it.',
} as const;

/** The sum of counts of `counts()`, with "+" if one of them is at its limit. */
export function countText(...counts: readonly number[]): string {
  const sum = counts.reduce((one, other) => one + other, 0).toLocaleString('en');
  return counts.includes(MAX_COUNTED) ? `${sum}+` : sum;
}

/** What its words depend on: without `signed`, a settled transition counts as a payment. */
interface Described {
  readonly state: TransitionState;
  readonly reason: TransitionReason | undefined;
  readonly signed?: Pick<SignedFields, 'transaction_status'> | undefined;
}

const RECORDED = 'It is not a payment: your program recorded the status.';

/**
 * What a transition's state and reason mean, in the words of the console and the command, for your own pages.
 *
 * @throws {ConfigurationError} When `transition` does not have one of the states.
 *
 * @example
 * const [transition] = await inbox.reports({ state: 'quarantined' });
 * if (transition) console.log(wordsOf(transition).heading); // 'Suspicious: the amount differs'
 */
export function wordsOf(transition: Described): Words {
  checkArgument('wordsOf()', 'transition', transition, TRANSITION);
  const { state, reason, signed } = transition;
  if (state === 'settled' && signed !== undefined && signed.transaction_status !== 'COMPLETED')
    return {
      ...STATE_WORDS.settled,
      heading: `${capital(signed.transaction_status)}, recorded`,
      meaning: RECORDED,
    };
  if (reason === undefined) return STATE_WORDS[state];
  return wordsOfReason(reason);
}

/** What a reason means. */
export const wordsOfReason = (reason: TransitionReason): Words =>
  isOwn(reason) ? REASON_WORDS[reason] : EVIDENCE_WORDS;

const TRANSITION: OptionRule = [
  (transition) => {
    const { state, reason = '' } = Object(transition);
    return Object.hasOwn(STATE_WORDS, state) && typeof reason === 'string';
  },
  '{ state, reason } of a transition',
];

/** The state that a reason explains. Every refusal code is one of evidence. */
export const stateOf = (reason: string): TransitionState =>
  isOwn(reason) ? REASON_WORDS[reason].state : 'quarantined';

/** Own reasons that no other body changes. */
export const FINAL_REASONS: readonly string[] = Object.keys(REASON_WORDS).filter(
  (reason) => !MONEY_REASONS.some((each) => each === reason),
);

/** Whether it is a reason of the inbox, not a rule that refused a callback. */
export const isOwn = (reason: string): reason is OwnReason => Object.hasOwn(REASON_WORDS, reason);
