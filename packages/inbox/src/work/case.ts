import type { Statements } from '../store/statements.ts';
import { numberOf, optionalText, type Row, textOf } from '../store/store.ts';
import { appliedIn, paidIn, subjectIn } from './archived.ts';
import type { TransitionCase } from './evaluate.ts';
import { bodyIn, expectationIn, reasonIn, signedIn } from './stored.ts';

/** All that is known of one transition while it is decided on. */
export interface CaseFile extends TransitionCase {
  /** Of the attempt that may settle it. */
  readonly startId: string | undefined;
  /** How often it was looked at in vain. */
  readonly looks: number;
  /** Changes with everything that could change the verdict. */
  readonly revision: number;
  /** The text of its only body; undefined when it has more, or when it was pruned. */
  readonly content: string | undefined;
  /** Its own, if it is settled now: after the statuses of its internal_reference that were applied, the archived ones too. */
  readonly place: number;
  /** Of the requests that its bodies came in. */
  readonly traceparents: readonly string[];
}

export async function readCase<Tx>(
  statements: Statements<Tx>,
  id: number,
  tx: Tx,
): Promise<CaseFile | undefined> {
  return caseIn(await statements.run('read_case', [id], tx));
}

/** From the rows of one statement, so that it fits together; undefined if there is no such transition. */
export function caseIn(rows: readonly Row[]): CaseFile | undefined {
  const [row] = rows;
  if (row === undefined) return undefined;
  const verified = rows.filter((body) => body['refusal'] === null);
  const evidence = rows.filter((body) => body['refusal'] !== null);
  const signed = signedIn(row);
  const applied = appliedIn(row);
  const archived = subjectIn(row);
  // It outweighs a later expectation, with which the reference could be paid once more.
  const paid = paidIn(row);
  const isPaidThere = paid !== undefined && paid.signed.internal_reference !== signed.internal_reference;
  return {
    transitionId: textOf(row, 'transition_id'),
    signed,
    bodies: verified.map(bodyIn),
    refusals: evidence.flatMap((body) => reasonIn(body, 'refusal') ?? []),
    expectation: paid?.expectation ?? expectationIn(row),
    appliedStatus: applied.place > archived.place ? applied.status : archived.status,
    isArchived: archived.isArchived,
    isPaidByAnother: isPaidThere || numberOf(row, 'is_paid_by_another') === 1,
    unfinished: numberOf(row, 'unfinished') - 1,
    isWaived: numberOf(row, 'waived') === 1,
    startId: optionalText(row, 'start_id'),
    looks: numberOf(row, 'looks'),
    revision: numberOf(row, 'revision'),
    content: optionalText(row, 'content'),
    place: Math.max(applied.place, archived.place) + 1,
    traceparents: rows.map((body) => body['traceparent']).filter((value) => typeof value === 'string'),
  };
}
