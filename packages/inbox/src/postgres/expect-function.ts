import { referenceLock } from './reference-lock.ts';

/** The SQLSTATE of that refusal; of a class that is neither PostgreSQL's nor the SQL standard's. */
export const SNAPSHOT_REFUSED = 'PI001';

/**
 * Keeps an expectation, and wakes what was parked for want of it; in the merchant's transaction, when there is one.
 * The mirror of sqlite/expect.ts.
 *
 * Refuses a transaction whose snapshot is older than the lock: a transition that was parked meanwhile would not be seen,
 * and would wait for ever.
 */
export const expectFunction: string = `
create function S.expect(
  p_reference_key bytea, p_account text, p_merchant_reference text, p_currency text, p_amount text, p_compare text,
  p_deadline_at bigint, p_now bigint
) returns text language plpgsql as $expect$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'The transaction has a snapshot of its own.' using errcode = '${SNAPSHOT_REFUSED}';
  end if;
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform pg_advisory_xact_lock(${referenceLock('S', 'p_reference_key')});
  insert into S.expectation as e (reference_key, account, merchant_reference, currency, amount, compare, deadline_at,
    changed_at)
  values (p_reference_key, p_account, p_merchant_reference, p_currency, p_amount, p_compare, p_deadline_at, p_now)
  on conflict (reference_key) do update set currency = excluded.currency, amount = excluded.amount,
    compare = excluded.compare, deadline_at = excluded.deadline_at, changed_at = excluded.changed_at,
    revision = e.revision + 1
  where e.settled_by is null;
  if not found then
    perform 1 from S.expectation
    where reference_key = p_reference_key and currency = p_currency and amount = p_amount and compare = p_compare;
    return case when found then 'settled' else 'settled_otherwise' end;
  end if;
  update S.transition set state = 'pending', reason = null, next_at = p_now, changed_at = p_now,
    revision = revision + 1
  where reference_key = p_reference_key and ((state = 'unhandled' and reason = 'no_expectation')
    or state = 'conflict' or (state = 'quarantined' and reason = 'amount_mismatch'));
  return 'kept';
end
$expect$;`;
