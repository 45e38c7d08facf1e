-- name: limit_statements
-- For this transaction only: the server gives up before the sender of a callback is given up.
select set_config('lock_timeout', $1, true), set_config('statement_timeout', $1, true),
  set_config('idle_in_transaction_session_timeout', $1, true)

-- name: enter_attempt
-- The mark is gone when the handler ends the transaction. The lock serialises the handlers of an
-- internal_reference in these tables: other schemas of the database have their own.
select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', $2, true), set_config('payment_inbox.attempt', $3, true),
  pg_try_advisory_xact_lock(hashtextextended('inbox.' || $4, 0)) as is_free,
  concat(pg_current_xact_id(), ' ', extract(epoch from pg_stat_get_bgwriter_stat_reset_time())) as number

-- name: read_outcome
-- Asked about the transaction of an attempt that failed. Nothing on another server, and nothing after a crash of this one, which
-- may give the number again: then its statistics have begun anew.
select case when split_part($1, ' ', 2) = cast(extract(epoch from pg_stat_get_bgwriter_stat_reset_time()) as text)
  then pg_xact_status(cast(split_part($1, ' ', 1) as xid8)) end as status

-- name: notify
select pg_notify('payment_inbox', $1)
