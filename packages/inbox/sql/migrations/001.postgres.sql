create table inbox.callback (
  id bigint generated always as identity primary key,
  transition_id text collate "C" not null unique,
  account text collate "C" not null,
  signed text collate "C" not null,
  reference_key text collate "C" not null,
  transaction_type text collate "C" not null,
  subject_key text collate "C" not null,
  first_at bigint not null
);
create index callback_reference on inbox.callback (reference_key);
create index callback_subject on inbox.callback (subject_key);
create table inbox.transition (
  id bigint not null primary key,
  account text collate "C" not null,
  state text collate "C" not null,
  reason text collate "C",
  bodies integer not null,
  refused_bodies integer not null default 0,
  revision integer not null default 0,
  attempts integer not null default 0,
  unfinished integer not null default 0,
  looks integer not null default 0,
  waived integer not null default 0,
  start_id text collate "C",
  place integer,
  next_at bigint,
  busy_until bigint,
  changed_at bigint not null,
  settled_digest text collate "C",
  applied_as text collate "C",
  last_error text collate "C"
) with (fillfactor = 50);
create index transition_due on inbox.transition (account, next_at, id) where next_at is not null;
create index transition_changed on inbox.transition (account, state, changed_at, id)
  where state <> 'pending';
create index transition_parked on inbox.transition (account, reason, changed_at, id)
  where state not in ('pending', 'retrying', 'settled');
create table inbox.body (
  transition bigint not null,
  digest text collate "C" not null,
  content text collate "C",
  claims text collate "C" not null,
  key_id text collate "C" not null,
  refusal text collate "C",
  first_at bigint not null,
  traceparent text collate "C",
  provider text collate "C",
  primary key (transition, digest)
);
create table inbox.delivery (
  transition bigint not null,
  digest text collate "C" not null,
  repeats bigint not null,
  last_at bigint not null,
  primary key (transition, digest)
);
create table inbox.payment (
  reference_key text collate "C" not null,
  transaction_type text collate "C" not null,
  account text collate "C" not null,
  merchant_reference text collate "C" not null,
  state text collate "C" not null,
  needs text collate "C",
  currency text collate "C",
  amount text collate "C",
  compare text collate "C",
  replaced text collate "C" not null,
  order_id text collate "C",
  order_total text collate "C",
  deadline_at bigint,
  settled_by text collate "C",
  settled_at bigint,
  canceled_at bigint,
  changed_at bigint not null,
  primary key (reference_key, transaction_type)
) with (fillfactor = 75);
create index payment_state on inbox.payment (account, state, changed_at, reference_key);
create index payment_needed on inbox.payment (account, changed_at, reference_key) where needs is not null;
create index payment_reason on inbox.payment (account, needs, changed_at, reference_key) where needs is not null;
create index payment_deadline on inbox.payment (account, (-deadline_at), reference_key, deadline_at) where state = 'open';
create index payment_settled on inbox.payment (account, settled_at) where settled_by is not null;
create index payment_order on inbox.payment (account, order_id) where order_id is not null;
create table inbox.balance (
  account text collate "C" not null,
  taken_at bigint not null,
  wallets text collate "C" not null,
  primary key (account, taken_at)
);
create table inbox.statement_format (
  account text collate "C" not null,
  name text collate "C" not null,
  format text collate "C" not null,
  primary key (account, name)
);
create table inbox.hour (
  account text collate "C" not null,
  hour bigint not null,
  currency text collate "C" not null,
  transaction_type text collate "C" not null,
  amount text collate "C" not null,
  count bigint not null,
  primary key (account, hour, currency, transaction_type)
);
create table inbox.action (
  id bigint generated always as identity primary key,
  transition bigint,
  reference_key text collate "C",
  transaction_type text collate "C",
  action text collate "C" not null,
  by_whom text collate "C" not null,
  note text collate "C" not null,
  at bigint not null
);
create index action_transition on inbox.action (transition);
create index action_payment on inbox.action (reference_key) where reference_key is not null;
create table inbox.failure (
  transition bigint not null,
  start_id text collate "C" not null,
  attempt integer not null,
  error text collate "C" not null,
  at bigint not null,
  primary key (transition, start_id)
);
create table inbox.archive (
  id bigint not null,
  changed_at bigint not null,
  transition bigint not null,
  kind integer not null,
  place smallint not null,
  merchant_reference text collate "C" not null,
  internal_reference text collate "C" not null,
  amount text collate "C" not null
);
create index archive_transition on inbox.archive (transition);
create index archive_merchant_reference on inbox.archive using hash (merchant_reference);
create index archive_changed on inbox.archive using brin (changed_at) with (pages_per_range = 16, autosummarize = on);
create index archive_internal_reference on inbox.archive using hash (internal_reference);
create table inbox.archive_kind (
  id integer generated always as identity primary key,
  account text collate "C" not null,
  event text collate "C" not null,
  transaction_type text collate "C" not null,
  transaction_status text collate "C" not null,
  state text collate "C" not null,
  reason text collate "C" not null,
  applied_as text collate "C" not null default '',
  currency text collate "C" not null,
  compare text collate "C" not null,
  unique (account, event, transaction_type, transaction_status, state, reason, applied_as, currency, compare)
);
create table inbox.tally (
  account text collate "C" not null,
  total bigint not null,
  archived bigint not null default 0
);
create table inbox.pulse (
  account text collate "C" not null primary key,
  beats bigint not null
);
create table inbox.migration (
  version integer not null primary key,
  compatible_with integer not null,
  migrated_at bigint not null
);
insert into inbox.migration (version, compatible_with, migrated_at) values (1, 1, {now});
