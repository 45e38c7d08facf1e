-- name: list_transitions (of key, of newest, of state, of reason, of due, of pending)
-- Finds the first $2 by one index, after $5 and $6, that changed from $3 on and before $4; only then joins what is shown of
-- them. A key is an id, $7, or that of a reference, $8 and $9; with the state $10 and the reason $11, if they are given, by the
-- last change if $12 is 1; what it finds is materialized, since the planner might prefer to scan all ids in their order. Pending
-- ones have no index, since every payment would write to it: they are searched among the first 10,000 due ones, in the order of
-- the workers or by the last change.
select t.id, c.transition_id, c.signed, t.state, t.reason, t.revision, t.attempts, t.bodies, t.refused_bodies,
  coalesce(t.busy_until, t.next_at) as next_at, c.first_at, t.changed_at, t.last_error,
  case when t.settled_digest is null then 0 else 1 end as was_applied, e.currency, e.amount, e.compare,
  coalesce(e.replaced, '[]') as replaced, e.settled_by, e.canceled_at, b.claims, b.provider,
  (select coalesce(sum(d.repeats), 0) from inbox.delivery d where d.transition = t.id) as repeats
from (
  select t.id, t.at, t.tie from (
    {of key: with named as materialized (
      select c.id from inbox.callback c where c.transition_id = $7
      union all select c.id from inbox.callback c where c.reference_key = $8 and (cast($9 as text) is null or c.subject_key = $9)
      union all select c.id from inbox.callback c where c.subject_key = $9 and cast($8 as text) is null)
    select t.*, case cast($12 as integer) when 1 then t.changed_at else t.id end as at, t.id as tie
    from named join inbox.transition t on t.id = named.id
    where t.state = coalesce($10, t.state) and (cast($11 as text) is null or t.reason = $11)}
    {of newest: select t.*, t.id as at, t.id as tie from inbox.transition t}
    {of state: select t.*, t.changed_at as at, t.id as tie from inbox.transition t where t.state = $7 and t.state <> 'pending'}
    {of reason: select t.*, t.changed_at as at, t.id as tie from inbox.transition t
    where t.reason = $7 and t.state = coalesce($8, t.state) and t.state not in ('pending', 'retrying', 'settled')}
    {of due: select due.*, -due.next_at as at, -due.id as tie from (select * from inbox.transition
      where account = $1 and next_at is not null and (next_at, id) > (-cast($5 as bigint), -cast($6 as bigint))
      order by next_at, id limit 10000) as due where due.state = 'pending'}
    {of pending: select due.*, due.changed_at as at, due.id as tie from (select * from inbox.transition
      where account = $1 and next_at is not null order by next_at, id limit 10000) as due where due.state = 'pending'}
  ) as t
  where t.account = $1 and t.changed_at >= cast($3 as bigint) and t.changed_at < cast($4 as bigint)
    and (t.at, t.tie) < (cast($5 as bigint), cast($6 as bigint))
  order by t.at desc, t.tie desc limit cast($2 as integer)
) as found
join inbox.transition t on t.id = found.id
join inbox.callback c on c.id = t.id
left join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
left join inbox.body b on b.transition = t.id and b.digest = coalesce(t.settled_digest, (select o.digest from inbox.body o
  where o.transition = t.id order by case when o.refusal is null then 0 else 1 end, o.first_at, o.digest limit 1))
order by found.at desc, found.tie desc

-- name: newest_changes
-- Each by an index: the last change of each state of payments and of transitions, the newest transition of the account among the
-- newest 100 of all, and the newest act, of any account.
select column1 as kind, (select p.changed_at || ' ' || p.reference_key from inbox.payment p
  where p.account = $1 and p.state = column1 order by p.changed_at desc, p.reference_key desc limit 1) as newest
from (values ('held'), ('unexpected'), ('open'), ('paid'), ('reversed'), ('failed'), ('canceled')) as payments
union all
select column1 as kind, (select t.changed_at || ' ' || t.id from inbox.transition t
  where t.account = $1 and t.state = column1 and t.state <> 'pending'
  order by t.changed_at desc, t.id desc limit 1) as newest
from (values ('retrying'), ('settled'), ('superseded'), ('unhandled'), ('quarantined'), ('conflict'), ('dead'), ('resolved')) as states
union all
select 'pending', cast(max(id) as text)
from (select t.id, t.account from inbox.transition t order by t.id desc limit 100) as latest where account = $1
union all
select 'action', cast(max(id) as text) from inbox.action

-- name: find_mark
select t.id, t.changed_at, coalesce(t.next_at, c.first_at) as due_at
from inbox.callback c join inbox.transition t on t.id = c.id
where c.transition_id = $1 and c.account = $2

-- name: show_bodies
select b.digest, b.content, b.claims, b.key_id, b.provider,
  b.refusal, b.traceparent, b.first_at, coalesce(d.repeats, 0) as repeats, coalesce(d.last_at, b.first_at) as last_at, t.settled_digest
from inbox.transition t
join inbox.body b on b.transition = t.id
left join inbox.delivery d on d.transition = b.transition and d.digest = b.digest
where t.id = $1
order by b.first_at, b.digest

-- name: show_actions
select action, by_whom, note, at from inbox.action where transition = $1 order by id

-- name: show_failures
select attempt, error, at from inbox.failure where transition = $1 order by at, attempt

-- name: lock_named_transition
-- is_applied is 1 if it was settled at any time. last_at is the last change of what an operator sees: its state, a body, or its
-- expectation.
select t.id, t.state, c.signed, case when t.settled_digest is null then 0 else 1 end as is_applied,
  (select max(seen.at) from (
    select t.changed_at as at
    union all select b.first_at from inbox.body b where b.transition = t.id
    union all select e.changed_at from inbox.payment e
      where e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
  ) as seen) as last_at
from inbox.callback c join inbox.transition t on t.id = c.id
where c.transition_id = $1 and c.account = $2{postgres:  for update of t}

-- name: move
update inbox.transition set state = $2, reason = case when $2 = 'resolved' then 'closed_by_operator' end, attempts = 0,
  unfinished = 0, start_id = null, looks = 0, last_error = null, waived = cast($3 as integer),
  revision = revision + 1, changed_at = {now}, next_at = case when $2 = 'pending' then {now} end,
  busy_until = null
where id = $1

-- name: add_action
insert into inbox.action (transition, action, by_whom, note, at) values ($1, $2, $3, $4, {now})

-- name: add_payment_action
insert into inbox.action (reference_key, transaction_type, action, by_whom, note, at) values ($1, $2, $3, $4, $5, {now})

-- name: show_payment_actions
-- Of the payment itself, and of its reports.
select a.action, a.by_whom, a.note, a.at, null as transition_id, a.id from inbox.action a
where a.reference_key = $1 and a.transaction_type = $2
union all
select a.action, a.by_whom, a.note, a.at, c.transition_id, a.id from inbox.callback c
join inbox.action a on a.transition = c.id
where c.reference_key = $1 and c.transaction_type = $2
order by 6

-- name: lock_reports
-- Of a payment that this transaction has locked.
select t.id from inbox.callback c join inbox.transition t on t.id = c.id
where c.reference_key = $1 and c.transaction_type = $2{postgres:  for update of t}

-- name: cancel
update inbox.payment set canceled_at = {now}, changed_at = {now} where reference_key = $1 and transaction_type = $2

-- name: uncancel
update inbox.payment set canceled_at = null, changed_at = {now} where reference_key = $1 and transaction_type = $2

-- name: accept_claims
update inbox.body set claims = $3 where transition = $1 and digest = $2

-- name: admit_evidence
update inbox.body set refusal = null where transition = $1

-- name: merge_tally (postgres, prepared)
-- Merges the later counts of keep_firsts into one row. Of two processes, each merges the rows that it gets.
with gone as (
  delete from inbox.tally where ctid = any (array(select ctid from inbox.tally where account = $1 for update skip locked))
  returning total, archived
)
insert into inbox.tally (account, total, archived) select $1, sum(total), sum(archived) from gone having count(*) > 0

-- name: oldest_due
select coalesce({now} - min(next_at), 0) as late from inbox.transition
where account = $1 and next_at is not null and (busy_until is null or busy_until <= {now})

-- name: find_put_off (prepared)
-- What is due later than its own rule allows, since the database's clock was ahead when it was written: a first look is due when
-- it is kept, and what was tried $2 milliseconds later, doubled each time, up to $3; what was looked at, $4 and $5. Of what a
-- clock puts off, next_at is at the end of the index, and busy_until at its beginning: so 10,000 entries of each are read.
select id from (
  select * from (select id, next_at, busy_until, attempts, looks, changed_at from inbox.transition
    where account = $1 and next_at is not null and next_at > {now} order by next_at desc, id desc limit 10000) as last
  union all
  select * from (select id, next_at, busy_until, attempts, looks, changed_at from inbox.transition
    where account = $1 and next_at is not null and next_at <= {now} order by next_at, id limit 10000) as first
) as t
where {greatest}(next_at, coalesce(busy_until, next_at)) > {now} + case
  when attempts + looks = 0 or changed_at > {now} + 1000 then 1000
  else {greatest}(
    case when attempts = 0 then 0 else {least}(cast($3 as bigint),
      cast($2 as bigint) << {least}(attempts - 1, 31)) end,
    case when looks = 0 then 0 else {least}(cast($5 as bigint),
      cast($4 as bigint) << {least}(looks - 1, 31)) end) end

-- name: read_payment
select p.reference_key, p.transaction_type, p.merchant_reference, case when p.state = 'open' and p.deadline_at <= {now} then 'overdue' else p.state end as state,
  p.needs, p.currency, p.amount, p.compare, p.replaced, p.deadline_at, p.settled_by, p.settled_at, p.canceled_at,
  p.order_id, p.order_total, p.changed_at, {now} as now
from inbox.payment p where p.reference_key = $1 and p.transaction_type = $2 and p.account = $3

-- name: list_payments (of state, of needed, of reason, of overdue, of order, of key)
-- Looks at $2 payments by one index, after the place $10, the key $11 and the type $12: at those of a state, a reason or an order,
-- $13; at the overdue ones, the longest overdue first; or at those with a key of the list $13, or with a transaction of a key of
-- the list $14. Returns the first $3 that match, and the last one that it looked at, beyond which there may be more. Those match
-- whose state is in the list $4, that changed from $5 on and before $6, with the pattern $7 in a reference and the provider $8 in
-- a body, and that need a person for the reason $9, or for any if it is empty; null matches all. PostgreSQL would scan all
-- callbacks once for an exists() in place of the first `in`.
select f.reference_key, f.transaction_type, f.merchant_reference, f.shown as state, f.needs, f.currency, f.amount, f.compare,
  f.replaced, f.deadline_at, f.settled_by, f.settled_at, f.canceled_at, f.order_id, f.order_total, f.changed_at, {now} as now,
  f.place, f.is_found,
  case when f.number = cast($2 as integer) then 1 else 0 end as is_last
from (
  select l.*, row_number() over (order by l.place desc, l.reference_key desc, l.transaction_type desc) as number,
    case when l.changed_at >= cast($5 as bigint) and l.changed_at < cast($6 as bigint) and l.shown in (select value from {values: $4})
      and (cast($9 as text) is null or l.needs = coalesce(nullif($9, ''), l.needs))
      and (cast($7 as text) is null or lower(l.merchant_reference) like $7 escape '\'
        or 1 in (select 1 from inbox.callback c
          where c.reference_key = l.reference_key and c.transaction_type = l.transaction_type and lower(c.signed) like $7 escape '\'
            and lower({postgres: substring(c.signed from '"internal_reference":("([^"\\]|\\.)*")')}{sqlite: c.signed -> '$.internal_reference'}) like $7 escape '\'))
      and (cast($8 as text) is null or $8 in (select b.provider from inbox.callback c join inbox.body b on b.transition = c.id
        where c.reference_key = l.reference_key and c.transaction_type = l.transaction_type))
      then 1 else 0 end as is_found
  from (
    select k.*, case when k.state = 'open' and k.deadline_at <= {now} then 'overdue' else k.state end as shown from (
      {of state: select p.*, p.changed_at as place from inbox.payment p where p.state = $13 and p.changed_at >= cast($5 as bigint)}
      {of needed: select p.*, p.changed_at as place from inbox.payment p where p.needs is not null and p.changed_at >= cast($5 as bigint)}
      {of reason: select p.*, p.changed_at as place from inbox.payment p where p.needs = $13 and p.changed_at >= cast($5 as bigint)}
      {of overdue: select p.*, -p.deadline_at as place from inbox.payment p where p.state = 'open' and -p.deadline_at >= -{now}}
      {of order: select p.*, p.changed_at as place from inbox.payment p where p.account = $1 and p.order_id = $13}
      {of key: select p.*, p.changed_at as place from inbox.payment p where p.reference_key in (
        select value from {values: $13} union all select c.reference_key from inbox.callback c
        where c.subject_key in (select value from {values: $14}))}
    ) as k
    where k.account = $1 and (k.place, k.reference_key, k.transaction_type) < (cast($10 as bigint), $11, $12)
    order by k.place desc, k.reference_key desc, k.transaction_type desc limit cast($2 as integer)
  ) as l
) as f
where f.is_found = 1 or f.number = cast($2 as integer){of key:  or true}
order by f.place desc, f.reference_key desc, f.transaction_type desc limit cast($3 as integer)

-- name: count_payments
-- At most 10,000 of each, by index.
select column1 as name, (select count(*) from (select 1 from inbox.payment p
  where p.account = $1 and p.state = column1 limit 10000) as counted) as count
from (values ('held'), ('unexpected'), ('paid'), ('reversed'), ('failed'), ('canceled')) as states
union all
select 'overdue', count(*) from (select 1 from inbox.payment p
  where p.account = $1 and p.state = 'open' and -p.deadline_at >= -{now} limit 10000) as counted
union all
select 'open', count(*) from (select 1 from inbox.payment p
  where p.account = $1 and p.state = 'open' and -p.deadline_at < -{now} limit 10000) as counted
union all
select 'open without a deadline', count(*) from (select 1 from inbox.payment p
  where p.account = $1 and p.state = 'open' and -p.deadline_at is null limit 10000) as counted
union all
select 'needed', count(*) from (select 1 from inbox.payment p
  where p.account = $1 and p.needs is not null limit 10000) as counted
union all
select 'archived', coalesce(cast(sum(archived) as bigint), 0) from inbox.tally where account = $1

-- name: prune_bodies
-- Rows that another prune or a receiver has locked are left to the next run: waiting could be a deadlock.
update inbox.body set content = null
where (transition, digest) in (
  select b.transition, b.digest from inbox.body b
  join inbox.transition t on t.id = b.transition
  left join inbox.delivery d on d.transition = b.transition and d.digest = b.digest
  where b.transition > cast($1 as bigint) and b.content is not null and t.account = $2
    and coalesce(d.last_at, b.first_at) < {now} -
      case when t.state in ('quarantined', 'conflict', 'dead') then cast($4 as bigint) else cast($3 as bigint) end
    and t.state not in ('pending', 'retrying')
  order by b.transition, b.digest limit 500{postgres:  for update of b skip locked})
returning transition

-- name: prune_failures (postgres)
-- All of a transition, and its last error: messages of the merchant's program, which may identify the payer.
with old as (
  select f.transition, f.start_id from inbox.failure f
  join inbox.transition t on t.id = f.transition
  where t.account = $1 and t.state not in ('pending', 'retrying') and t.changed_at < {now} -
    case when t.state in ('quarantined', 'conflict', 'dead') then cast($3 as bigint) else cast($2 as bigint) end
  limit 500 for update of f, t skip locked
), cleared as (
  update inbox.transition set last_error = null where id in (select transition from old) and last_error is not null
)
delete from inbox.failure f using old where f.transition = old.transition and f.start_id = old.start_id
returning f.transition

-- name: prune_failures (sqlite)
update inbox.transition set last_error = null
where account = $1 and last_error is not null and state not in ('pending', 'retrying')
  and changed_at < {now} - case when state in ('quarantined', 'conflict', 'dead') then $3 else $2 end;
delete from inbox.failure where (transition, start_id) in (
  select f.transition, f.start_id from inbox.failure f
  join inbox.transition t on t.id = f.transition
  where t.account = $1 and t.state not in ('pending', 'retrying')
    and t.changed_at < {now} - case when t.state in ('quarantined', 'conflict', 'dead') then $3 else $2 end
  limit 500)
returning transition

-- name: find_forgettable
-- Until the transaction ends, no receiver counts a delivery of them.
select found.id, found.transition_id, found.signed{postgres: ,
  cast(pg_advisory_xact_lock(hashtextextended('inbox.transition ' || found.transition_id, 0)) as text) as locked}
from (select id, transition_id, signed from inbox.callback where reference_key = $1 and account = $2 order by id) as found

-- name: find_contents
-- The first verified one: a later delivery of a body that claims the same counts as its delivery.
select digest, claims, case when content is null then 0 else 1 end as has_content from inbox.body where transition = $1
order by case when refusal is null then 0 else 1 end, first_at, digest

-- name: forget_body
update inbox.body set content = null, digest = $3 where transition = $1 and digest = $2

-- name: forget_delivery
update inbox.delivery set digest = $3 where transition = $1 and digest = $2

-- name: forget_settled
update inbox.transition set settled_digest = $3 where id = $1 and settled_digest = $2

-- name: forget_error
update inbox.transition set last_error = null where id = $1 and last_error is not null returning id

-- name: forget_failures
delete from inbox.failure where transition = $1 returning start_id

-- name: forget_notes
update inbox.action set note = $2 where transition = $1 and action <> 'forget' and note <> $2 returning id

-- name: lock_payments
select transaction_type, replaced from inbox.payment where reference_key = $1 and account = $2{postgres:  for update}

-- name: forget_payment_notes
update inbox.action set note = $3
where reference_key = $1 and transaction_type = $2 and action <> 'forget' and note <> $3 returning id

-- name: forget_replaced
update inbox.payment set replaced = $3 where reference_key = $1 and transaction_type = $2

-- name: find_forgotten
-- Here or in the archive, by its key $2.
select a.id from inbox.action a where a.action = 'forget' and a.transition in (
  select c.id from inbox.callback c where c.transition_id = $1
  union all select r.id from inbox.archive r where r.transition = cast($2 as bigint)) limit 1

-- name: read_version
select coalesce(max(version), 0) as version, coalesce(max(compatible_with), 0) as compatible_with from inbox.migration

-- name: lock_migration (postgres)
-- Every process on every machine waits here for the one that migrates. The number is arbitrary, and the same for all of them. Its
-- result is not selected: it is void, which Prisma cannot read.
select 1 as locked from pg_advisory_xact_lock(7265018224613)

-- name: checkpoint (sqlite)
pragma wal_checkpoint

-- name: has_tables (postgres)
-- Not to_regclass(): inside a transaction it may not see what another one has just made.
select (select tablename from pg_tables where schemaname || '.' || tablename = 'inbox.migration') as name

-- name: has_tables (sqlite)
select (select name from sqlite_schema where name = 'inbox.migration') as name

-- name: list_columns (postgres)
-- With their types, as the migrations write them. Every role may read them, unlike information_schema, which hides tables.
select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod)
  || case when o.collname <> 'default' then ' collate "' || o.collname || '"' else '' end
  || case when a.attnotnull then ' not null' else '' end as type
from pg_namespace n join pg_class c on c.relnamespace = n.oid join pg_attribute a on a.attrelid = c.oid
left join pg_collation o on o.oid = a.attcollation
where n.nspname || '.' = 'inbox.' and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped

-- name: list_columns (sqlite)
select substr(m.name, length('inbox.') + 1) || '.' || c.name as name,
  lower(c.type) || case when c."notnull" = 1 then ' not null' else '' end as type
from sqlite_schema m join pragma_table_info(m.name) c
where m.type = 'table' and substr(m.name, 1, length('inbox.')) = 'inbox.'

-- name: beat
-- A small committed write in a transaction of its own, so that a process that stalls delays no other.
insert into inbox.pulse as p (account, beats) values ($1, 1) on conflict (account) do update set beats = p.beats + 1

-- name: read_engine (postgres)
select current_setting('server_version') as version

-- name: read_engine (sqlite)
select sqlite_version() as version

-- name: read_server (postgres)
-- What every role can see.
select current_setting('server_version') as version,
  current_user as role, pg_is_in_recovery() as is_standby, p.places,
  least(p.places, (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as allowed,
  (select count(*) from pg_stat_activity where datid is not null) as used
from (select cast(current_setting('max_connections') as integer)
  - cast(current_setting('superuser_reserved_connections') as integer)
  - cast(coalesce(current_setting('reserved_connections', true), '0') as integer) as places) as p

-- name: count_listeners (postgres)
-- The listeners of these tables: the text names their schema.
select count(*) as listeners from pg_stat_activity
where datname = current_database() and query = 'listen payment_inbox -- inbox.'

-- name: read_clock
select {now} as now

-- name: list_accounts
select account from inbox.tally group by account order by account limit 10

-- name: count_idle_handlers
-- Of the last 200 that were settled.
select count(*) as count from (
  select last_error from inbox.transition where account = $1 and state = 'settled' order by changed_at desc, id desc limit 200
) as last where last_error = $2

-- name: list_untaken
-- The last 200 reports without a handler.
select c.signed
from inbox.transition t join inbox.callback c on c.id = t.id
where t.account = $1 and t.state = 'unhandled' and t.reason = 'no_handler'
order by t.changed_at desc, t.id desc limit 200
