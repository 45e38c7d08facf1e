import { type SignedFields, type UnsignedFields, unsignedFields } from '@payment-service/core';
import type { TransitionReason } from '../states.ts';
import type { Statements } from '../store/statements.ts';
import { numberOf, optionalText, type Row, textOf } from '../store/store.ts';
import type { Claims, EvaluatedBody, TransitionCase } from './evaluate.ts';
import { expectationIn } from './expectation.ts';

/** All that is known of one transition while it is decided on. */
export interface CaseFile {
  readonly id: number;
  readonly evaluated: TransitionCase;
  readonly referenceKey: string;
  readonly transactionType: string;
  readonly subjectKey: string;
  /** The number of this attempt. */
  readonly attempts: number;
  /** How often it was looked at in vain. */
  readonly looks: number;
  /** Changes with everything that could change the verdict. */
  readonly revision: number;
  /** Evidence, which decides nothing. */
  readonly evidenceCount: number;
}

/** Reads everything in one statement, so that it fits together; undefined if there is no such transition. */
export async function readCase<Tx>(
  statements: Statements<Tx>,
  id: number,
  tx: Tx,
): Promise<CaseFile | undefined> {
  const rows = await statements.run('read_case', [id], tx);
  const [row] = rows;
  if (row === undefined) return undefined;
  const verified = rows.filter((each) => optionalText(each, 'refusal') === undefined);
  const applied = optionalText(row, 'applied_status');
  return {
    id,
    evaluated: {
      transitionId: textOf(row, 'transition_id'),
      signed: Object.freeze(JSON.parse(textOf(row, 'signed')) as SignedFields),
      refusal:
        verified.length > 0 ? undefined : (optionalText(row, 'refusal') as TransitionReason | undefined),
      bodies: verified.map(bodyIn),
      expectation: expectationIn(row),
      appliedStatus: applied === undefined ? undefined : (JSON.parse(applied) as string),
      unfinished: numberOf(row, 'unfinished') - 1,
      isWaived: numberOf(row, 'waived') === 1,
    },
    referenceKey: textOf(row, 'reference_key'),
    transactionType: textOf(row, 'transaction_type'),
    subjectKey: textOf(row, 'subject_key'),
    attempts: numberOf(row, 'attempts'),
    looks: numberOf(row, 'looks'),
    revision: numberOf(row, 'revision'),
    evidenceCount: rows.length - verified.length,
  };
}

export function bodyIn(row: Row): EvaluatedBody {
  return { digest: textOf(row, 'digest'), ...(JSON.parse(textOf(row, 'claims')) as Claims) };
}

/** The unsigned fields of a kept body. Nothing when the body is not an object any more that JSON can write. */
export async function readClaimed<Tx>(
  statements: Statements<Tx>,
  { id, digest }: { readonly id: number; readonly digest: string },
  tx: Tx,
): Promise<UnsignedFields> {
  const [row] = await statements.run('read_content', [id, digest], tx);
  if (row === undefined || row['content'] === null) return Object.freeze({});
  return unsignedFields(textOf(row, 'content'));
}
