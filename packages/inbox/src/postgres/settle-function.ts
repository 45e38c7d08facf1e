/**
 * Marks a transition as applied, in the transaction of its handler. The conditions are what makes an effect happen once:
 * whoever comes second, on whatever machine and after whatever crash, finds them false, and rolls its effects back. They
 * hold against a changed expectation and a person's decision as well.
 *
 * The expectation goes first, as in expect(): the same order of locks everywhere.
 */
export const settleFunction = `
create function S.settle(
  p_transition_id bytea, p_reference_key bytea, p_subject_key bytea, p_status text, p_currency text, p_amount text,
  p_compare text, p_digest bytea, p_now bigint
) returns boolean language plpgsql as $settle$
begin
  if p_currency is not null then
    update S.expectation set settled_by = p_transition_id, settled_at = p_now
    where reference_key = p_reference_key and currency = p_currency and amount = p_amount and compare = p_compare
      and (settled_by is null or settled_by = p_transition_id);
    if not found then
      return false;
    end if;
  end if;
  update S.transition set state = 'settled', reason = null, last_error = null, changed_at = p_now,
    settled_digest = p_digest, waived = 0
  where transition_id = p_transition_id and state in ('pending', 'retrying');
  if not found then
    return false;
  end if;
  insert into S.applied as a (subject_key, status, transition_id, applied_at)
  values (p_subject_key, p_status, p_transition_id, p_now)
  on conflict (subject_key) do update set status = excluded.status, transition_id = excluded.transition_id,
    applied_at = excluded.applied_at;
  delete from S.start where transition_id = p_transition_id;
  return true;
end
$settle$;`;
