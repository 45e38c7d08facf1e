import type { Session } from '../session.ts';
import { tables } from './sqlite-tables.ts';

/** Whether a transition still waits for work, now that the write lock is held. */
export async function isDue(session: Session, transitionId: Uint8Array, now: number): Promise<boolean> {
  const { rows } = await session.query(
    `select 1 as due from ${tables.transition}
     where transition_id = $1 and state in ('pending', 'retrying') and next_at <= $2`,
    [transitionId, now],
  );
  return rows.length === 1;
}
