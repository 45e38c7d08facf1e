-- name: keep_firsts
-- First deliveries, due immediately, each with its body. Returns the new ones. A transition that is there already is left out
-- before the insert meets its row, where it would wait for whoever changes it.
/* prepared */ {first} insert into inbox.transition (transition_id, account, signed, reference_key, transaction_type, subject_key, state,
  reason, bodies, next_at, first_at, changed_at)
select value ->> 'transitionId', value ->> 'account', value ->> 'signed', value ->> 'referenceKey',
  value ->> 'transactionType', value ->> 'subjectKey',
  case when value ->> 'refusal' is null then 'pending' else 'quarantined' end, value ->> 'refusal', 1,
  case when value ->> 'refusal' is null then {now} end, {now}, {now}
from {given} where (select t.id from inbox.transition t where t.transition_id = value ->> 'transitionId') is null
on conflict (transition_id) do nothing
returning id, transition_id
{also} insert into inbox.body (transition, digest, content, claims, key_id, refusal, first_at)
select {created_id}, value ->> 'digest', value ->> 'content', value ->> 'claims', value ->> 'keyId', value ->> 'refusal', {now}
from {given} {last}

-- name: keep_body
-- What was evidence becomes a callback when the same body verifies.
insert into inbox.body (transition, digest, content, claims, key_id, refusal, first_at)
select cast(value ->> 'id' as bigint), value ->> 'digest', value ->> 'content', value ->> 'claims', value ->> 'keyId',
  value ->> 'refusal', {now}
from {given} where true
on conflict (transition, digest) do update set refusal = null

-- name: find_known
-- For deliveries of known transitions: whether the body is known as well, and as what; and whether no other receiver works
-- on the transition, which is then this one's until the transaction ends.
select t.id, t.transition_id, value ->> 'digest' as digest, b.transition as body, b.refusal, {try_keep} as is_free
from {given}
join inbox.transition t on t.transition_id = value ->> 'transitionId'
left join inbox.body b on b.transition = t.id and b.digest = value ->> 'digest'

-- name: count_deliveries
-- Apart from the bodies, which are large: a repetition writes a few bytes.
insert into inbox.delivery as d (transition, digest, repeats, last_at)
select cast(value ->> 'id' as bigint), value ->> 'digest', cast(value ->> 'repeats' as integer), {now}
from {given} where true
on conflict (transition, digest) do update set repeats = d.repeats + excluded.repeats, last_at = excluded.last_at

-- name: lock_transition
-- Nothing when it is locked.
select id from inbox.transition where id = $1 {try_for_update}

-- name: count_body
-- $3 is 1 for a callback: what waits for another body is looked at again.
update inbox.transition set bodies = bodies + cast($2 as integer), revision = revision + 1, looks = 0,
  next_at = case when cast($3 as integer) = 1 and state in ('unhandled', 'conflict', 'quarantined')
    and reason not in ('no_handler', 'empty_reference', 'transition_not_allowed', 'paid_by_another', 'crash_loop') then {now}
    else next_at end
where id = $1

-- name: count_refused_bodies
update inbox.transition set refused_bodies = refused_bodies + cast($2 as integer) where id = $1
