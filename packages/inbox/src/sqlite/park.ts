import type { Parking, ParkingOutcome } from '../parking.ts';
import type { SqliteConnection } from './connection.ts';
import { tables } from './sqlite-tables.ts';

/** The mirror of postgres/park-function.ts. Nothing can have changed: the lane has been the one writer all along. */
export function park(connection: SqliteConnection, parking: Parking): ParkingOutcome {
  const { transitionId, state, reason, revision, now } = parking;
  const parked = connection.query(
    `update ${tables.transition} set state = $2, reason = $3, changed_at = $4
     where transition_id = $1 and revision = $5 and state in ('pending', 'retrying')`,
    { $1: transitionId, $2: state, $3: reason, $4: now, $5: revision },
  );
  if (parked.rowCount !== 1) return 'changed';
  connection.query(`delete from ${tables.start} where transition_id = $1`, { $1: transitionId });
  return 'parked';
}
