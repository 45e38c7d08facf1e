import type { SignedFields } from '@payment-service/core';
import type { TransitionReason, TransitionState, TransitionSummary } from '@payment-service/inbox';

/** In the order in which a person wants to see them. */
export const INBOX_STATES: readonly TransitionState[] = [
  'quarantined',
  'conflict',
  'dead',
  'unhandled',
  'retrying',
  'pending',
  'settled',
  'superseded',
  'resolved',
];

interface Words {
  readonly heading: string;
  readonly text: string;
}

const STATES: Readonly<Record<TransitionState, Words>> = {
  pending: { heading: 'About to be applied', text: 'The worker takes it next.' },
  retrying: {
    heading: 'Applying it failed',
    text: 'Nothing of it was written, and it is retried automatically.',
  },
  settled: { heading: 'Applied', text: 'It was applied exactly once.' },
  superseded: { heading: 'Out of date', text: 'A later status was applied before it arrived.' },
  unhandled: { heading: 'Nothing to do', text: 'It is kept, and nothing was applied.' },
  quarantined: { heading: 'Kept as evidence', text: 'A rule keeps it from being applied.' },
  conflict: { heading: 'For a person to decide', text: 'Nothing was applied.' },
  dead: { heading: 'All attempts failed', text: 'Fix what its last error names, then retry it.' },
  resolved: { heading: 'Closed', text: 'A person closed it; nothing was applied.' },
};

const FAILURE: Words = {
  heading: 'The payment failed',
  text: 'The payment service reported FAILED. It was applied exactly once: the order reads failed, and another payment can still complete it.',
};

const REASONS: Readonly<Partial<Record<TransitionReason, Words>>> = {
  no_handler: {
    heading: 'A status that the shop does nothing with',
    text: 'The signature is valid. The shop acts on COMPLETED and FAILED only.',
  },
  no_expectation: {
    heading: 'No order has this reference',
    text: 'The signature is valid, and the shop expects no payment under this reference.',
  },
  empty_reference: {
    heading: 'No reference',
    text: 'The signature is valid, but a reference is empty, so it cannot be matched to an order.',
  },
  amount_mismatch: {
    heading: 'Suspicious: the amount differs',
    text: 'A callback with a valid signature does not have the amount of the order. Amounts are not signed, so it may have been changed on the way. It paid nothing, and the genuine one still counts.',
  },
  transition_not_allowed: {
    heading: 'Another outcome after the payment',
    text: 'The service reported another outcome of a transaction that was completed before. The order stays paid until you decide otherwise.',
  },
  late_status: {
    heading: 'Out of date',
    text: 'It says that the transaction is not over, but it arrived after the outcome. No action is needed.',
  },
  archived: {
    heading: 'Paid long ago',
    text: 'Its payment is in the archive, and this delivery claims another amount. Nothing was applied from it.',
  },
  crash_loop: {
    heading: 'Applying it ended the shop',
    text: 'It was started several times, and the process ended every time. Find out why before you retry it.',
  },
  transaction_ended: {
    heading: 'It may be written already',
    text: 'Applying it ended its own transaction, so what was written may be kept. Look at the order before you retry or close it.',
  },
  different_bodies: {
    heading: 'Different amounts, and no order to compare them with',
    text: 'Find out what was paid, and choose the right one below; or close it.',
  },
  contradicting_bodies: {
    heading: 'Suspicious: it has an amount that the order had before',
    text: 'The amount of the order was changed, and a callback with a valid signature has the earlier one. Find out at the payment service what was paid.',
  },
  paid_by_another: {
    heading: 'Another payment failed after the order was paid',
    text: 'A second transaction of a paid order did not complete. The order stays paid, and nothing is owed for this one. Close it.',
  },
  already_settled: {
    heading: 'Paid twice',
    text: 'A second transaction was completed for an order that is paid. The customer may have to get money back.',
  },
};

/** What a transition's state and reason mean to the owner. */
export function wordsFor({
  state,
  reason,
  signed,
}: Pick<TransitionSummary, 'state' | 'reason' | 'signed'>): Words {
  if (reason === 'no_handler' && signed.transaction_type !== 'COLLECTION') return otherType(signed);
  if (isFailure({ state, signed })) return FAILURE;
  if (reason === undefined) return STATES[state];
  const known = REASONS[reason];
  if (known !== undefined) return known;
  if (state !== 'quarantined') return STATES[state];
  return {
    heading: 'A rule refuses it',
    text: `The signature is valid, but the rule ${reason} refuses it. It is kept as evidence and pays nothing.`,
  };
}

function otherType({ transaction_type: type }: SignedFields): Words {
  const what =
    type === 'PAYOUT' ? 'a PAYOUT, money that goes out' : `a transaction of the type ${type || '(empty)'}`;
  return {
    heading: 'Not a payment of an order',
    text: `The signature is valid. It is ${what}; only a COLLECTION pays an order, so this one changed none. If you do not recognise it, ask the payment service.`,
  };
}

/** Whether the transition is closed. */
export function isClosed({ state }: Pick<TransitionSummary, 'state'>): boolean {
  return state === 'settled' || state === 'superseded' || state === 'resolved';
}

/** The states that only a person ends. */
export const HELD_STATES: readonly TransitionState[] = ['quarantined', 'conflict', 'dead'];

/** Whether it waits for a person. */
export function isHeld({ state }: Pick<TransitionSummary, 'state'>): boolean {
  return HELD_STATES.includes(state);
}

/** Whether the owner should look at it. */
export function needsAttention(transition: Pick<TransitionSummary, 'state'>): boolean {
  return isHeld(transition) || transition.state === 'retrying';
}

/** Whether it was applied, and says that a payment failed. */
export function isFailure({ state, signed }: Pick<TransitionSummary, 'state' | 'signed'>): boolean {
  return state === 'settled' && signed.transaction_status === 'FAILED';
}
