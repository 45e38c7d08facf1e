create table inbox.callback (
  id integer primary key autoincrement,
  transition_id text not null unique,
  account text not null,
  signed text not null,
  reference_key text not null,
  transaction_type text not null,
  subject_key text not null,
  first_at integer not null
) strict;
create index payment_inbox_callback_reference on inbox.callback (reference_key);
create index payment_inbox_callback_subject on inbox.callback (subject_key);
create table inbox.transition (
  id integer not null primary key,
  account text not null,
  state text not null,
  reason text,
  bodies integer not null,
  refused_bodies integer not null default 0,
  revision integer not null default 0,
  attempts integer not null default 0,
  unfinished integer not null default 0,
  looks integer not null default 0,
  waived integer not null default 0,
  start_id text,
  place integer,
  next_at integer,
  busy_until integer,
  changed_at integer not null,
  settled_digest text,
  applied_as text,
  last_error text
) strict;
create index payment_inbox_transition_due on inbox.transition (account, next_at, id) where next_at is not null;
create index payment_inbox_transition_changed on inbox.transition (account, state, changed_at, id)
  where state <> 'pending';
create index payment_inbox_transition_parked on inbox.transition (account, reason, changed_at, id)
  where state not in ('pending', 'retrying', 'settled');
create table inbox.body (
  transition integer not null,
  digest text not null,
  content text,
  claims text not null,
  key_id text not null,
  refusal text,
  first_at integer not null,
  traceparent text,
  provider text,
  primary key (transition, digest)
) strict;
create table inbox.delivery (
  transition integer not null,
  digest text not null,
  repeats integer not null,
  last_at integer not null,
  primary key (transition, digest)
) strict;
create table inbox.payment (
  reference_key text not null,
  transaction_type text not null,
  account text not null,
  merchant_reference text not null,
  state text not null,
  needs text,
  currency text,
  amount text,
  compare text,
  replaced text not null,
  order_id text,
  order_total text,
  deadline_at integer,
  settled_by text,
  settled_at integer,
  canceled_at integer,
  changed_at integer not null,
  primary key (reference_key, transaction_type)
) strict;
create index payment_inbox_payment_state on inbox.payment (account, state, changed_at, reference_key);
create index payment_inbox_payment_needed on inbox.payment (account, changed_at, reference_key) where needs is not null;
create index payment_inbox_payment_reason on inbox.payment (account, needs, changed_at, reference_key) where needs is not null;
create index payment_inbox_payment_deadline on inbox.payment (account, (-deadline_at), reference_key, deadline_at) where state = 'open';
create index payment_inbox_payment_settled on inbox.payment (account, settled_at) where settled_by is not null;
create index payment_inbox_payment_order on inbox.payment (account, order_id) where order_id is not null;
create table inbox.balance (
  account text not null,
  taken_at integer not null,
  wallets text not null,
  primary key (account, taken_at)
) strict;
create table inbox.statement_format (
  account text not null,
  name text not null,
  format text not null,
  primary key (account, name)
) strict;
create table inbox.hour (
  account text not null,
  hour integer not null,
  currency text not null,
  transaction_type text not null,
  amount text not null,
  count integer not null,
  primary key (account, hour, currency, transaction_type)
) strict;
create table inbox.action (
  id integer primary key autoincrement,
  transition integer,
  reference_key text,
  transaction_type text,
  action text not null,
  by_whom text not null,
  note text not null,
  at integer not null
) strict;
create index payment_inbox_action_transition on inbox.action (transition);
create index payment_inbox_action_payment on inbox.action (reference_key) where reference_key is not null;
create table inbox.failure (
  transition integer not null,
  start_id text not null,
  attempt integer not null,
  error text not null,
  at integer not null,
  primary key (transition, start_id)
) strict;
create table inbox.archive (
  id integer not null primary key,
  changed_at integer not null,
  transition integer not null,
  kind integer not null,
  place integer not null,
  merchant_reference text not null,
  internal_reference text not null,
  amount text not null
) strict;
create index payment_inbox_archive_transition on inbox.archive (transition);
create index payment_inbox_archive_merchant_reference on inbox.archive (merchant_reference);
create index payment_inbox_archive_internal_reference on inbox.archive (internal_reference);
create table inbox.archive_kind (
  id integer primary key,
  account text not null,
  event text not null,
  transaction_type text not null,
  transaction_status text not null,
  state text not null,
  reason text not null,
  applied_as text not null default '',
  currency text not null,
  compare text not null,
  unique (account, event, transaction_type, transaction_status, state, reason, applied_as, currency, compare)
) strict;
create table inbox.tally (
  account text not null primary key,
  total integer not null,
  archived integer not null default 0
) strict;
create table inbox.pulse (
  account text not null primary key,
  beats integer not null
) strict;
create table inbox.migration (
  version integer not null primary key,
  compatible_with integer not null,
  migrated_at integer not null
) strict;
insert into inbox.migration (version, compatible_with, migrated_at) values (1, 1, {now});
