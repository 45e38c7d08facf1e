import type { CaseFile } from './case-file.ts';
import type { Session } from './session.ts';
import type { Tables } from './tables.ts';
import type { TransitionReason, TransitionState } from './transition-state.ts';

/** Where and when an outcome is written: in the transaction of the handler. */
export interface OutcomeContext {
  readonly session: Session;
  readonly tables: Tables;
  readonly now: number;
}

/** @returns false when a body or an expectation came since the case was read. */
export async function markParked(
  { id, revision }: CaseFile,
  { state, reason }: { readonly state: TransitionState; readonly reason: TransitionReason },
  { session, tables, now }: OutcomeContext,
): Promise<boolean> {
  const parked = await session.query(
    `update ${tables.transition} set state = $2, reason = $3, changed_at = $4
     where transition_id = $1 and revision = $5 and state in ('pending', 'retrying')`,
    [id, state, reason, now, revision],
  );
  if (parked.rowCount !== 1) return false;
  await forgetStarts(id, { session, tables });
  return true;
}

/** @param failed.nextAt when to try again; undefined after the last attempt. */
export async function markFailed(
  { id, attempts }: Pick<CaseFile, 'id' | 'attempts'>,
  failed: { readonly error: string; readonly nextAt: number | undefined },
  { session, tables, now }: OutcomeContext,
): Promise<boolean> {
  const isDead = failed.nextAt === undefined;
  const marked = await session.query(
    `update ${tables.transition} set state = $2, reason = $3, attempts = attempts + 1, next_at = $4, last_error = $5,
       changed_at = $6
     where transition_id = $1 and attempts = $7 and state in ('pending', 'retrying')`,
    [
      id,
      isDead ? 'dead' : 'retrying',
      isDead ? 'attempts_used_up' : null,
      failed.nextAt ?? now,
      failed.error,
      now,
      attempts,
    ],
  );
  return marked.rowCount === 1;
}

/** Somebody is changing the expectation: looked at again in a moment, without counting an attempt. */
export async function postpone(
  id: Uint8Array,
  until: number,
  { session, tables }: OutcomeContext,
): Promise<void> {
  await session.query(
    `update ${tables.transition} set next_at = $2 where transition_id = $1 and state in ('pending', 'retrying')`,
    [id, until],
  );
}

async function forgetStarts(
  id: Uint8Array,
  { session, tables }: Pick<OutcomeContext, 'session' | 'tables'>,
): Promise<void> {
  await session.query(`delete from ${tables.start} where transition_id = $1`, [id]);
}
