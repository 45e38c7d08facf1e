import type { OptionRules } from '@payment-service/core/internal';
import { referenceKey, subjectKey } from '../delivery/stored-delivery.ts';
import { DATE, STRING, wholeNumber } from '../option-rules.ts';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import { numberOf, type Row, type SqlValue } from '../store/store.ts';
import type { Archived } from '../verdict/archived.ts';
import type { WorkContext } from '../work/attempt/attempt-stages.ts';

/** What the filters of payments and of reports have in common. */
export interface ListFilter {
  /** Only those that have this reason, such as `amount_mismatch`. @default all */
  readonly reason?: TransitionReason | undefined;
  /** Changed at or after this moment. @default the first change */
  readonly since?: Date | undefined;
  /** Changed before this moment. @default now */
  readonly until?: Date | undefined;
  /** The size of a page, at most 1000. @default 50 */
  readonly limit?: number | undefined;
  /**
   * Where the previous page ended: its `next`, or, for reports, its last transitionId. The other options must be the same.
   * @default the first page
   */
  readonly after?: string | undefined;
}

export const LIST_RULES: OptionRules<ListFilter> = {
  reason: STRING,
  since: DATE,
  until: DATE,
  limit: wholeNumber(1000),
  after: STRING,
};

/** Which reports a list contains. */
export interface ListOptions extends ListFilter {
  /** @default all states */
  readonly state?: TransitionState | undefined;
  /** Exactly this signed field. */
  readonly merchant_reference?: string | undefined;
  /** Exactly this signed field. */
  readonly internal_reference?: string | undefined;
}

type Searched = ListOptions & { readonly transitionId?: string | undefined };

const LAST = Number.MAX_SAFE_INTEGER;

/**
 * Reads the page by an index, however much was settled before: one kind of the statement after another, each no further back than
 * the page that is found by then.
 *
 * @param mark The last report of the page before.
 */
export async function readTransitions<Tx>(
  { statements, settings: { account } }: Pick<WorkContext<Tx>, 'statements' | 'settings'>,
  options: Searched,
  mark?: Pick<Archived, 'id' | 'changedAt'> & { readonly dueAt: number },
  tx?: Tx,
): Promise<readonly Row[]> {
  const { limit = 50, until } = options;
  const { id = LAST, changedAt = LAST } = mark ?? {};
  const last = isListedByChange(options) ? [Number(changedAt), id] : [id, id];
  let since = options.since?.getTime() ?? 0;
  const rows: Row[] = [];
  for (const [kind, ...own] of kindsOf(options, account)) {
    // What is due first comes first, so that its places are negative.
    const place = kind === 'due' && mark !== undefined ? [-mark.dueAt, -id] : last;
    const values = [account, limit, since, until?.getTime() ?? LAST, ...place, ...own];
    rows.push(...(await statements.run(`list_transitions of ${kind}`, values, tx)));
    const times = rows.map((row) => numberOf(row, 'changed_at')).toSorted((one, other) => other - one);
    since = Math.max(since, times[limit - 1] ?? 0);
  }
  return rows;
}

/** The kinds of the statement that find such reports, each with its own values. */
function kindsOf(
  options: Searched,
  account: string,
): readonly (readonly [kind: string, ...own: SqlValue[]])[] {
  const { transitionId, merchant_reference, internal_reference, state, reason } = options;
  const isByChange = isListedByChange(options);
  if ([transitionId, merchant_reference, internal_reference].some((each) => each !== undefined)) {
    const reference = merchant_reference === undefined ? null : referenceKey(merchant_reference, account);
    const subject = internal_reference === undefined ? null : subjectKey(internal_reference, account);
    return [
      ['key', transitionId ?? null, reference, subject, state ?? null, reason ?? null, isByChange ? 1 : 0],
    ];
  }
  if (!isByChange) return [['newest']];
  if (reason !== undefined) return [['reason', reason, state ?? null]];
  if (state === 'pending') return [['due']];
  // Most are settled: as far back as a page has these, it has the others.
  return [...new Set<TransitionState>(['settled', ...TRANSITION_STATES])]
    .filter((each) => each === (state ?? each))
    .map((each) => (each === 'pending' ? ['pending'] : ['state', each]));
}

/** The order of a list: by the last change, or by the first delivery. */
export function isListedByChange({ state, reason, since, until }: ListOptions): boolean {
  return [state, reason, since, until].some((each) => each !== undefined);
}
