/**
 * Keeps a group of deliveries in one call, one round trip and one commit, and says for each what became of it.
 * The mirror of sqlite/intake.ts.
 *
 * `p_bytes` holds for each delivery, from its offset on, four keys of 32 bytes (transition, reference, subject, digest of
 * the body) and the body: see packed-bytes.ts. The deliveries come in the order of their transitions' keys
 * and digests, so that two groups cannot wait for each other.
 *
 * First deliveries, the usual case, are written as one set; the others one by one. A body that was not kept before takes
 * the lock of its transition, without waiting: one row that somebody holds would keep the whole group from being
 * acknowledged. What has to be waited for, a lock of a table say, is given up on the server when the sender is given up: a
 * statement that nobody waits for any more would keep its connection.
 */
export const receiveFunction = `
create function S.receive(
  p_account text, p_bytes bytea, p_offset integer[], p_length integer[], p_signed text[], p_completed integer[],
  p_request_currency text[], p_request_amount text[], p_transaction_currency text[], p_transaction_amount text[],
  p_key_id text[], p_refusal text[], p_received_at bigint[], p_max_bodies integer[], p_lock_timeout_ms integer
) returns text language plpgsql as $receive$
declare
  count integer := cardinality(p_offset);
  outcomes text[] := array_fill('new'::text, array[count]);
  created_keys bytea[];
  created_ids bigint[];
  ids bigint[];
  created integer := 1;
begin
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  with created as (
    insert into S.transition (transition_id, account, signed, reference_key, subject_key, completed, state, reason,
      bodies, next_at, first_at, changed_at)
    select substring(p_bytes from at + 1 for 32), p_account, signed, substring(p_bytes from at + 33 for 32),
      substring(p_bytes from at + 65 for 32), completed,
      case when refusal is null then 'pending' else 'quarantined' end, refusal, 1, received_at, received_at, received_at
    from unnest(p_offset, p_signed, p_completed, p_refusal, p_received_at)
      as g (at, signed, completed, refusal, received_at)
    on conflict (transition_id) do nothing
    returning id, transition_id
  )
  select array_agg(id), array_agg(transition_id) into created_ids, created_keys from created;
  if cardinality(created_ids) = count then
    ids := created_ids;
  else
    -- What was created comes in the order in which it was given: the first delivery of a transition is the next one created.
    ids := array_fill(null::bigint, array[count]);
    for i in 1..count loop
      if created_keys[created] = substring(p_bytes from p_offset[i] + 1 for 32) then
        ids[i] := created_ids[created];
        created := created + 1;
      end if;
    end loop;
  end if;
  insert into S.body (transition, digest, body, request_currency, request_amount, transaction_currency,
    transaction_amount, key_id, refusal, first_at, last_at)
  select id, substring(p_bytes from at + 97 for 32), substring(p_bytes from at + 129 for size), request_currency,
    request_amount, transaction_currency, transaction_amount, key_id, refusal, received_at, received_at
  from unnest(ids, p_offset, p_length, p_request_currency, p_request_amount, p_transaction_currency,
      p_transaction_amount, p_key_id, p_refusal, p_received_at)
    as g (id, at, size, request_currency, request_amount, transaction_currency, transaction_amount, key_id, refusal,
      received_at)
  where id is not null;
  for i in 1..count loop
    if ids[i] is null then
      outcomes[i] := S.receive_again(substring(p_bytes from p_offset[i] + 1 for 32), p_completed[i],
        substring(p_bytes from p_offset[i] + 97 for 32), substring(p_bytes from p_offset[i] + 129 for p_length[i]),
        p_request_currency[i], p_request_amount[i], p_transaction_currency[i], p_transaction_amount[i], p_key_id[i],
        p_refusal[i], p_received_at[i], p_max_bodies[i]);
    end if;
  end loop;
  return array_to_string(outcomes, ',');
end
$receive$;

create function S.receive_again(
  p_transition_id bytea, p_completed integer, p_digest bytea, p_body bytea, p_request_currency text,
  p_request_amount text, p_transaction_currency text, p_transaction_amount text, p_key_id text, p_refusal text,
  p_received_at bigint, p_max_bodies integer
) returns text language plpgsql as $receive_again$
declare
  known bigint;
  outcome text;
begin
  select id into known from S.transition where transition_id = p_transition_id;
  update S.body set deliveries = least(deliveries, 2147483646) + 1, last_at = p_received_at
  where transition = known and digest = p_digest and (refusal is null or p_refusal is not null);
  if found then
    return 'known';
  end if;
  outcome := S.admit(known, p_completed, p_digest, p_refusal, p_received_at, p_max_bodies);
  if outcome = 'new_body' then
    insert into S.body (transition, digest, body, request_currency, request_amount, transaction_currency,
      transaction_amount, key_id, refusal, first_at, last_at)
    values (known, p_digest, p_body, p_request_currency, p_request_amount, p_transaction_currency,
      p_transaction_amount, p_key_id, p_refusal, p_received_at, p_received_at)
    on conflict (transition, digest) do update
      set refusal = null, deliveries = least(S.body.deliveries, 2147483646) + 1, last_at = excluded.last_at;
  end if;
  return outcome;
end
$receive_again$;

create function S.admit(
  p_transition bigint, p_completed integer, p_digest bytea, p_refusal text, p_received_at bigint, p_max_bodies integer
) returns text language plpgsql as $admit$
declare
  is_known boolean;
begin
  perform 1 from S.transition where id = p_transition for update nowait;
  select true into is_known from S.body where transition = p_transition and digest = p_digest;
  if is_known and p_refusal is not null then
    return 'known';
  end if;
  if is_known is null and p_max_bodies <= (
    -- Apart: evidence does not keep a callback out.
    select count(*) from S.body where transition = p_transition and (refusal is null) = (p_refusal is null)
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
