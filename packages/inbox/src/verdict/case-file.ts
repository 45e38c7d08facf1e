import type { Statements } from '../store/statements.ts';
import { numberOf, optionalText, type Row, type SqlValue, textOf } from '../store/store.ts';
import { appliedIn, paidIn, subjectIn } from './archived.ts';
import type { TransitionCase } from './evaluate.ts';
import { bodyIn, expectationIn, membersOf, reasonIn, signedIn } from './stored-values.ts';

/** Everything that is known about one transition while its outcome is decided. */
export interface CaseFile extends TransitionCase {
  /** Of its payment. */
  readonly referenceKey: string;
  /** A person must look at its payment, as far as is known. */
  readonly isNeeded: boolean;
  /** How often it was checked without result. */
  readonly looks: number;
  /** Changes with everything that could change the verdict. */
  readonly revision: number;
  /** The content of its only body; undefined if it has more, or if the content was pruned. */
  readonly content: string | undefined;
  /** Its own place, if it is settled now: after the applied statuses of its internal_reference, including archived ones. */
  readonly place: number;
  /** Of the requests of its bodies. */
  readonly traceparents: readonly string[];
}

export async function readCase<Tx>(
  statements: Statements<Tx>,
  id: number,
  tx: Tx,
): Promise<CaseFile | undefined> {
  return completeCase(statements, await statements.run('read_case', caseValues(id), tx), { id, tx });
}

/**
 * The values of `read_case`.
 *
 * @param signed The five signed strings as JSON. Without it, the archive is always searched.
 */
export function caseValues(id: number, signed?: string): SqlValue[] {
  if (signed === undefined) return [id, null, null];
  const { internal_reference, merchant_reference } = signedMembers(signed);
  return [id, JSON.stringify(internal_reference ?? ''), JSON.stringify(merchant_reference ?? '')];
}

/** Null for a value that is not JSON: the case names its column. */
function signedMembers(text: string): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** From the rows of `read_case`, in the same transaction; undefined if there is no such transition. */
export async function completeCase<Tx>(
  statements: Statements<Tx>,
  rows: readonly Row[],
  { id, tx }: { readonly id: number; readonly tx: Tx },
): Promise<CaseFile | undefined> {
  const hasPast = rows[0] !== undefined && numberOf(rows[0], 'has_past') === 1;
  const [past] = hasPast ? await statements.run('read_past', [id], tx) : [];
  return caseIn(rows, past);
}

/** One statement reads all of this, so that it is consistent. The past never changes, so it may be read afterwards. */
function caseIn(unordered: readonly Row[], past: Row = NO_PAST): CaseFile | undefined {
  const rows = unordered.length > 1 ? unordered.toSorted(byFirst) : unordered;
  const [row] = rows;
  if (row === undefined) return undefined;
  const verified = rows.filter((body) => body['refusal'] === null);
  const evidence = rows.filter((body) => body['refusal'] !== null);
  const signed = signedIn(row);
  const applied = appliedIn(row);
  const archived = subjectIn(past);
  // It takes precedence over a later expectation, with which the reference could be paid once more.
  const paid = paidIn(past);
  const isPaidThere = paid !== undefined && paid.signed.internal_reference !== signed.internal_reference;
  return {
    transitionId: textOf(row, 'transition_id'),
    referenceKey: textOf(row, 'reference_key'),
    isNeeded: row['needs'] !== null,
    signed,
    bodies: verified.map(bodyIn),
    refusals: evidence.flatMap((body) => reasonIn(body, 'refusal') ?? []),
    expectation: paid?.expectation ?? expectationIn(row),
    appliedStatus: applied.place > archived.place ? applied.status : archived.status,
    isArchived: archived.isArchived,
    orderPaid: '0',
    isPaidByAnother: isPaidThere || numberOf(past, 'is_paid_by_another') === 1,
    unfinished: numberOf(row, 'unfinished') - 1,
    isWaived: numberOf(row, 'waived') === 1,
    looks: numberOf(row, 'looks'),
    revision: numberOf(row, 'revision'),
    content: optionalText(row, 'content'),
    place: Math.max(applied.place, archived.place) + 1,
    traceparents: rows.map((body) => body['traceparent']).filter((value) => typeof value === 'string'),
  };
}

const NO_PAST: Row = { is_paid_by_another: 0, archived: null, paid: null };

/** Digests are hexadecimal digits, which are sorted here as in the database. */
function byFirst(one: Row, other: Row): number {
  const [first, second] = [one, other].map((row) => numberOf(row, 'first_at')) as [number, number];
  return first - second || (textOf(one, 'digest') < textOf(other, 'digest') ? -1 : 1);
}
