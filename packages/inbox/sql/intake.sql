-- name: keep_firsts (postgres, prepared)
-- First deliveries, due immediately, each with its body. Returns the new ones. An existing transition is skipped before the
-- insert meets its row, where it would wait for the transaction that changes it; so is an archived one, unless isArchived says
-- to keep the record beside the archive. Their number is a new row of tally: a row that every group updated would grow a chain
-- of versions under an old snapshot.
with given as materialized (select value from {records: $1}),
created as (
  insert into inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  select value ->> 'transitionId', value ->> 'account', value ->> 'signed', value ->> 'referenceKey',
    value ->> 'transactionType', value ->> 'subjectKey', {now}
  from given where (select c.id from inbox.callback c where c.transition_id = value ->> 'transitionId') is null
    and (value ->> 'isArchived' is not null or (select a.id from inbox.archive a
      where a.transition = cast(value ->> 'archiveKey' as bigint) and a.internal_reference = value ->> 'internalReference'
      limit 1) is null)
  on conflict (transition_id) do nothing
  returning id, transition_id, account
), begun as (
  insert into inbox.transition (id, account, state, reason, bodies, next_at, changed_at)
  select created.id, value ->> 'account', case when value ->> 'refusal' is null then 'pending' else 'quarantined' end,
    value ->> 'refusal', 1, case when value ->> 'isDue' is not null then {now} end, {now}
  from given join created on created.transition_id = value ->> 'transitionId'
), kept as (
  insert into inbox.body (transition, digest, content, claims, key_id, refusal, first_at, traceparent, provider)
  select created.id, value ->> 'digest', value ->> 'content', value ->> 'claims', value ->> 'keyId', value ->> 'refusal',
    {now}, value ->> 'traceparent', value ->> 'provider'
  from given join created on created.transition_id = value ->> 'transitionId'
), counted as (
  insert into inbox.tally (account, total) select account, count(*) from created group by account
)
select transition_id from created

-- name: keep_firsts (sqlite, each)
-- The same for each record, whose members are the values. What follows runs where the first statement has inserted a row.
insert into inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
select $transitionId, $account, $signed, $referenceKey, $transactionType, $subjectKey, {now}
where $isArchived is not null
  or not exists (select a.id from inbox.archive a where a.transition = cast($archiveKey as integer)
    and a.internal_reference = $internalReference)
on conflict (transition_id) do nothing
returning transition_id;
insert into inbox.transition (id, account, state, reason, bodies, next_at, changed_at)
values (last_insert_rowid(), $account, case when $refusal is null then 'pending' else 'quarantined' end, $refusal, 1,
  case when $isDue is not null then {now} end, {now});
insert into inbox.body (transition, digest, content, claims, key_id, refusal, first_at, traceparent, provider)
values (last_insert_rowid(), $digest, $content, $claims, $keyId, $refusal, {now}, $traceparent, $provider);
insert into inbox.tally (account, total) values ($account, 1)
on conflict (account) do update set total = total + 1

-- name: keep_body
-- What was evidence becomes a callback when the same body verifies.
insert into inbox.body (transition, digest, content, claims, key_id, refusal, first_at, traceparent, provider)
select cast(value ->> 'id' as bigint), value ->> 'digest', value ->> 'content', value ->> 'claims', value ->> 'keyId',
  value ->> 'refusal', {now}, value ->> 'traceparent', value ->> 'provider'
from {records: $1}
where true
on conflict (transition, digest) do update set refusal = null

-- name: find_known
-- For deliveries of known transitions: whether the body is also known, and as what; and whether the transition is free, which
-- is then locked until the transaction ends. SQLite has only one writer.
select c.id, c.transition_id, value ->> 'digest' as digest, b.transition as body, b.refusal,
  {postgres: pg_try_advisory_xact_lock(hashtextextended('inbox.transition ' || c.transition_id, 0))}{sqlite: true} as is_free
from {records: $1}
join inbox.callback c on c.transition_id = value ->> 'transitionId'
left join inbox.body b on b.transition = c.id and b.digest = value ->> 'digest'

-- name: count_deliveries
-- Separate from the bodies, which are large, so that a repetition writes only a few bytes. No row for a transition that was
-- archived meanwhile.
insert into inbox.delivery as d (transition, digest, repeats, last_at)
select t.id, value ->> 'digest', cast(value ->> 'repeats' as integer), {now}
from {records: $1}
join inbox.transition t on t.id = cast(value ->> 'id' as bigint)
where true
on conflict (transition, digest) do update set repeats = d.repeats + excluded.repeats, last_at = excluded.last_at

-- name: lock_transition
-- No row if it is locked.
select id from inbox.transition where id = $1{postgres:  for update skip locked}

-- name: count_body
-- $3 is 1 for a callback: a transition that waits for another body is rechecked.
update inbox.transition set bodies = bodies + cast($2 as integer), revision = revision + 1, looks = 0,
  next_at = case when cast($3 as integer) = 1 and state in ('unhandled', 'conflict', 'quarantined')
    and reason not in ({final reasons}) then {now}
    else next_at end
where id = $1

-- name: count_refused_bodies
update inbox.transition set refused_bodies = refused_bodies + cast($2 as integer) where id = $1

-- name: limit_statements (postgres)
-- For this transaction only: the server gives up before the sender of the callback times out.
select set_config('lock_timeout', $1, true), set_config('statement_timeout', $1, true),
  set_config('idle_in_transaction_session_timeout', $1, true)

-- name: notify (postgres, prepared)
-- Some libraries cannot read the type void.
select 1 as told from pg_notify('payment_inbox', $1)
