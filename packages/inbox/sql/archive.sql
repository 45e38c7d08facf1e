-- name: find_archivable (postgres)
-- Final rows without a change or a delivery for the time $5, oldest first. What an operator has decided stays with its note. Until
-- the transaction ends, the rows are locked: other prunes skip them, and receivers wait briefly. Rows that another transaction
-- has locked wait for the next run, and a payment that a person must look at waits for that person. What was paid of an order
-- stays, since it limits what else is paid of it.
with found as materialized (
  select t.id, t.changed_at, c.transition_id, c.reference_key, c.transaction_type
  from inbox.transition t
  join inbox.callback c on c.id = t.id
  where t.account = $1 and t.state = $2 and t.state <> 'pending' and t.reason is distinct from 'archived'
    and (t.changed_at, t.id) > (cast($3 as bigint), cast($4 as bigint)) and t.changed_at < {now} - cast($5 as bigint)
    and octet_length(c.signed) <= 2000
    and not exists (select a.id from inbox.action a where a.transition = t.id and a.action <> 'forget')
    and not exists (select b.digest from inbox.body b where b.transition = t.id and b.first_at >= {now} - cast($5 as bigint))
    and not exists (select d.digest from inbox.delivery d where d.transition = t.id and d.last_at >= {now} - cast($5 as bigint))
  order by t.changed_at, t.id limit 200
  for update of t skip locked
), locked as materialized (
  select e.settled_by from inbox.payment e
  join found f on f.reference_key = e.reference_key and f.transaction_type = e.transaction_type
  where e.settled_by = f.transition_id and e.needs is null and e.order_id is null
  for update of e skip locked
)
select f.id, f.changed_at, pg_try_advisory_xact_lock(hashtextextended('inbox.transition ' || f.transition_id, 0))
  and (exists (select l.settled_by from locked l where l.settled_by = f.transition_id)
    or not exists (select e.settled_by from inbox.payment e where e.reference_key = f.reference_key
      and e.transaction_type = f.transaction_type and e.settled_by = f.transition_id)) as is_free
from found f
order by f.changed_at, f.id

-- name: find_archivable (sqlite)
-- There is only one writer.
select t.id, t.changed_at, not exists (select 1 from inbox.payment e where e.reference_key = c.reference_key
  and e.transaction_type = c.transaction_type and e.settled_by = c.transition_id and (e.needs is not null or e.order_id is not null)) as is_free
from inbox.transition t
join inbox.callback c on c.id = t.id
where t.account = $1 and t.state = $2 and t.state <> 'pending' and t.reason is distinct from 'archived'
  and (t.changed_at, t.id) > ($3, $4) and t.changed_at < {now} - $5 and octet_length(c.signed) <= 2000
  and not exists (select a.id from inbox.action a where a.transition = t.id and a.action <> 'forget')
  and not exists (select b.digest from inbox.body b where b.transition = t.id and b.first_at >= {now} - $5)
  and not exists (select d.digest from inbox.delivery d where d.transition = t.id and d.last_at >= {now} - $5)
order by t.changed_at, t.id limit 200

-- name: add_archive_kinds (postgres)
-- The common values of many archived transitions are one row. All strings except account, state, reason and compare are JSON.
-- They are cut out of the text, since PostgreSQL's json refuses an escaped NUL (threat A10). No value can contain the pattern,
-- since its quotes are escaped.
insert into inbox.archive_kind (account, event, transaction_type, transaction_status, state, reason, applied_as, currency, compare)
select distinct c.account, substring(c.signed from '"event":("([^"\\]|\\.)*")'), c.transaction_type,
  substring(c.signed from '"transaction_status":("([^"\\]|\\.)*")'), t.state, coalesce(t.reason, ''), coalesce(t.applied_as, ''),
  coalesce(cast(to_json(e.currency) as text), ''), coalesce(e.compare, '')
from jsonb_array_elements_text(cast($1 as jsonb)) as given(id)
join inbox.transition t on t.id = cast(given.id as bigint)
join inbox.callback c on c.id = t.id
left join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
  and e.settled_by = c.transition_id
on conflict do nothing

-- name: add_archive_kinds (sqlite)
insert into inbox.archive_kind (account, event, transaction_type, transaction_status, state, reason, applied_as, currency, compare)
select distinct c.account, c.signed -> '$.event', c.transaction_type, c.signed -> '$.transaction_status', t.state,
  coalesce(t.reason, ''), coalesce(t.applied_as, ''), iif(e.currency is null, '', json_quote(e.currency)), coalesce(e.compare, '')
from json_each($1) as given
join inbox.transition t on t.id = given.value
join inbox.callback c on c.id = t.id
left join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
  and e.settled_by = c.transition_id
where true
on conflict do nothing

-- name: archive (postgres)
-- In one statement, so that every other one sees each transition in exactly one of the two places.
with moved as (
  insert into inbox.archive (id, changed_at, transition, kind, place, merchant_reference, internal_reference, amount)
  select t.id, t.changed_at, cast(cast('x' || substr(c.transition_id, 1, 16) as bit(64)) as bigint), k.id, coalesce(t.place, 0),
    {packed: substring(c.signed from '"merchant_reference":("([^"\\]|\\.)*")')},
    {packed: substring(c.signed from '"internal_reference":("([^"\\]|\\.)*")')}, coalesce(e.amount, '')
  from jsonb_array_elements_text(cast($1 as jsonb)) as given(id)
  join inbox.transition t on t.id = cast(given.id as bigint)
  join inbox.callback c on c.id = t.id
  left join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
    and e.settled_by = c.transition_id
  join inbox.archive_kind k on k.account = c.account and k.event = substring(c.signed from '"event":("([^"\\]|\\.)*")')
    and k.transaction_type = c.transaction_type
    and k.transaction_status = substring(c.signed from '"transaction_status":("([^"\\]|\\.)*")')
    and k.state = t.state and k.reason = coalesce(t.reason, '') and k.applied_as = coalesce(t.applied_as, '')
    and k.currency = coalesce(cast(to_json(e.currency) as text), '') and k.compare = coalesce(e.compare, '')
  returning id
), expectations as (
  delete from inbox.payment e using inbox.callback c, moved
  where c.id = moved.id and e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
    and e.settled_by = c.transition_id
), failures as (
  delete from inbox.failure f using moved where f.transition = moved.id
), deliveries as (
  delete from inbox.delivery d using moved where d.transition = moved.id
), bodies as (
  delete from inbox.body b using moved where b.transition = moved.id
), transitions as (
  delete from inbox.transition t using moved where t.id = moved.id
), callbacks as (
  delete from inbox.callback c using moved where c.id = moved.id
), counted as (
  insert into inbox.tally (account, total, archived)
  select $2, -count(*), count(*) from moved having count(*) > 0
)
select count(*) as archived from moved

-- name: archive (sqlite)
insert into inbox.archive (id, changed_at, transition, kind, place, merchant_reference, internal_reference, amount)
select t.id, t.changed_at, unhex(substr(c.transition_id, 1, 16)), k.id, coalesce(t.place, 0),
  {packed: c.signed -> '$.merchant_reference'}, {packed: c.signed -> '$.internal_reference'}, coalesce(e.amount, '')
from json_each($1) as given
join inbox.transition t on t.id = given.value
join inbox.callback c on c.id = t.id
left join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
  and e.settled_by = c.transition_id
join inbox.archive_kind k on k.account = c.account and k.event = c.signed -> '$.event'
  and k.transaction_type = c.transaction_type and k.transaction_status = c.signed -> '$.transaction_status'
  and k.state = t.state and k.reason = coalesce(t.reason, '') and k.applied_as = coalesce(t.applied_as, '')
  and k.currency = iif(e.currency is null, '', json_quote(e.currency)) and k.compare = coalesce(e.compare, '');
delete from inbox.payment where rowid in (
  select e.rowid from json_each($1) as given
  join inbox.callback c on c.id = given.value
  join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
  where e.settled_by = c.transition_id);
delete from inbox.failure where transition in (select value from json_each($1));
delete from inbox.delivery where transition in (select value from json_each($1));
delete from inbox.body where transition in (select value from json_each($1));
delete from inbox.transition where id in (select value from json_each($1));
delete from inbox.callback where id in (select value from json_each($1));
update inbox.tally set total = total - (select count(*) from json_each($1)),
  archived = archived + (select count(*) from json_each($1))
where account = $2;
select count(*) as archived from json_each($1)

-- name: find_archived
-- By the id of a transition, of which the first digits are stored, or by either reference as JSON; null finds nothing. Newest
-- first.
select a.id, a.changed_at, a.place, a.amount, k.account, k.state, k.reason, k.applied_as, k.currency, k.compare, '{"event":' || k.event || ',"merchant_reference":' || {plain: a.merchant_reference} ||
  ',"internal_reference":' || {plain: a.internal_reference} || ',"transaction_type":' || k.transaction_type ||
  ',"transaction_status":' || k.transaction_status || '}' as signed
from (
  select * from inbox.archive where transition = {postgres: cast(cast('x' || substr(cast($2 as text), 1, 16) as bit(64)) as bigint)}{sqlite: unhex(substr($2, 1, 16))}
  union all select * from inbox.archive where {same: merchant_reference = cast($3 as text)}
  union all select * from inbox.archive where {same: internal_reference = cast($4 as text)}
) as a
join inbox.archive_kind k on k.id = a.kind
where k.account = $1
order by a.id desc limit 1000
