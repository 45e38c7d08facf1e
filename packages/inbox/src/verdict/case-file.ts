import type { Statements } from '../store/statements.ts';
import { numberOf, optionalText, type Row, type SqlValue, textOf } from '../store/store.ts';
import { type Archived, appliedIn, findInArchive, lastApplied } from './archived.ts';
import type { TransitionCase } from './evaluate.ts';
import { bodyIn, expectationIn, membersOf, reasonIn, signedIn } from './stored-values.ts';

/** Everything that is known about one transition while its outcome is decided. */
export interface CaseFile extends TransitionCase {
  /** The key of its payment. */
  readonly referenceKey: string;
  /** A person must look at its payment, as far as is known. */
  readonly isNeeded: boolean;
  /** How often it was checked without a result. */
  readonly looks: number;
  /** Changes with everything that could change the verdict. */
  readonly revision: number;
  /** The content of its only body; undefined if it has more, or if the content was pruned. */
  readonly content: string | undefined;
  /** Its own place, if it is settled now: after the applied statuses of its internal_reference, including archived ones. */
  readonly place: number;
  /** The traces of the requests of its bodies. */
  readonly traceparents: readonly string[];
}

export async function readCase<Tx>(
  statements: Statements<Tx>,
  id: number,
  tx: Tx,
): Promise<CaseFile | undefined> {
  return completeCase(statements, await statements.run('read_case', caseValues(id), tx), tx);
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

/** Empty for a value that is not JSON: the case names its column. */
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
  tx: Tx,
): Promise<CaseFile | undefined> {
  const [row] = rows;
  if (row === undefined || numberOf(row, 'has_past') === 0) return caseIn(rows, []);
  const { merchant_reference, internal_reference } = signedIn(row);
  const keys = { merchant_reference, internal_reference, account: textOf(row, 'account') };
  return caseIn(rows, await findInArchive(statements, { ...keys, limit: Number.MAX_SAFE_INTEGER }, tx));
}

/** One statement reads all of this, so that it is consistent. The archive never changes, so it may be read afterwards. */
function caseIn(unordered: readonly Row[], past: readonly Archived[]): CaseFile | undefined {
  const rows = unordered.length > 1 ? unordered.toSorted(byFirst) : unordered;
  const [row] = rows;
  if (row === undefined) return undefined;
  const verified = rows.filter((body) => body['refusal'] === null);
  const evidence = rows.filter((body) => body['refusal'] !== null);
  const signed = signedIn(row);
  const id = textOf(row, 'transition_id');
  const applied = appliedIn(row);
  const archived = lastApplied(past, signed.internal_reference);
  // It takes precedence over a later expectation, with which the reference could be paid once more.
  const paid = past.find(
    (each) =>
      each.expectation !== undefined &&
      each.signed.merchant_reference === signed.merchant_reference &&
      each.signed.transaction_type === signed.transaction_type,
  );
  const isPaidThere = paid !== undefined && paid.signed.internal_reference !== signed.internal_reference;
  return {
    transitionId: id,
    referenceKey: textOf(row, 'reference_key'),
    isNeeded: row['needs'] !== null,
    signed,
    bodies: verified.map(bodyIn),
    refusals: evidence.flatMap((body) => reasonIn(body, 'refusal') ?? []),
    expectation: paid?.expectation ?? expectationIn(row),
    appliedStatus: applied.place > archived.place ? applied.status : archived.status,
    isArchived: past.some(({ transitionId }) => transitionId === id),
    orderPaid: '0',
    isPaidByAnother: isPaidThere || numberOf(row, 'is_paid_by_another') === 1,
    unfinished: numberOf(row, 'unfinished') - 1,
    isWaived: numberOf(row, 'waived') === 1,
    looks: numberOf(row, 'looks'),
    revision: numberOf(row, 'revision'),
    content: optionalText(row, 'content'),
    place: Math.max(applied.place, archived.place) + 1,
    traceparents: rows.map((body) => body['traceparent']).filter((value) => typeof value === 'string'),
  };
}

/** Digests are hexadecimal digits, which are sorted here as in the database. */
function byFirst(one: Row, other: Row): number {
  const [first, second] = [one, other].map((row) => numberOf(row, 'first_at')) as [number, number];
  return first - second || (textOf(one, 'digest') < textOf(other, 'digest') ? -1 : 1);
}
