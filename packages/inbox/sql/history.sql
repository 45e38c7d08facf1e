-- name: last_hour
-- Sums of whole hours, so that no page adds up a month of payments. An hour without a payment has one row without a currency.
select (select max(hour) from inbox.hour where account = $1) as hour,
  (select min(settled_at) from inbox.payment where account = $1 and settled_by is not null) as first

-- name: keep_hour
insert into inbox.hour (account, hour, currency, transaction_type, amount, count)
values ($1, cast($2 as bigint), $3, $4, $5, cast($6 as bigint))
on conflict (account, hour, currency, transaction_type) do nothing

-- name: read_hours
select hour, currency, transaction_type, amount, count from inbox.hour
where account = $1 and hour >= cast($2 as bigint) and count > 0 order by hour

-- name: drop_hours
-- The payment of $2 may settle again, at another time: its hour and those after it are summed again.
delete from inbox.hour where account = $1 and hour > (select min(e.settled_at) - 3600000 from inbox.callback c
  join inbox.payment e on e.reference_key = c.reference_key and e.transaction_type = c.transaction_type
  where c.transition_id = $2 and e.settled_by = c.transition_id)

-- name: drop_future_hours
-- Kept while the database's clock was ahead: what settles in them is summed when they are over.
delete from inbox.hour where account = $1 and hour > cast($2 as bigint)

-- name: list_delays
select e.settled_at as at, e.settled_at - c.first_at as ms
from (select settled_at, settled_by from inbox.payment
  where account = $1 and settled_by is not null and settled_at >= cast($2 as bigint)
  order by settled_at desc limit cast($3 as integer)) as e
join inbox.callback c on c.transition_id = e.settled_by
order by at

-- name: list_changes
-- Payments in a state that have changed since $3: the newest, the oldest of these first.
select p.changed_at, case when p.state = 'open' and p.deadline_at <= {now} then 'overdue' else p.state end as state, p.needs
from (select * from inbox.payment where account = $1 and state = $2 and changed_at >= cast($3 as bigint)
  order by changed_at desc, reference_key desc limit cast($4 as integer)) as p
order by p.changed_at
