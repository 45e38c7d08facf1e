import type { CaseFile } from './case-file.ts';
import type { Settled } from './evaluation.ts';
import { fromHex, type Session } from './session.ts';
import type { Tables } from './tables.ts';
import type { TransitionReason, TransitionState } from './transition-state.ts';

/** Where and when an outcome is written: in the transaction of the handler. */
export interface OutcomeContext {
  readonly session: Session;
  readonly tables: Tables;
  readonly now: number;
}

/**
 * Marks a transition as applied. The conditions are what makes an effect happen once: whoever comes second, on
 * whatever machine and after whatever crash, changes no row, and rolls its effects back.
 *
 * @returns false when something has changed since the case was read.
 */
export async function markSettled(
  { id, referenceKey, subjectKey, signed }: CaseFile,
  applied: { readonly settled: Settled | undefined; readonly digest: string | undefined },
  { session, tables, now }: OutcomeContext,
): Promise<boolean> {
  // The expectation goes first, as in expect(): the same order of locks everywhere.
  if (applied.settled !== undefined) {
    const { currency, amount } = applied.settled;
    const expectation = await session.query(
      `update ${tables.expectation} set settled_by = $1, settled_at = $2
       where reference_key = $3 and currency = $4 and amount = $5 and (settled_by is null or settled_by = $1)`,
      [id, now, referenceKey, currency, amount],
    );
    if (expectation.rowCount !== 1) return false;
  }
  const transition = await session.query(
    `update ${tables.transition} set state = 'settled', reason = null, last_error = null, changed_at = $2,
       settled_digest = $3, waived = 0
     where transition_id = $1 and state in ('pending', 'retrying')`,
    [id, now, applied.digest === undefined ? null : fromHex(applied.digest)],
  );
  if (transition.rowCount !== 1) return false;
  await session.query(
    `insert into ${tables.applied} (subject_key, status, transition_id, applied_at) values ($1, $2, $3, $4)
     on conflict (subject_key) do update set status = excluded.status, transition_id = excluded.transition_id,
       applied_at = excluded.applied_at`,
    [subjectKey, JSON.stringify(signed.transaction_status), id, now],
  );
  await forgetStarts(id, { session, tables });
  return true;
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
