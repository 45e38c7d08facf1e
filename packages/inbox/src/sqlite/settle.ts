import type { Settlement } from '../settlement.ts';
import type { SqliteConnection } from './connection.ts';
import { tables } from './sqlite-tables.ts';

/** The mirror of postgres/settle-function.ts; see there. */
export function settle(connection: SqliteConnection, settlement: Settlement): boolean {
  const { transitionId, referenceKey, subjectKey, status, settled, digest = null, now } = settlement;
  if (settled !== undefined) {
    const expectation = connection.query(
      `update ${tables.expectation} set settled_by = $1, settled_at = $2
       where reference_key = $3 and currency = $4 and amount = $5 and compare = $6
         and (settled_by is null or settled_by = $1)`,
      {
        $1: transitionId,
        $2: now,
        $3: referenceKey,
        $4: settled.currency,
        $5: settled.amount,
        $6: settled.compare,
      },
    );
    if (expectation.rowCount !== 1) return false;
  }
  const transition = connection.query(
    `update ${tables.transition} set state = 'settled', reason = null, last_error = null, changed_at = $2,
       settled_digest = $3, waived = 0
     where transition_id = $1 and state in ('pending', 'retrying')`,
    { $1: transitionId, $2: now, $3: digest },
  );
  if (transition.rowCount !== 1) return false;
  connection.query(
    `insert into ${tables.applied} (subject_key, status, transition_id, applied_at) values ($1, $2, $3, $4)
     on conflict (subject_key) do update set status = excluded.status, transition_id = excluded.transition_id,
       applied_at = excluded.applied_at`,
    { $1: subjectKey, $2: status, $3: transitionId, $4: now },
  );
  connection.query(`delete from ${tables.start} where transition_id = $1`, { $1: transitionId });
  return true;
}
