-- name: find_due
-- At most 50 entries of the index transition_due, from a mark on.
select id, next_at, subject_key, attempts, unfinished from inbox.transition
where account = $1 and next_at is not null and (next_at, id) > (cast($2 as bigint), cast($3 as bigint))
  and next_at <= {now}
order by next_at, id limit 50

-- name: start_attempt
-- Committed before the handler runs. Nothing is started while another process works on the same internal_reference.
-- $4 identifies this start: only its owner takes it back, settles, parks or fails it.
update inbox.transition set attempts = attempts + 1, unfinished = unfinished + 1, next_at = {now} + cast($3 as bigint),
  start_id = $4
where id = $1 and next_at = cast($2 as bigint) and {try_lock}
returning attempts, last_error

-- name: read_case
select t.transition_id, t.signed, t.start_id, t.unfinished, t.looks, t.waived, t.revision, b.digest, b.claims, b.refusal,
  e.currency, e.amount, e.compare, e.replaced, e.settled_by, a.status as applied_status,
  case when s.subject_key <> t.subject_key then 1 else 0 end as is_paid_by_another
from inbox.transition t
join inbox.body b on b.transition = t.id
left join inbox.expectation e on e.reference_key = t.reference_key and e.transaction_type = t.transaction_type
left join inbox.applied a on a.subject_key = t.subject_key
left join inbox.transition s on s.transition_id = e.settled_by
where t.id = $1
order by b.first_at, b.digest

-- name: read_content
select content from inbox.body where transition = $1 and digest = $2

-- name: is_own_transaction
-- False when the handler has ended its transaction.
select {is_own} as is_own

-- name: settle_transition
update inbox.transition set state = 'settled', reason = null, next_at = null, unfinished = 0, last_error = null,
  settled_digest = $3, waived = 0, changed_at = {now}
where id = $1 and start_id = $2 and next_at is not null
returning id, transition_id

-- name: settle_expectation
update inbox.expectation as e set settled_by = t.transition_id, settled_at = {now}
from inbox.transition t
where t.id = $1 and e.reference_key = t.reference_key and e.transaction_type = t.transaction_type
  and e.currency = $2 and e.amount = $3 and e.compare = $4 and (e.settled_by is null or e.settled_by = t.transition_id)
returning settled_by

-- name: lock_expectation
-- For what is no payment: until its end, no payment settles the expectation.
select e.settled_by from inbox.expectation e
join inbox.transition t on t.reference_key = e.reference_key and t.transaction_type = e.transaction_type
where t.id = $1 {for_update_of_e}

-- name: record_applied
insert into inbox.applied (subject_key, status, transition_id, applied_at) values ($1, $2, $3, {now})
on conflict (subject_key) do update set status = excluded.status, transition_id = excluded.transition_id,
  applied_at = excluded.applied_at

-- name: park
-- Not an attempt: no handler ran. $5 is null for a transition that is not looked at again automatically.
update inbox.transition set state = $3, reason = $4, attempts = attempts - 1, unfinished = 0, looks = looks + 1, waived = 0,
  start_id = null, next_at = {now} + cast($5 as bigint), changed_at = case when state = $3 and reason = $4 then changed_at else {now} end
where id = $1 and revision = cast($2 as integer) and start_id = $6 and next_at is not null
returning id, transition_id

-- name: take_back
-- The attempt did not take place: another worker has this reference, or the transition changed meanwhile.
update inbox.transition set attempts = attempts - 1, unfinished = unfinished - 1, next_at = {now} + cast($3 as bigint),
  start_id = null
where id = $1 and start_id = $2 and next_at is not null
returning id, transition_id

-- name: fail_attempt
-- Written from outside of the handler's transaction. $5 is null for a transition that is not tried again.
update inbox.transition set unfinished = 0, state = $3, reason = $4, next_at = {now} + cast($5 as bigint),
  last_error = $6, changed_at = {now}
where id = $1 and start_id = $2 and next_at is not null
returning id, transition_id

-- name: add_expectation
-- Gives what is expected of this reference, and locks it. A repetition changes the deadline; nothing else changes here.
insert into inbox.expectation as e (reference_key, transaction_type, account, merchant_reference, currency, amount, compare,
  replaced, deadline_at, changed_at)
values ($1, $2, $3, $4, $5, $6, $7, '[]', cast($8 as bigint), {now})
on conflict (reference_key, transaction_type) do update set deadline_at = case
  when (e.currency, e.amount, e.compare) = (excluded.currency, excluded.amount, excluded.compare) then excluded.deadline_at
  else e.deadline_at end
returning currency, amount, compare, replaced, settled_by

-- name: replace_expectation
update inbox.expectation set currency = $3, amount = $4, compare = $5, replaced = $6, deadline_at = cast($7 as bigint),
  changed_at = {now}
where reference_key = $1 and transaction_type = $2

-- name: wake_for_expectation
update inbox.transition set next_at = {now}, looks = 0, revision = revision + 1
where reference_key = $1 and transaction_type = $2
  and reason in ('no_expectation', 'different_bodies', 'amount_mismatch', 'contradicting_bodies')

-- name: lock_pulse
select seen_at - {now} as ahead from inbox.pulse where account = $1 {for_update}

-- name: bring_forward
-- After the clock has stepped back by $2: what waits, waits no longer than before.
update inbox.transition set next_at = next_at - cast($2 as bigint) where account = $1 and next_at > {now}

-- name: reset_pulse
update inbox.pulse set seen_at = {now} where account = $1
