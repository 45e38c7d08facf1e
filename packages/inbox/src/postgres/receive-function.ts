/**
 * Keeps a group of deliveries in one statement, one round trip and one commit, and says for each what became of it.
 * The mirror of sqlite/intake.ts.
 *
 * First deliveries, the usual case, are written as one set; the others one by one. A body that was not kept before takes
 * the lock of its transition, without waiting: one row that somebody holds would keep the whole group from being
 * acknowledged. Transitions are written in the order of their ids, so that two groups cannot wait for each other.
 */
export const receiveFunction = `
create function S.receive(
  p_account text, p_transition_id bytea[], p_signed text[], p_reference_key bytea[], p_subject_key bytea[],
  p_completed integer[], p_digest bytea[], p_body bytea[], p_request_currency text[], p_request_amount text[],
  p_transaction_currency text[], p_transaction_amount text[], p_key_id text[], p_refusal text[],
  p_received_at bigint[], p_acknowledged integer[], p_most_bodies integer
) returns text language plpgsql as $receive$
declare
  outcomes text[] := array_fill('new'::text, array[cardinality(p_transition_id)]);
  others integer[];
  i integer;
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  with given as (
    select * from unnest(p_transition_id, p_signed, p_reference_key, p_subject_key, p_completed, p_digest, p_body,
        p_request_currency, p_request_amount, p_transaction_currency, p_transaction_amount, p_key_id, p_refusal,
        p_received_at)
      with ordinality as g (transition_id, signed, reference_key, subject_key, completed, digest, body,
        request_currency, request_amount, transaction_currency, transaction_amount, key_id, refusal, received_at, n)
  ), created as (
    insert into S.transition (transition_id, account, signed, reference_key, subject_key, completed, state, reason,
      bodies, next_at, first_at, changed_at)
    select distinct on (transition_id) transition_id, p_account, signed, reference_key, subject_key, completed,
      case when refusal is null then 'pending' else 'quarantined' end, refusal, 1, received_at, received_at, received_at
    from given order by transition_id, n
    on conflict (transition_id) do nothing
    returning id, transition_id
  ), firsts as (
    select min(n) as n, id from given join created using (transition_id) group by id
  ), kept as (
    insert into S.body (transition, digest, body, request_currency, request_amount, transaction_currency,
      transaction_amount, key_id, refusal, first_at, last_at)
    select id, digest, body, request_currency, request_amount, transaction_currency, transaction_amount,
      key_id, refusal, received_at, received_at
    from given join firsts using (n) order by id
  )
  select array_agg(n::integer order by transition_id, n) into others
  from given where n not in (select n from firsts);
  foreach i in array coalesce(others, '{}') loop
    outcomes[i] := S.receive_again(p_transition_id[i], p_completed[i], p_digest[i], p_body[i], p_request_currency[i],
      p_request_amount[i], p_transaction_currency[i], p_transaction_amount[i], p_key_id[i], p_refusal[i],
      p_received_at[i], p_acknowledged[i], p_most_bodies);
  end loop;
  return array_to_string(outcomes, ',');
end
$receive$;

create function S.receive_again(
  p_transition_id bytea, p_completed integer, p_digest bytea, p_body bytea, p_request_currency text,
  p_request_amount text, p_transaction_currency text, p_transaction_amount text, p_key_id text, p_refusal text,
  p_received_at bigint, p_acknowledged integer, p_most_bodies integer
) returns text language plpgsql as $receive_again$
declare
  known bigint;
  outcome text;
begin
  select id into known from S.transition where transition_id = p_transition_id;
  update S.body set deliveries = deliveries + 1, last_at = p_received_at
  where transition = known and digest = p_digest and (refusal is null or p_refusal is not null);
  if found then
    return 'known';
  end if;
  outcome := S.admit(known, p_completed, p_digest, p_request_currency, p_request_amount,
    p_transaction_currency, p_transaction_amount, p_refusal, p_received_at, p_acknowledged, p_most_bodies);
  if outcome = 'new_body' then
    insert into S.body (transition, digest, body, request_currency, request_amount, transaction_currency,
      transaction_amount, key_id, refusal, first_at, last_at)
    values (known, p_digest, p_body, p_request_currency, p_request_amount, p_transaction_currency,
      p_transaction_amount, p_key_id, p_refusal, p_received_at, p_received_at)
    on conflict (transition, digest) do update
      set refusal = null, deliveries = S.body.deliveries + 1, last_at = excluded.last_at;
  end if;
  return outcome;
end
$receive_again$;

create function S.admit(
  p_transition bigint, p_completed integer, p_digest bytea, p_request_currency text, p_request_amount text,
  p_transaction_currency text, p_transaction_amount text, p_refusal text, p_received_at bigint,
  p_acknowledged integer, p_most_bodies integer
) returns text language plpgsql as $admit$
declare
  held record;
  is_known boolean;
begin
  select bodies, reference_key into held from S.transition where id = p_transition for update nowait;
  select true into is_known from S.body where transition = p_transition and digest = p_digest;
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
  where id = p_transition;
  -- What was parked for want of this body is looked at again.
  if p_refusal is null then
    update S.transition set state = 'pending', reason = null, next_at = p_received_at, changed_at = p_received_at
    where id = p_transition and (
      (state = 'unhandled' and reason = 'no_expectation') or state = 'conflict' or
      (state = 'quarantined' and reason not in ('crash_loop', 'transition_not_allowed', 'empty_reference')));
  end if;
  return 'new_body';
exception
  when lock_not_available then return 'busy';
end
$admit$;`;
