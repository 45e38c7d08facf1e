/**
 * Keeps a group of deliveries in one statement, one round trip and one commit, and says for each what became of it.
 * The mirror of sqlite/intake.ts.
 *
 * The usual case touches one row of each table. A body that was not kept before takes the lock of its transition,
 * without waiting: one row that somebody holds would keep the whole group from being acknowledged.
 */
export const receiveFunction = `
create function S.receive(
  p_account text, p_transition_id bytea[], p_signed text[], p_reference_key bytea[], p_subject_key bytea[],
  p_completed integer[], p_digest bytea[], p_body bytea[], p_request_currency text[], p_request_amount text[],
  p_transaction_currency text[], p_transaction_amount text[], p_key_id text[], p_refusal text[],
  p_received_at bigint[], p_acknowledged integer[], p_most_bodies integer
) returns text language plpgsql as $receive$
declare
  outcomes text[] := '{}';
  outcome text;
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  for i in 1 .. cardinality(p_transition_id) loop
    insert into S.transition (transition_id, account, signed, reference_key, subject_key, completed, state, reason,
      bodies, next_at, first_at, changed_at)
    values (p_transition_id[i], p_account, p_signed[i], p_reference_key[i], p_subject_key[i], p_completed[i],
      case when p_refusal[i] is null then 'pending' else 'quarantined' end, p_refusal[i], 1, p_received_at[i],
      p_received_at[i], p_received_at[i])
    on conflict (transition_id) do nothing;
    if found then
      outcome := 'new';
    else
      update S.body set deliveries = deliveries + 1, last_at = p_received_at[i]
      where transition_id = p_transition_id[i] and digest = p_digest[i]
        and (refusal is null or p_refusal[i] is not null);
      if found then
        outcome := 'known';
      else
        outcome := S.admit(p_transition_id[i], p_completed[i], p_digest[i], p_request_currency[i],
          p_request_amount[i], p_transaction_currency[i], p_transaction_amount[i], p_refusal[i], p_received_at[i],
          p_acknowledged[i], p_most_bodies);
      end if;
    end if;
    if outcome in ('new', 'new_body') then
      insert into S.body (transition_id, digest, body, request_currency, request_amount, transaction_currency,
        transaction_amount, key_id, refusal, first_at, last_at)
      values (p_transition_id[i], p_digest[i], p_body[i], p_request_currency[i], p_request_amount[i],
        p_transaction_currency[i], p_transaction_amount[i], p_key_id[i], p_refusal[i], p_received_at[i],
        p_received_at[i])
      on conflict (transition_id, digest) do update
        set refusal = null, deliveries = S.body.deliveries + 1, last_at = excluded.last_at;
    end if;
    outcomes := outcomes || outcome;
  end loop;
  return array_to_string(outcomes, ',');
end
$receive$;

create function S.admit(
  p_transition_id bytea, p_completed integer, p_digest bytea, p_request_currency text, p_request_amount text,
  p_transaction_currency text, p_transaction_amount text, p_refusal text, p_received_at bigint,
  p_acknowledged integer, p_most_bodies integer
) returns text language plpgsql as $admit$
declare
  held record;
  is_known boolean;
begin
  select bodies, reference_key into held from S.transition where transition_id = p_transition_id for update nowait;
  select true into is_known from S.body where transition_id = p_transition_id and digest = p_digest;
  if is_known and p_refusal is not null then
    return 'known';
  end if;
  if is_known is null and held.bodies >= p_most_bodies and p_acknowledged = 0 and not exists (
    select 1 from S.expectation e
    where e.reference_key = held.reference_key
      and (e.compare = 'transaction' or (e.currency = p_request_currency and e.amount = p_request_amount))
      and (e.compare = 'request' or (e.currency = p_transaction_currency and e.amount = p_transaction_amount))
  ) then
    return 'full';
  end if;
  update S.transition set
    bodies = bodies + case when is_known is null then 1 else 0 end,
    revision = revision + 1,
    completed = greatest(completed, p_completed)
  where transition_id = p_transition_id;
  -- What was parked for want of this body is looked at again.
  if p_refusal is null then
    update S.transition set state = 'pending', reason = null, next_at = p_received_at, changed_at = p_received_at
    where transition_id = p_transition_id and (
      (state = 'unhandled' and reason = 'no_expectation') or state = 'conflict' or
      (state = 'quarantined' and reason not in ('crash_loop', 'transition_not_allowed', 'empty_reference')));
  end if;
  return 'new_body';
exception
  when lock_not_available then return 'busy';
end
$admit$;`;
