import { referenceLock } from './reference-lock.ts';

/**
 * Parks a transition, which leaves it for others to wake: expect() does. So it is decided under the lock of the
 * reference, which expect() holds until its transaction ends: either that one is seen here, or it sees what is parked.
 */
export const parkFunction: string = `
create function S.park(
  p_transition_id bytea, p_reference_key bytea, p_state text, p_reason text, p_revision integer,
  p_expectation_revision integer, p_now bigint, p_postponed_to bigint
) returns text language plpgsql as $park$
begin
  if not pg_try_advisory_xact_lock(${referenceLock('S', 'p_reference_key')}) then
    update S.transition set next_at = p_postponed_to
    where transition_id = p_transition_id and state in ('pending', 'retrying');
    return 'postponed';
  end if;
  if coalesce((select revision from S.expectation where reference_key = p_reference_key), 0)
    <> p_expectation_revision
  then
    return 'changed';
  end if;
  update S.transition set state = p_state, reason = p_reason, changed_at = p_now
  where transition_id = p_transition_id and revision = p_revision and state in ('pending', 'retrying');
  if not found then
    return 'changed';
  end if;
  delete from S.start where transition_id = p_transition_id;
  return 'parked';
end
$park$;`;
