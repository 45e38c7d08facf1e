import type { Statements } from '../store/statements.ts';
import { numberOf, optionalText, type Row, textOf } from '../store/store.ts';
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
  return {
    transitionId: textOf(row, 'transition_id'),
    signed: signedIn(row),
    bodies: verified.map(bodyIn),
    refusals: evidence.flatMap((body) => reasonIn(body, 'refusal') ?? []),
    expectation: expectationIn(row),
    appliedStatus: row['applied'] === null ? undefined : signedIn(row, 'applied').transaction_status,
    isPaidByAnother: numberOf(row, 'is_paid_by_another') === 1,
    unfinished: numberOf(row, 'unfinished') - 1,
    isWaived: numberOf(row, 'waived') === 1,
    startId: optionalText(row, 'start_id'),
    looks: numberOf(row, 'looks'),
    revision: numberOf(row, 'revision'),
    content: optionalText(row, 'content'),
  };
}
