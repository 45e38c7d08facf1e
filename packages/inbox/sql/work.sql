-- name: find_due (prepared)
-- At most 50 entries of the index transition_due, from a mark on, without those that an attempt holds. What a callback says is
-- looked up for each of them, since a plan that joined would depend on how many there are.
select t.id, t.next_at, t.attempts, t.unfinished, {now} as now,
  (select c.transition_id from inbox.callback c where c.id = t.id) as transition_id,
  (select c.subject_key from inbox.callback c where c.id = t.id) as subject_key,
  (select c.signed from inbox.callback c where c.id = t.id) as signed
from inbox.transition t
where t.account = $1 and t.next_at is not null and (t.next_at, t.id) > (cast($2 as bigint), cast($3 as bigint))
  and t.next_at <= {now} and (t.busy_until is null or t.busy_until <= {now})
order by t.next_at, t.id limit 50

-- name: start_first (postgres, prepared)
-- As find_due, and starts the first one in the same transaction as start_attempt would, unless it was tried before, or another
-- transaction has its row or its internal_reference. Where nothing is due, it writes nothing.
with due as materialized (
  select t.id, t.next_at, t.attempts, t.unfinished, {now} as now,
    (select c.transition_id from inbox.callback c where c.id = t.id) as transition_id,
    (select c.subject_key from inbox.callback c where c.id = t.id) as subject_key,
    (select c.signed from inbox.callback c where c.id = t.id) as signed
  from inbox.transition t
  where t.account = $1 and t.next_at is not null and (t.next_at, t.id) > (cast($2 as bigint), cast($3 as bigint))
    and t.next_at <= {now} and (t.busy_until is null or t.busy_until <= {now})
  order by t.next_at, t.id limit 50
), first as materialized (select * from due order by next_at, id limit 1
), begun as (
  update inbox.transition set attempts = attempts + 1, unfinished = unfinished + 1, busy_until = {now} + cast($4 as bigint),
    start_id = $5
  where ctid = (select free.ctid from inbox.transition free join first on first.id = free.id and first.next_at = free.next_at
      where free.attempts = 0 and free.unfinished = 0 for update of free skip locked)
    and pg_try_advisory_xact_lock(hashtextextended('inbox.' || (select subject_key from first), 0))
  returning id, set_config('synchronous_commit', 'off', true)
)
select due.*, due.id in (select id from begun) as begun from due order by next_at, id

-- name: find_newest (prepared)
-- The last 20 that became due within a minute, and not after $2: the newest first. In place of each, the first transition of its
-- internal_reference that is due, or nothing while an attempt holds one of them. The minute bounds how many entries of settled
-- ones are passed over beside an old snapshot.
select t.id, t.next_at, t.attempts, t.unfinished, c.transition_id, c.subject_key, c.signed
from (select f.next_at, f.id,
    (select o.id from inbox.callback own join inbox.callback same on same.subject_key = own.subject_key
      join inbox.transition o on o.id = same.id
      where own.id = f.id
      order by case when o.busy_until > {now} then 0 when o.next_at <= {now} then 1 else 2 end, o.next_at, o.id limit 1) as first
  from inbox.transition f
  where f.account = $1 and f.next_at > {now} - 60000 and f.next_at <= {now} and f.next_at <= cast($2 as bigint)
    and (f.busy_until is null or f.busy_until <= {now})
  order by f.next_at desc, f.id desc limit 20) newest
join inbox.transition t on t.id = newest.first
join inbox.callback c on c.id = t.id
where t.busy_until is null or t.busy_until <= {now}
order by newest.next_at desc, newest.id desc

-- name: find_place
-- For a worker that has met another one: one of the next 800 that are due from a mark on, by the number $4.
select next_at, id from (
  select next_at, id, row_number() over (order by next_at, id) as place, count(*) over () as total from (
    select next_at, id from inbox.transition
    where account = $1 and next_at is not null and (next_at, id) > (cast($2 as bigint), cast($3 as bigint)) and next_at <= {now}
    order by next_at, id limit 800
  ) as ahead
) as numbered
where place = 1 + cast($4 as bigint) % total

-- name: bring_back
-- Makes what find_put_off has found due, unless another transaction has its row. $2 is the list of their ids.
update inbox.transition set busy_until = null,
  next_at = case when next_at > {now} then {now} else next_at end,
  changed_at = case when changed_at > {now} then {now} else changed_at end
where id in (select t.id from inbox.transition t
  where t.account = $1 and t.next_at is not null and t.id in (select cast(value as bigint) from {values: $2}){postgres:  for update of t skip locked})

-- name: count_due
select count(*) as count from inbox.transition
where account = $1 and next_at <= {now} and (busy_until is null or busy_until <= {now})

-- name: start_attempt (prepared, of unsynced, of synced)
-- Committed before the handler runs. Nothing is started while another process works on the same internal_reference, $5.
-- $4 identifies this start: only its owner takes it back, settles, parks or fails it. No index has a column that changes here,
-- and the table's fillfactor leaves room for the new version on the same page: so no index is written. $6 are the attempts that
-- were read, which each start increases. The commit of a first start does not wait for the disk: a crash of this process loses
-- nothing, and one of the server loses the handler's transaction as well, whose commit writes this start to the disk. The
-- failure of the attempt then counts it (threat A77). The start of a retry waits: its handler may be what ends the server.
update inbox.transition set attempts = attempts + 1, unfinished = unfinished + 1, busy_until = {now} + cast($3 as bigint),
  start_id = $4
where id = $1 and next_at = cast($2 as bigint) and attempts = cast($6 as integer)
  {postgres: and pg_try_advisory_xact_lock(hashtextextended('inbox.' || $5, 0))}
returning last_error{of unsynced: {postgres: , set_config('synchronous_commit', 'off', true)}}

-- name: enter_attempt (postgres, prepared)
-- The mark disappears when the handler ends the transaction. The lock serialises the handlers of an internal_reference in these
-- tables: other schemas of the database have their own. Above READ COMMITTED, the snapshot may be older than the lock: then a
-- transition of this reference that another attempt has changed meanwhile fails with 40001, and the attempt begins again.
select concat(set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', $2, true), set_config('payment_inbox.attempt', $3, true)) as settings,
  cast(pg_try_advisory_xact_lock(hashtextextended('inbox.' || $4, 0)) as integer) as is_free,
  concat(pg_current_xact_id(), ' ', extract(epoch from pg_stat_get_bgwriter_stat_reset_time())) as number,
  (select count(*) from (select t.id from inbox.callback c join inbox.transition t on t.id = c.id
    where current_setting('transaction_isolation') <> 'read committed' and c.subject_key = $4 for no key update of t) related)
  as related

-- name: count_changes (postgres)
-- The rows that this session has changed since it told the server's statistics, which it does between transactions. Null where
-- the server counts nothing.
select case when current_setting('track_counts') = 'on' then (select sum(pg_stat_get_xact_tuples_inserted(oid)
  + pg_stat_get_xact_tuples_updated(oid) + pg_stat_get_xact_tuples_deleted(oid)) from pg_class where relkind = 'r') end as changes

-- name: count_changes (sqlite)
select total_changes() as changes

-- name: read_outcome (postgres)
-- The outcome of a failed attempt's transaction. No row on another server, nor after a crash of this one, which may reuse the
-- number: its statistics have then been reset.
select case when split_part($1, ' ', 2) = cast(extract(epoch from pg_stat_get_bgwriter_stat_reset_time()) as text)
  then pg_xact_status(cast(split_part($1, ' ', 1) as xid8)) end as status

-- name: read_case (prepared)
-- Of a transition with one body, its text as well. The statuses of an internal_reference are applied in the order of `place`.
-- is_paid_by_another is 1 where another transaction has settled the expectation; has_past, where the archive has one of the
-- references, $2 and $3 as JSON, or may have one, since these are null.
select c.transition_id, c.account, c.signed, c.reference_key, t.start_id, t.unfinished, t.looks, t.waived, t.revision, b.digest, b.claims,
  b.refusal, b.first_at, b.traceparent, case when t.bodies = 1 then b.content end as content,
  e.currency, e.amount, e.compare, e.replaced, e.settled_by, e.canceled_at, e.order_id, e.order_total, e.needs,
  (select '{"place":' || applied.place || ',"signed":' || other.signed || '}'
    from inbox.callback other join inbox.transition applied on applied.id = other.id
    where other.subject_key = c.subject_key and applied.place is not null
    order by applied.place desc limit 1) as applied,
  case when e.settled_by <> c.transition_id and exists (select s.id from inbox.callback s
    where s.transition_id = e.settled_by and s.subject_key <> c.subject_key) then 1 else 0 end as is_paid_by_another,
  case when cast($2 as text) is null
    or exists (select a.id from inbox.archive a where a.internal_reference = cast($2 as text))
    or exists (select a.id from inbox.archive a where a.merchant_reference = cast($3 as text))
    then 1 else 0 end as has_past
from inbox.transition t
join inbox.callback c on c.id = t.id
join inbox.body b on b.transition = t.id
left join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
where t.id = $1

-- name: lock_order (postgres)
-- Until the transaction ends, no other payment of the order settles.
select pg_advisory_xact_lock(hashtextextended('inbox.order ' || $1 || ' ' || $2, 0))

-- name: read_order
-- What was settled of an order in a currency, and not taken back; without the payment $4 and $5.
select amount from inbox.payment
where account = $1 and order_id = $2 and currency = $3 and settled_by is not null and state <> 'reversed'
  and not (reference_key = $4 and transaction_type = $5)

-- name: read_content
select content from inbox.body where transition = $1 and digest = $2

-- name: is_own_transaction (postgres)
-- False when the handler has ended its transaction.
select coalesce(current_setting('payment_inbox.attempt', true) = $1, false) as is_own

-- name: is_own_transaction (sqlite)
-- The thread refuses it if there is no transaction.
select $1 is not null as is_own

-- name: is_in_transaction (postgres)
-- A statement of its own begins when its transaction does.
select now() < statement_timestamp() as is_open

-- name: is_in_transaction (sqlite)
-- The thread refuses it if there is no transaction.
select 1 as is_open

-- name: settle (postgres, prepared, last)
-- $1 is a JSON object, whose members are named like the columns; those of `next` are of the transition that is started as in
-- start_attempt, unless it changed or another transaction has its row, for which this one must not wait. `currency`, `amount` and
-- `compare` are the expectation, as it was when the handler ran: they are missing where none is settled. `place` is after those
-- that were read under the lock. COMMIT is in the same message, so a refusal must be an error, and SQL has none of its own: the
-- logarithm of 0 (2201E) says that the transaction has lost the mark `start_id`, and the root of -1 (2201F) that the expectation
-- or the transition has changed. Unlike a division by zero, neither is to be expected of a trigger of the merchant.
with given as materialized (
  select *, current_setting('payment_inbox.attempt', true) is not distinct from start_id as is_own
  from jsonb_to_record(cast($1 as jsonb)) as given(id bigint, start_id text, digest text, place integer, transition_id text,
    reference_key text, transaction_type text, currency text, amount text, compare text, applied_as text, last_error text,
    next jsonb)
), expected as (
  update inbox.payment as e set state = 'paid', settled_by = given.transition_id, settled_at = {now}, changed_at = {now}
  from given
  where e.reference_key = given.reference_key and e.transaction_type = given.transaction_type
    and e.currency = given.currency and e.amount = given.amount and e.compare = given.compare
    and (e.settled_by is null or e.settled_by = given.transition_id) and given.is_own
    and (e.canceled_at is null or exists (select w.id from inbox.transition w where w.id = given.id and w.waived = 1))
  returning e.settled_by
), settled as (
  update inbox.transition as t set state = 'settled', reason = null, next_at = null, unfinished = 0,
    last_error = given.last_error, busy_until = null, settled_digest = given.digest, waived = 0, place = given.place,
    changed_at = {now}, applied_as = given.applied_as
  from given
  where t.id = given.id and t.start_id = given.start_id and t.next_at is not null and given.is_own
    and (given.currency is null or exists (select settled_by from expected))
  returning t.id
), begun as (
  update inbox.transition as n set attempts = n.attempts + 1, unfinished = n.unfinished + 1,
    busy_until = {now} + (select cast(next ->> 'busy_ms' as bigint) from given), start_id = (select next ->> 'start_id' from given)
  where n.ctid = (select free.ctid from inbox.transition free join given on free.id = cast(next ->> 'id' as bigint)
      where free.next_at = cast(next ->> 'next_at' as bigint) and free.attempts = cast(next ->> 'attempts' as integer)
        and exists (select settled.id from settled)
      for update of free skip locked)
    and pg_try_advisory_xact_lock(hashtextextended('inbox.' || (select next ->> 'subject_key' from given), 0))
  returning n.id, n.last_error
)
select case when given.is_own then sqrt(settled.count - 1) else ln(settled.count) end as settled,
  begun.id as begun, begun.last_error as begun_error
from given cross join (select count(*) as count from settled) as settled left join begun on true

-- name: lock_briefly (postgres)
-- For the transaction that parks: a merchant's own transaction may hold the payment for long, and a worker must not wait for it.
select set_config('lock_timeout', '50', true) as briefly

-- name: lock_payment
-- Until the transaction ends, nothing settles it, and nothing else decides its state.
select state, needs, currency, amount, compare, replaced, settled_by, canceled_at, order_id, order_total from inbox.payment
where reference_key = $1 and transaction_type = $2{postgres:  for update}

-- name: add_payment
-- For a payment that was reported and is not expected.
insert into inbox.payment (reference_key, transaction_type, account, merchant_reference, state, replaced, changed_at)
values ($1, $2, $3, $4, 'unexpected', '[]', {now}) on conflict do nothing

-- name: read_reports
select c.transition_id, c.subject_key, t.state, t.reason, t.applied_as, coalesce(t.place, 0) as place, t.changed_at
from inbox.callback c join inbox.transition t on t.id = c.id
where c.reference_key = $1 and c.transaction_type = $2

-- name: set_payment_state
update inbox.payment set state = $3, needs = $4, changed_at = {now} where reference_key = $1 and transaction_type = $2

-- name: settle (sqlite, last)
-- No row refuses it; the thread knows whether the transaction has ended.
update inbox.payment set state = 'paid', settled_by = $1 ->> 'transition_id', settled_at = {now}, changed_at = {now}
where reference_key = $1 ->> 'reference_key' and transaction_type = $1 ->> 'transaction_type'
  and currency = $1 ->> 'currency' and amount = $1 ->> 'amount' and compare = $1 ->> 'compare'
  and (settled_by is null or settled_by = $1 ->> 'transition_id');
update inbox.transition as t set state = 'settled', reason = null, next_at = null, unfinished = 0,
  last_error = $1 ->> 'last_error', busy_until = null, settled_digest = $1 ->> 'digest', waived = 0, changed_at = {now},
  place = $1 ->> 'place', applied_as = $1 ->> 'applied_as'
where t.id = $1 ->> 'id' and t.start_id = $1 ->> 'start_id' and t.next_at is not null
  and ($1 ->> 'currency' is null or exists (select e.amount from inbox.payment e where e.reference_key = $1 ->> 'reference_key'
    and e.transaction_type = $1 ->> 'transaction_type' and e.settled_by = $1 ->> 'transition_id'
    and e.currency = $1 ->> 'currency' and e.amount = $1 ->> 'amount' and e.compare = $1 ->> 'compare'));
update inbox.transition set attempts = attempts + 1, unfinished = unfinished + 1,
  busy_until = {now} + ($1 ->> '$.next.busy_ms'), start_id = $1 ->> '$.next.start_id'
where id = $1 ->> '$.next.id' and next_at = $1 ->> '$.next.next_at' and attempts = $1 ->> '$.next.attempts'
  and exists (select t.id from inbox.transition t where t.id = $1 ->> 'id' and t.start_id = $1 ->> 'start_id'
    and t.state = 'settled');
select 1 as settled, count(n.id) as begun, n.last_error as begun_error
from inbox.transition t
left join inbox.transition n on n.id = $1 ->> '$.next.id' and n.start_id = $1 ->> '$.next.start_id'
where t.id = $1 ->> 'id' and t.start_id = $1 ->> 'start_id' and t.state = 'settled'
group by t.id

-- name: park
-- Not an attempt: no handler ran. $5 is null for a transition that is not looked at again automatically.
update inbox.transition set state = $3, reason = $4, attempts = attempts - 1, unfinished = 0, looks = looks + 1, waived = 0,
  start_id = null, next_at = {now} + cast($5 as bigint), busy_until = null,
  changed_at = case when state = $3 and reason = $4 then changed_at else {now} end
where id = $1 and revision = cast($2 as integer) and start_id = $6 and next_at is not null
returning id

-- name: take_back
-- There was no attempt: another worker has this reference, or the transition changed meanwhile.
update inbox.transition set attempts = attempts - 1, unfinished = unfinished - 1, next_at = {now} + cast($3 as bigint),
  busy_until = null, start_id = null
where id = $1 and start_id = $2 and next_at is not null
returning id

-- name: take_back_unknown (postgres)
-- As take_back, for a start whose reply was lost together with its id.
update inbox.transition set attempts = attempts - 1, unfinished = unfinished - 1, next_at = {now}, busy_until = null,
  start_id = null
where account = $1 and next_at is not null and start_id = $2
returning id

-- name: fail_attempt (postgres)
-- Written outside the handler's transaction. $5 is null for a transition that is not retried. The last 20 failures of a
-- transition are kept; a statement that is repeated because its reply was lost adds no second one. A crash of the server may
-- have lost the start: then the row is as the start found it, with fewer attempts than $7 and due at $8, and is counted here.
with failed as (
  update inbox.transition set unfinished = 0, state = $3, reason = $4, next_at = {now} + cast($5 as bigint),
    busy_until = null, last_error = $6, changed_at = {now}, attempts = cast($7 as integer), start_id = $2
  where id = $1 and ((start_id = $2 and state <> 'settled')
    or (attempts = cast($7 as integer) - 1 and next_at = cast($8 as bigint)))
  returning id, attempts
), kept as (
  insert into inbox.failure (transition, start_id, attempt, error, at) select id, $2, attempts, $6, {now} from failed
  on conflict do nothing
), gone as (
  delete from inbox.failure where transition = (select id from failed) and start_id in (select f.start_id
    from inbox.failure f where f.transition = $1 and f.start_id <> $2 order by f.at desc, f.attempt desc offset 19)
)
select id from failed

-- name: fail_attempt (sqlite)
insert into inbox.failure (transition, start_id, attempt, error, at)
select id, $2, attempts, $6, {now} from inbox.transition where id = $1 and start_id = $2 and state <> 'settled'
on conflict do nothing;
delete from inbox.failure where transition = $1 and start_id in (select f.start_id
  from inbox.failure f where f.transition = $1 and f.start_id <> $2 order by f.at desc, f.attempt desc limit -1 offset 19);
update inbox.transition set unfinished = 0, state = $3, reason = $4, next_at = {now} + $5, busy_until = null,
  last_error = $6, changed_at = {now}
where id = $1 and start_id = $2 and state <> 'settled'
returning id

-- name: find_settled
-- Whether this start has settled it, although the reply of COMMIT was lost.
select id from inbox.transition where id = $1 and start_id = $2 and state = 'settled'

-- name: add_expectation
-- Returns the payment of this reference, and locks it. A repetition changes only the deadline, and takes none away. Returns
-- nothing if the payment is archived.
insert into inbox.payment as e (reference_key, transaction_type, account, merchant_reference, state, currency, amount, compare,
  replaced, deadline_at, changed_at, order_id, order_total)
select $1, $2, $3, $4, 'open', $5, $6, $7, '[]', cast($8 as bigint), {now}, $9, $10
where not exists (select a.id from inbox.archive a join inbox.archive_kind k on k.id = a.kind
  where a.merchant_reference = cast($4 as text) and k.account = $3 and k.transaction_type = $2 and a.amount <> '')
on conflict (reference_key, transaction_type) do update set
  changed_at = case when e.amount is null then excluded.changed_at else e.changed_at end,
  currency = coalesce(e.currency, excluded.currency), compare = coalesce(e.compare, excluded.compare),
  amount = coalesce(e.amount, excluded.amount),
  order_id = coalesce(e.order_id, excluded.order_id), order_total = coalesce(e.order_total, excluded.order_total),
  deadline_at = case when e.amount is null or (e.currency, e.amount, e.compare) = (excluded.currency, excluded.amount, excluded.compare)
    then coalesce(excluded.deadline_at, e.deadline_at) else e.deadline_at end
returning state, needs, currency, amount, compare, replaced, settled_by, canceled_at, order_id, order_total, {now} as now

-- name: replace_expectation
update inbox.payment set currency = $3, amount = $4, compare = $5, replaced = $6,
  deadline_at = coalesce(cast($7 as bigint), deadline_at), changed_at = {now}
where reference_key = $1 and transaction_type = $2

-- name: wake_for_expectation
update inbox.transition set next_at = {now}, looks = 0, revision = revision + 1
where id in (select id from inbox.callback where reference_key = $1 and transaction_type = $2)
  and reason in ({money reasons})
