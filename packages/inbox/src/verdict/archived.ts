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
import { expectationIn, jsonIn, jsonTextOf, membersOf, reasonIn, signedIn } from './stored-values.ts';

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

/** What the archive keeps of the id of a transition: its first 16 digits, as a whole number of 64 bits. */
export const archiveKey = (id: string): string => String(BigInt.asIntN(64, BigInt(`0x${id.slice(0, 16)}`)));

/** Newest first, at most 1000. */
export async function findArchived<Tx>(
  statements: Statements<Tx>,
  { keys, account }: { readonly keys: ArchiveKeys; readonly account: string },
  tx?: Tx,
): Promise<Archived[]> {
  const { merchant_reference, internal_reference } = keys;
  // One of the two references is enough to find them.
  const { internal_reference: _, ...others } = keys;
  const any = { ...(merchant_reference === undefined ? keys : others), account, limit: 1000 };
  const found = await findInArchive(statements, any, tx);
  return found.filter(
    (each) =>
      each.transitionId === (keys.transitionId ?? each.transitionId) &&
      each.signed.merchant_reference === (merchant_reference ?? each.signed.merchant_reference) &&
      each.signed.internal_reference === (internal_reference ?? each.signed.internal_reference),
  );
}

/** Newest first: those that have at least one of the keys. */
export async function findInArchive<Tx>(
  statements: Statements<Tx>,
  { transitionId, merchant_reference, internal_reference, account, limit }: ArchiveKeys & Searched,
  tx?: Tx,
): Promise<Archived[]> {
  const json = (reference: string | undefined): string | null =>
    reference === undefined ? null : JSON.stringify(reference);
  const key = transitionId === undefined ? null : archiveKey(transitionId);
  const values = [account, key, json(merchant_reference), json(internal_reference), limit];
  return (await statements.run('find_archived', values, tx)).map(archivedIn);
}

interface Searched {
  readonly account: string;
  readonly limit: number;
}

function archivedIn(row: Row): Archived {
  const signed = Object.freeze({
    event: jsonTextOf(row, 'event'),
    merchant_reference: jsonTextOf(row, 'merchant_reference'),
    internal_reference: jsonTextOf(row, 'internal_reference'),
    transaction_type: jsonTextOf(row, 'transaction_type'),
    transaction_status: jsonTextOf(row, 'transaction_status'),
  });
  // Only its key is stored.
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
    expectation: row['amount'] === '' ? undefined : expectationIn({ ...row, settled_by: id, replaced: '[]' }),
  };
}

/** The status of an internal_reference that was applied last among these. */
export function lastApplied(archived: readonly Archived[], internalReference: string): Applied {
  let last: Applied = { place: 0, status: undefined };
  for (const { signed, applied } of archived)
    if (signed.internal_reference === internalReference && applied.place > last.place)
      last = { place: applied.place, status: signed.transaction_status };
  return last;
}

/** From a row of a case: the status that was applied last outside the archive. */
export function appliedIn(row: Row): Applied {
  if (row['applied'] === null) return { place: 0, status: undefined };
  const { place, signed } = membersOf(jsonIn(row, 'applied'));
  if (typeof place !== 'number') throw unexpected(row, 'applied', 'a place');
  return { place, status: signedIn({ signed: JSON.stringify(signed ?? null) }).transaction_status };
}
