import type { SignedFields } from '@payment-service/core';
import type { EvaluatedBody, TransitionCase } from './evaluation.ts';
import { expectationIn } from './expectation.ts';
import { storedSignedFields } from './intake-record.ts';
import {
  bytesOf,
  hexOf,
  numberOf,
  optionalNumber,
  optionalText,
  type Row,
  type Session,
  textOf,
} from './session.ts';
import type { Tables } from './tables.ts';
import type { TransitionReason } from './transition-state.ts';

/** All that is known of one transition while a worker decides on it. */
export interface CaseFile {
  readonly id: Uint8Array;
  readonly evaluated: TransitionCase;
  readonly signed: SignedFields;
  readonly referenceKey: Uint8Array;
  readonly subjectKey: Uint8Array;
  /** When to work on it; undefined when nobody shall any more. A claim keeps no one from deciding so. */
  readonly dueAt: number | undefined;
  /** Failed attempts so far. */
  readonly attempts: number;
  /** Changes with everything that could change the verdict. */
  readonly revision: number;
  /** 0 for no expectation. */
  readonly expectationRevision: number;
}

/** Reads everything in one statement, so that it fits together. */
export async function readCaseFile(session: Session, tables: Tables, id: Uint8Array): Promise<CaseFile> {
  const { rows } = await session.query(
    `select t.signed, t.state, t.next_at, t.completed, t.attempts, t.waived, t.revision, t.reference_key, t.subject_key, b.digest,
       b.request_currency, b.request_amount, b.transaction_currency, b.transaction_amount, b.refusal,
       e.currency as expected_currency, e.amount as expected_amount, e.compare, e.settled_by,
       e.revision as expectation_revision, a.status as applied_status, s.starts
     from ${tables.transition} t
     join ${tables.body} b on b.transition = t.id
     left join ${tables.expectation} e on e.reference_key = t.reference_key
     left join ${tables.applied} a on a.subject_key = t.subject_key
     left join ${tables.start} s on s.transition_id = t.transition_id
     where t.transition_id = $1`,
    [id],
  );
  const [row] = rows;
  if (row === undefined)
    throw new Error('A transition was claimed whose rows are gone. Was the table edited by hand?');
  const signed = storedSignedFields(textOf(row, 'signed'));
  const attempts = numberOf(row, 'attempts');
  const starts = optionalNumber(row, 'starts') ?? 0;
  const appliedStatus = optionalText(row, 'applied_status');
  return {
    id,
    signed,
    dueAt: ['pending', 'retrying'].includes(textOf(row, 'state')) ? numberOf(row, 'next_at') : undefined,
    attempts,
    revision: numberOf(row, 'revision'),
    expectationRevision: optionalNumber(row, 'expectation_revision') ?? 0,
    referenceKey: bytesOf(row, 'reference_key'),
    subjectKey: bytesOf(row, 'subject_key'),
    evaluated: {
      transitionId: hexOf(id),
      merchantReference: signed.merchant_reference,
      internalReference: signed.internal_reference,
      status: signed.transaction_status,
      isCompleted: numberOf(row, 'completed') === 1,
      refusal: rows.map((each) => optionalText(each, 'refusal')).find((code) => code !== undefined) as
        | TransitionReason
        | undefined,
      bodies: rows.filter((each) => each['refusal'] === null).map(bodyIn),
      expectation: expectationIn(row),
      appliedStatus: appliedStatus === undefined ? undefined : (JSON.parse(appliedStatus) as string),
      unfinishedStarts: Math.max(0, starts - attempts),
      isWaived: numberOf(row, 'waived') === 1,
    },
  };
}

function bodyIn(row: Row): EvaluatedBody {
  return {
    digest: hexOf(bytesOf(row, 'digest')),
    request: {
      currency: optionalText(row, 'request_currency') ?? null,
      amount: optionalText(row, 'request_amount') ?? null,
    },
    transaction: {
      currency: optionalText(row, 'transaction_currency') ?? null,
      amount: optionalText(row, 'transaction_amount') ?? null,
    },
  };
}
