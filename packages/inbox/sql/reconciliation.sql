-- name: keep_balances
insert into inbox.balance as b (account, taken_at, wallets) values ($1, {now}, $2)
on conflict (account, taken_at) do update set wallets = excluded.wallets

-- name: nearest_balances
select taken_at, wallets from inbox.balance where account = $1
order by abs(taken_at - cast($2 as bigint)), taken_at limit 1

-- name: total_settled
-- What was settled from $2 on and before $3, by amount, since not both engines add decimals exactly. `certain` is 1 from $4 to $5.
select currency, transaction_type, compare, amount,
  case when at >= cast($4 as bigint) and at <= cast($5 as bigint) then 1 else 0 end as certain, count(*) as count
from (
  select currency, transaction_type, compare, amount, settled_at as at from inbox.payment
  where account = $1 and settled_by is not null and settled_at >= cast($2 as bigint) and settled_at < cast($3 as bigint)
  union all
  select k.currency, k.transaction_type, k.compare, a.amount, a.changed_at from inbox.archive a
  join inbox.archive_kind k on k.id = a.kind
  where k.account = $1 and a.amount <> '' and a.changed_at >= cast($2 as bigint) and a.changed_at < cast($3 as bigint)
) as settled
group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5

-- name: list_settled
-- In the archive, the id of the transition follows from what is there.
-- A page, after the row that $4 to $7 name.
select transaction_type, merchant_reference, currency, amount, settled_by, is_archived, at from (
  select transaction_type, merchant_reference, currency, amount, settled_by, 0 as is_archived, settled_at as at from inbox.payment
  where account = $1 and settled_by is not null and settled_at >= cast($2 as bigint) and settled_at < cast($3 as bigint)
  union all
  select k.transaction_type, a.merchant_reference, k.currency, a.amount, null, 1, a.changed_at from inbox.archive a
  join inbox.archive_kind k on k.id = a.kind
  where k.account = $1 and a.amount <> '' and a.changed_at >= cast($2 as bigint) and a.changed_at < cast($3 as bigint)
) as settled
where (at, is_archived, merchant_reference, transaction_type) > (cast($4 as bigint), cast($5 as integer), cast($6 as text), cast($7 as text))
order by at, is_archived, merchant_reference, transaction_type limit cast($8 as integer)

-- name: find_stated
-- What is known about each line of a statement: the expectation of its reference, the transaction that settled it, the state of
-- its own transition, and whether its internal_reference is known for another payment.
select cast(value ->> 'place' as integer) as place, e.currency, e.amount, e.compare, e.replaced, e.settled_by, e.canceled_at,
  e.state as payment_state, s.signed as settled_signed,
  coalesce((select t.state from inbox.callback c join inbox.transition t on t.id = c.id
    where c.transition_id = value ->> 'transitionId'),
    (select min(t.state) from inbox.callback c join inbox.transition t on t.id = c.id
      where value ->> 'transitionId' is null and c.reference_key = value ->> 'referenceKey'
        and c.transaction_type = value ->> 'transactionType')) as state,
  case when exists (select 1 from inbox.archive a
    where a.merchant_reference = value ->> 'reference') then 1 else 0 end as is_archived,
  case when exists (select 1 from inbox.callback o where o.subject_key = value ->> 'subjectKey'
    and o.reference_key <> value ->> 'referenceKey') then 1 else 0 end as is_shared
from {records: $1}
left join inbox.payment e
  on e.reference_key = value ->> 'referenceKey' and e.transaction_type = value ->> 'transactionType'
left join inbox.callback s on s.transition_id = e.settled_by

-- name: list_last_settled
-- What settled the last 100 payments, for how the service writes the ids of the account.
select s.signed from (
  select settled_by from inbox.payment where account = $1 and settled_by is not null order by settled_at desc limit 100
) as p join inbox.callback s on s.transition_id = p.settled_by

-- name: keep_format
insert into inbox.statement_format as f (account, name, format) values ($1, $2, $3)
on conflict (account, name) do update set format = excluded.format

-- name: forget_format
delete from inbox.statement_format where account = $1 and name = $2

-- name: list_formats
select name, format from inbox.statement_format where account = $1 order by name
