import { type SignedFields, transitionId } from '@payment-service/core';
import {
  STATUS_MEANINGS,
  TRANSITION_STATES,
  type TransitionReason,
  type TransitionState,
} from '../states.ts';
import type { Statements } from '../store/statements.ts';
import { choiceOf, dateOf, numberOf, type Row, textOf, unexpected } from '../store/store.ts';
import type { KnownExpectation } from './evaluate.ts';
import type { ReportFacts } from './payment-state.ts';
import { expectationIn, jsonIn, membersOf, reasonIn, signedIn } from './stored-values.ts';

/** What `prune()` has left of a transition. */
export interface Archived {
  readonly id: number;
  readonly transitionId: string;
  readonly signed: SignedFields;
  readonly state: TransitionState;
  readonly reason: TransitionReason | undefined;
  readonly changedAt: Date;
  /** What its status meant when it was applied, and its place among those of its transaction. */
  readonly applied: Pick<ReportFacts, 'place' | 'appliedAs'>;
  /** What it settled, if it was a payment. */
  readonly expectation: KnownExpectation | undefined;
}

/** The conditions of a search in the archive: all that are given apply. */
export interface ArchiveKeys {
  readonly transitionId?: string | undefined;
  readonly merchant_reference?: string | undefined;
  readonly internal_reference?: string | undefined;
}

/** The status of an internal_reference that was applied last. */
interface Applied {
  /** How many of its statuses were applied, including archived ones; 0 if none was. */
  readonly place: number;
  readonly status: string | undefined;
}

/** Newest first, at most 1000. */
export async function findArchived<Tx>(
  statements: Statements<Tx>,
  { keys, account }: { readonly keys: ArchiveKeys; readonly account: string },
  tx?: Tx,
): Promise<Archived[]> {
  const { merchant_reference, internal_reference } = keys;
  const json = (reference: string | undefined): string | null =>
    reference === undefined ? null : JSON.stringify(reference);
  const values = [
    account,
    keys.transitionId ?? null,
    // One of the two is enough to find them.
    json(merchant_reference),
    merchant_reference === undefined ? json(internal_reference) : null,
  ];
  const found = (await statements.run('find_archived', values, tx)).map(archivedIn);
  return found.filter(
    (each) =>
      each.transitionId === (keys.transitionId ?? each.transitionId) &&
      each.signed.merchant_reference === (merchant_reference ?? each.signed.merchant_reference) &&
      each.signed.internal_reference === (internal_reference ?? each.signed.internal_reference),
  );
}

function archivedIn(row: Row): Archived {
  const signed = signedIn(row);
  // Only its first digits are stored.
  const id = transitionId(signed, textOf(row, 'account'));
  return {
    id: numberOf(row, 'id'),
    transitionId: id,
    signed,
    state: choiceOf(row, 'state', TRANSITION_STATES),
    reason: row['reason'] === '' ? undefined : reasonIn(row, 'reason'),
    changedAt: dateOf(row, 'changed_at'),
    applied: {
      place: numberOf(row, 'place'),
      appliedAs: row['applied_as'] === '' ? undefined : choiceOf(row, 'applied_as', STATUS_MEANINGS),
    },
    expectation:
      row['amount'] === '' ? undefined : settledIn({ ...row, currency: jsonIn(row, 'currency') }, id),
  };
}

/** From a row of a case: which archived transition settled its merchant_reference, and with what money. */
export function paidIn(
  row: Row,
): { readonly expectation: KnownExpectation; readonly signed: SignedFields } | undefined {
  if (row['paid'] === null) return undefined;
  const paid = membersOf(jsonIn(row, 'paid'));
  const signed = signedIn({ signed: JSON.stringify(paid['signed'] ?? null) });
  const expectation = settledIn(paid, transitionId(signed, textOf(row, 'account')));
  if (expectation === undefined) throw unexpected(row, 'paid', 'what was settled');
  return { expectation, signed };
}

/** From a row of a case: whether it is archived, and which archived status of its internal_reference was applied last. */
export function subjectIn(row: Row): Applied & { readonly isArchived: boolean } {
  const found = row['archived'] === null ? [] : jsonIn(row, 'archived');
  let subject = { isArchived: false, place: 0, status: undefined as string | undefined };
  for (const each of Array.isArray(found) ? found : []) {
    const { isOwn, place, status } = membersOf(each);
    if (typeof place !== 'number' || typeof status !== 'string')
      throw unexpected(row, 'archived', 'places and statuses');
    const isArchived = subject.isArchived || isOwn === true;
    subject = place > subject.place ? { isArchived, place, status } : { ...subject, isArchived };
  }
  return subject;
}

/** From a row of a case: the status that was applied last outside the archive. */
export function appliedIn(row: Row): Applied {
  if (row['applied'] === null) return { place: 0, status: undefined };
  const { place, signed } = membersOf(jsonIn(row, 'applied'));
  if (typeof place !== 'number') throw unexpected(row, 'applied', 'a place');
  return { place, status: signedIn({ signed: JSON.stringify(signed ?? null) }).transaction_status };
}

function settledIn(row: Row, settledBy: string): KnownExpectation | undefined {
  return expectationIn({ ...row, settled_by: settledBy, replaced: '[]' });
}
