import { canonicalAmount } from '@payment-service/core';
import type { IntakeRecord } from '../delivery/stored-delivery.ts';
import type { KnownExpectation } from '../verdict/evaluate.ts';
import type { Judgement } from './line-class.ts';
import type { Staged } from './staging.ts';
import type { StatementRow } from './statement-report.ts';

/** A payment in a statement, and the record that its callback would have created. */
export interface Entry extends Staged {
  readonly given: StatementRow;
  readonly record: IntakeRecord;
  /** The signed string that is unknown. */
  readonly lacks: 'internal_reference' | 'event' | undefined;
  /** What a spreadsheet has done to its internal_reference. */
  readonly damage: string | undefined;
}

/** What is known here about a row. */
export interface Known {
  readonly expectation: KnownExpectation | undefined;
  /** The internal_reference that has settled it. */
  readonly paidBy: string | undefined;
  /** The state of the row's own transition. */
  readonly state: string | undefined;
  readonly isReversed: boolean;
  /** Its internal_reference is known here for another payment. */
  readonly isShared: boolean;
}

/** The verdict on a line, from everything that its file says about its payment, in any order of the lines. */
export function judge(entry: Entry, known: Known): Judgement {
  const { given, lacks, facts } = entry;
  const { meaning = 'paid' } = given;
  const { expectation, paidBy, state } = known;
  const isSettled = expectation?.settledBy !== undefined;
  const isNamed = given.internal_reference !== undefined;
  const isOther = isNamed && paidBy !== undefined && paidBy !== given.internal_reference;
  const isBack =
    facts.ins > 0 && (meaning === 'reversed' || (meaning === 'paid' && given.direction === 'out'));
  if (isBack) return isSettled ? ['settled'] : ['contradicted', TAKEN_BACK];
  // Another attempt at the same payment may have failed, and a payment that is paid was once pending.
  if (meaning !== 'paid') {
    const isAgreed = !isSettled || isOther || (known.isReversed && meaning === 'reversed');
    const isEarlier = facts.ins > 0 && (meaning === 'interim' || !isNamed);
    return [isAgreed || isEarlier ? 'not_paid' : 'other_status'];
  }
  const isIn = given.direction !== 'out';
  const isTakenBack = facts.isReversed || (isIn && facts.isReturned);
  if (!isSettled && isTakenBack) return ['contradicted', TAKEN_BACK];
  if (expectation === undefined) return ['not_expected'];
  if (isOther) return entry.damage === undefined ? ['paid_by_another'] : ['damaged_id', entry.damage];
  if ((isIn ? facts.ins : facts.outs) > 1) return ['duplicate'];
  if (expectation.currency !== given.currency) return ['other_currency'];
  if (expectation.amount !== canonicalAmount(given.amount)) return ['other_amount'];
  if (isSettled) return ['settled'];
  if (state !== undefined) return ['waiting_here', state];
  if (entry.damage !== undefined) return ['damaged_id', entry.damage];
  if (facts.isFailed) return ['contradicted', 'the same internal_reference is also listed as failed'];
  if (facts.isShared || known.isShared)
    return ['contradicted', 'its internal_reference belongs to another payment as well'];
  if (facts.isUnclear) return ['unclear'];
  const detail = lacks && `the line has no ${lacks}, so its later callback would be another transition`;
  return ['paid_without_callback', detail];
}

const TAKEN_BACK = 'the statement also takes it back';
