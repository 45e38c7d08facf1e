import type { CaseFile } from './case-file.ts';
import type { Session } from './session.ts';
import type { Tables } from './tables.ts';

/** Where and when an outcome is written. */
export interface OutcomeContext {
  readonly session: Session;
  readonly tables: Tables;
  readonly now: number;
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
