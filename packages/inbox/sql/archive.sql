-- name: find_archivable
-- Final rows without a change or a delivery for the time $5, oldest first. What an operator has decided stays with its note. Until
-- the transaction ends, the rows are locked: other prunes skip them, and receivers wait briefly. Rows that another transaction
-- has locked wait for the next run, and a payment that a person must look at waits for that person. What was paid of an order
-- stays, since it limits what else is paid of it.
with found as materialized (
  select t.id, t.changed_at, c.transition_id, c.signed, c.reference_key, c.transaction_type
  from inbox.transition t
  join inbox.callback c on c.id = t.id
  where t.account = $1 and t.state = $2 and t.state <> 'pending' and t.reason is distinct from 'archived'
    and (t.changed_at, t.id) > (cast($3 as bigint), cast($4 as bigint)) and t.changed_at < {now} - cast($5 as bigint)
    and octet_length(c.signed) <= 2000
    and not exists (select a.id from inbox.action a where a.transition = t.id and a.action <> 'forget')
    and not exists (select b.digest from inbox.body b where b.transition = t.id and b.first_at >= {now} - cast($5 as bigint))
    and not exists (select d.digest from inbox.delivery d where d.transition = t.id and d.last_at >= {now} - cast($5 as bigint))
  order by t.changed_at, t.id limit 200{postgres:  for update of t skip locked}
), locked as materialized (
  select e.settled_by from inbox.payment e
  join found f on f.reference_key = e.reference_key and f.transaction_type = e.transaction_type
  where e.settled_by = f.transition_id and e.needs is null and e.order_id is null{postgres:  for update of e skip locked}
)
select f.id, f.changed_at, f.transition_id, f.signed,
  {postgres: pg_try_advisory_xact_lock(hashtextextended('inbox.transition ' || f.transition_id, 0)) and }
  (exists (select l.settled_by from locked l where l.settled_by = f.transition_id)
    or not exists (select e.settled_by from inbox.payment e where e.reference_key = f.reference_key
      and e.transaction_type = f.transaction_type and e.settled_by = f.transition_id)) as is_free
from found f
order by f.changed_at, f.id

-- name: add_archive_kinds
-- The common values of many archived transitions are one row. The signed fields are JSON, since they may hold NUL.
insert into inbox.archive_kind (account, event, transaction_type, transaction_status, state, reason, applied_as, currency, compare)
select distinct c.account, value ->> 'event', c.transaction_type, value ->> 'status', t.state, coalesce(t.reason, ''),
  coalesce(t.applied_as, ''), coalesce(e.currency, ''), coalesce(e.compare, '')
from {records: $1}
join inbox.transition t on t.id = cast(value ->> 'id' as bigint)
join inbox.callback c on c.id = t.id
left join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
  and e.settled_by = c.transition_id
where true
on conflict do nothing

-- name: archive
insert into inbox.archive (id, changed_at, transition, kind, place, merchant_reference, internal_reference, amount)
select t.id, t.changed_at, cast(value ->> 'key' as bigint), k.id, coalesce(t.place, 0), value ->> 'merchantReference',
  value ->> 'internalReference', coalesce(e.amount, '')
from {records: $1}
join inbox.transition t on t.id = cast(value ->> 'id' as bigint)
join inbox.callback c on c.id = t.id
left join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
  and e.settled_by = c.transition_id
join inbox.archive_kind k on k.account = c.account and k.event = value ->> 'event'
  and k.transaction_type = c.transaction_type and k.transaction_status = value ->> 'status'
  and k.state = t.state and k.reason = coalesce(t.reason, '') and k.applied_as = coalesce(t.applied_as, '')
  and k.currency = coalesce(e.currency, '') and k.compare = coalesce(e.compare, '')
returning id

-- name: drop_payments
-- Those that the transitions of the list $1 have settled.
delete from inbox.payment where (reference_key, transaction_type, settled_by) in (
  select c.reference_key, c.transaction_type, c.transition_id from inbox.callback c
  where c.id in (select cast(value as bigint) from {values: $1}))

-- name: drop_failures
delete from inbox.failure where transition in (select cast(value as bigint) from {values: $1})

-- name: drop_deliveries
delete from inbox.delivery where transition in (select cast(value as bigint) from {values: $1})

-- name: drop_bodies
delete from inbox.body where transition in (select cast(value as bigint) from {values: $1})

-- name: drop_transitions
delete from inbox.transition where id in (select cast(value as bigint) from {values: $1})

-- name: drop_callbacks
delete from inbox.callback where id in (select cast(value as bigint) from {values: $1})

-- name: count_archived (postgres)
insert into inbox.tally (account, total, archived) values ($1, -cast($2 as bigint), cast($2 as bigint))

-- name: count_archived (sqlite)
update inbox.tally set total = total - $2, archived = archived + $2 where account = $1

-- name: find_archived (prepared)
-- By the key of a transition, $2, or by either reference as JSON; null finds nothing. Newest first.
select a.id, a.changed_at, a.place, a.amount, a.merchant_reference, a.internal_reference, k.account, k.event, k.transaction_type,
  k.transaction_status, k.state, k.reason, k.applied_as, k.currency, k.compare
from (
  select * from inbox.archive where transition = cast($2 as bigint)
  union select * from inbox.archive where merchant_reference = cast($3 as text)
  union select * from inbox.archive where internal_reference = cast($4 as text)
) as a
join inbox.archive_kind k on k.id = a.kind
where k.account = $1
order by a.id desc limit cast($5 as bigint)
