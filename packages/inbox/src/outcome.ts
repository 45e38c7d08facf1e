import type { CaseFile } from './case-file.ts';
import type { Session } from './session.ts';
import type { Tables } from './tables.ts';
import type { TransitionReason } from './transition-state.ts';

type Next = { readonly at: number } | { readonly reason: TransitionReason };

/** Where and when an outcome is written. */
export interface OutcomeContext {
  readonly session: Session;
  readonly tables: Tables;
  readonly now: number;
}

/** @param failed.next when to try again, or why not. */
export async function markFailed(
  { id, attempts }: Pick<CaseFile, 'id' | 'attempts'>,
  { error, next }: { readonly error: string; readonly next: Next },
  { session, tables, now }: OutcomeContext,
): Promise<boolean> {
  const marked = await session.query(
    `update ${tables.transition} set state = $2, reason = $3, attempts = attempts + 1, next_at = $4, last_error = $5,
       changed_at = $6
     where transition_id = $1 and attempts = $7 and state in ('pending', 'retrying')`,
    [
      id,
      'at' in next ? 'retrying' : 'dead',
      'at' in next ? null : next.reason,
      'at' in next ? next.at : now,
      error,
      now,
      attempts,
    ],
  );
  return marked.rowCount === 1;
}
