import { referenceKey, subjectKey } from '../records.ts';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import type { SqlValue } from '../store/store.ts';

export interface ListOptions {
  readonly state?: TransitionState | undefined;
  readonly reason?: TransitionReason | undefined;
  /** Exactly this signed field. */
  readonly merchant_reference?: string | undefined;
  /** Exactly this signed field. */
  readonly internal_reference?: string | undefined;
  /** Changed at or after this moment. */
  readonly since?: Date | undefined;
  /** Changed before this moment. */
  readonly until?: Date | undefined;
  /** At most 1000. @default 50 */
  readonly limit?: number | undefined;
  /** The last transitionId of the previous page, with the same options. */
  readonly after?: string | undefined;
}

/** The parts of the statement list_transitions, and its values. */
interface Search {
  readonly found: string;
  readonly order: string;
  readonly values: readonly SqlValue[];
}

const PARKED = TRANSITION_STATES.filter((state) => !['pending', 'retrying', 'settled'].includes(state));
/**
 * Pending transitions have no index of their own, since every payment would write to it: they are found among the first due
 * ones.
 */
const MAX_DUE = 10_000;

/**
 * Finds the page by an index, however much was settled before, and only then joins what is shown: by a hashed key, by the
 * newest of each state that may match, or by the id.
 *
 * @param mark The last transition of the page before.
 * @returns undefined if nothing can match.
 */
export function searchFor(
  options: ListOptions & { readonly transitionId?: string | undefined },
  account: string,
  mark: { readonly id: number; readonly changedAt: Date; readonly dueAt: number } | undefined,
): Search | undefined {
  const { transitionId, state, reason, merchant_reference, internal_reference, since, until } = options;
  const values: SqlValue[] = [account, options.limit ?? 50];
  const keyOf = (key: typeof referenceKey, reference: string | undefined): string | undefined =>
    reference === undefined ? undefined : key(reference, account);
  const and = (condition: string, ...given: (SqlValue | undefined)[]): string =>
    given.includes(undefined)
      ? ''
      : ` and ${condition.replace(/\?/g, () => `$${values.push(given.shift() ?? null)}`)}`;
  const keys =
    and('c.transition_id = ?', transitionId) +
    and('c.reference_key = ?', keyOf(referenceKey, merchant_reference)) +
    and('c.subject_key = ?', keyOf(subjectKey, internal_reference));
  const times =
    and('t.changed_at >= cast(? as bigint)', since?.getTime()) +
    and('t.changed_at < cast(? as bigint)', until?.getTime());
  const isByChange = isListedByChange(options);
  const isQueue = state === 'pending' && keys === '';
  const queue = 't.next_at, t.id';
  const beyond = (columns: string, sign: '<' | '>', at: number | undefined): string =>
    and(`(${columns}) ${sign} (cast(? as bigint), cast(? as bigint))`, at, mark?.id);
  const page = isQueue
    ? beyond(queue, '>', mark?.dueAt)
    : isByChange
      ? beyond('t.changed_at, t.id', '<', mark?.changedAt.getTime())
      : and('t.id < cast(? as bigint)', mark?.id);
  const because = and('t.reason = ?', reason);
  const order = isQueue ? queue : isByChange ? 't.changed_at desc, t.id desc' : 't.id desc';
  const limit = `order by ${order} limit cast($2 as integer)`;
  const select = 'select t.id, t.changed_at from';
  if (keys !== '') {
    // Materialized first, since the planner might prefer to scan all ids in their order.
    const named = `select c.id from inbox.callback c where c.account = $1${keys}`;
    const ofState = and('t.state = ?', state);
    const found = `with named as materialized (${named}) ${select} named join inbox.transition t on t.id = named.id
      where t.account = $1${ofState}${because}${times}${page} ${limit}`;
    return { found, order, values };
  }
  const ofAccount = `${select} inbox.transition t where t.account = $1`;
  if (!isByChange) return { found: `${ofAccount}${page} ${limit}`, order, values };
  // Only parked transitions have a reason.
  const states = (reason === undefined ? TRANSITION_STATES : PARKED).filter(
    (each) => each === (state ?? each),
  );
  /** The condition of the partial index that orders a state by its changes. */
  const ofIndex =
    reason === undefined ? "t.state <> 'pending'" : "t.state not in ('pending', 'retrying', 'settled')";
  const newest = states.map((each) => {
    if (each === 'pending') {
      const first = `t.next_at is not null${isQueue ? page : ''} order by ${queue} limit ${MAX_DUE}`;
      const due = `select t.* from inbox.transition t where t.account = $1 and ${first}`;
      const among = `${times}${isQueue ? '' : page} ${limit}`.replace(/\bt\./g, 'due.');
      return `select id, changed_at from (select due.* from (${due}) as due where due.state = 'pending'${among}) as pending`;
    }
    // In the statement itself, with the condition of the index, so that the planner can use it.
    const ofState = `and t.state = '${each}' and ${ofIndex}`;
    return `select id, changed_at from (${ofAccount} ${ofState}${because}${times}${page} ${limit}) as ${each}`;
  });
  if (newest.length === 0) return undefined;
  if (isQueue) return { found: newest.join(), order, values };
  const found = `select t.id, t.changed_at from (${newest.join(' union all ')}) as t ${limit}`;
  return { found, order, values };
}

/** The order of a list: by the last change, or by the first delivery. */
export function isListedByChange({ state, reason, since, until }: ListOptions): boolean {
  return [state, reason, since, until].some((each) => each !== undefined);
}
