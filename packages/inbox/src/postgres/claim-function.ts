/**
 * Finds the next due transition that nobody else works on, and keeps others from it until the transaction ends:
 * - by its internal_reference, so that transitions of one transaction are worked on one after the other;
 * - by its merchant_reference, so that no two transitions are applied for one expectation at the same time.
 *
 * Locks are advisory and tried, never waited for. What is found busy is not tried again in this search: thousands of due
 * transitions of one reference cost one lock, not one each, of a table of locks that all of the server's clients share. The row itself stays free: a duplicate that arrives while the handler
 * runs is counted and acknowledged at once. What makes an effect happen once is the conditional update that settles.
 * Rows are visited lazily and looked at again once their locks are held, each time in a snapshot of its own.
 */
export const claimFunction = `
create function S.claim(p_account text, p_now bigint) returns bytea language plpgsql as $claim$
declare
  due record;
  busy_references bytea[] := array[]::bytea[];
  busy_subjects bytea[] := array[]::bytea[];
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  for due in
    select transition_id, subject_key, reference_key from S.transition
    where account = p_account and state in ('pending', 'retrying') and next_at <= p_now
    order by next_at, id
  loop
    continue when due.reference_key = any (busy_references) or due.subject_key = any (busy_subjects);
    begin
      if not pg_try_advisory_xact_lock(hashtextextended('S.' || encode(due.reference_key, 'hex'), 2)) then
        busy_references := busy_references || due.reference_key;
      elsif not pg_try_advisory_xact_lock(hashtextextended('S.' || encode(due.subject_key, 'hex'), 1)) then
        busy_subjects := busy_subjects || due.subject_key;
      else
        perform 1 from S.transition
        where transition_id = due.transition_id and state in ('pending', 'retrying') and next_at <= p_now;
        if found then
          return due.transition_id;
        end if;
      end if;
      raise sqlstate 'PI002';
    exception when sqlstate 'PI002' then
      -- Gives back the one lock that was had: nobody else shall wait for a transition that is not worked on here.
      null;
    end;
  end loop;
  return null;
end
$claim$;`;
