import { numberOf, type Session, textOf } from './session.ts';
import type { Tables } from './tables.ts';
import { TRANSITION_STATES, type TransitionState } from './transition-state.ts';

/** How many transitions are in each state, and what waits. */
export interface InboxStats {
  readonly states: Readonly<Record<TransitionState, number>>;
  /** How long the oldest transition that is due has waited for a worker, in seconds; 0 when none is due. */
  readonly oldestDueSeconds: number;
  /** Expectations past their deadline and unsettled. */
  readonly overdue: number;
  /** Deliveries in the spool of this process, not handed over yet. */
  readonly spooled: number;
}

export type HealthProblem =
  | 'store_unavailable'
  | 'oldest_due_too_old'
  | 'spool_unavailable'
  | 'spool_not_drained';

/** What `health()` found. */
export interface InboxHealth {
  readonly ok: boolean;
  readonly problems: readonly HealthProblem[];
  /** In seconds; undefined when the store does not answer. */
  readonly oldestDueSeconds: number | undefined;
  /** Undefined when the spool does not answer. */
  readonly spooled: number | undefined;
}

/** An expectation whose callback has not come in time. */
export interface OverdueExpectation {
  readonly merchant_reference: string;
  readonly currency: string;
  readonly amount: string;
  readonly deadline: Date;
}

export interface FigureContext {
  readonly session: Session;
  readonly tables: Tables;
  readonly account: string;
  readonly now: number;
}

export async function countStates({
  session,
  tables,
  account,
}: FigureContext): Promise<InboxStats['states']> {
  const { rows } = await session.query(
    `select state, count(*) as count from ${tables.transition} where account = $1 group by state`,
    [account],
  );
  const counted = new Map(rows.map((row) => [textOf(row, 'state'), numberOf(row, 'count')]));
  return Object.fromEntries(TRANSITION_STATES.map((state) => [state, counted.get(state) ?? 0])) as Record<
    TransitionState,
    number
  >;
}

/** From the moment when it became due: a transition that waits for its next attempt is not late. */
export async function oldestDueSeconds({ session, tables, account, now }: FigureContext): Promise<number> {
  const { rows } = await session.query(
    `select next_at from ${tables.transition}
     where account = $1 and state in ('pending', 'retrying') order by next_at, id limit 1`,
    [account],
  );
  return rows[0] === undefined ? 0 : Math.max(0, (now - numberOf(rows[0], 'next_at')) / 1000);
}

export async function countOverdue({ session, tables, account, now }: FigureContext): Promise<number> {
  const { rows } = await session.query(
    `select count(*) as count from ${tables.expectation}
     where account = $1 and settled_by is null and deadline_at < $2`,
    [account, now],
  );
  return numberOf(rows[0] ?? {}, 'count');
}

/** The longest overdue first. */
export async function overdueExpectations(
  { session, tables, account, now }: FigureContext,
  limit: number,
): Promise<OverdueExpectation[]> {
  const { rows } = await session.query(
    `select merchant_reference, currency, amount, deadline_at from ${tables.expectation}
     where account = $1 and settled_by is null and deadline_at < $2 order by deadline_at limit $3`,
    [account, now, limit],
  );
  return rows.map((row) => ({
    merchant_reference: textOf(row, 'merchant_reference'),
    currency: textOf(row, 'currency'),
    amount: textOf(row, 'amount'),
    deadline: new Date(numberOf(row, 'deadline_at')),
  }));
}
