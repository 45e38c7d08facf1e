create table inbox.transition (
  id {key},
  transition_id {text} not null unique,
  account {text} not null,
  signed {text} not null,
  reference_key {text} not null,
  transaction_type {text} not null,
  subject_key {text} not null,
  state {text} not null,
  reason {text},
  bodies integer not null,
  refused_bodies integer not null default 0,
  revision integer not null default 0,
  attempts integer not null default 0,
  unfinished integer not null default 0,
  start_id {text},
  looks integer not null default 0,
  waived integer not null default 0,
  next_at {bigint},
  first_at {bigint} not null,
  changed_at {bigint} not null,
  settled_digest {text},
  last_error {text}
){strict};
create index {index}transition_due on inbox.transition (account, next_at, id) where next_at is not null;
create index {index}transition_reference on inbox.transition (reference_key);
create index {index}transition_parked on inbox.transition (account, state, reason, changed_at, id)
  where state not in ('pending', 'retrying', 'settled');
create table inbox.body (
  transition {bigint} not null,
  digest {text} not null,
  content {text},
  claims {text} not null,
  key_id {text} not null,
  refusal {text},
  first_at {bigint} not null,
  primary key (transition, digest)
){strict};
create table inbox.delivery (
  transition {bigint} not null,
  digest {text} not null,
  repeats {bigint} not null,
  last_at {bigint} not null,
  primary key (transition, digest)
){strict};
create table inbox.expectation (
  reference_key {text} not null,
  transaction_type {text} not null,
  account {text} not null,
  merchant_reference {text} not null,
  currency {text} not null,
  amount {text} not null,
  compare {text} not null,
  replaced {text} not null,
  deadline_at {bigint},
  settled_by {text},
  settled_at {bigint},
  changed_at {bigint} not null,
  primary key (reference_key, transaction_type)
){strict};
create index {index}expectation_deadline on inbox.expectation (account, deadline_at) where settled_by is null;
create table inbox.applied (
  subject_key {text} not null primary key,
  status {text} not null,
  transition_id {text} not null,
  applied_at {bigint} not null
){strict};
create table inbox.action (
  id {key},
  transition {bigint} not null,
  action {text} not null,
  by_whom {text} not null,
  note {text} not null,
  at {bigint} not null
){strict};
create index {index}action_transition on inbox.action (transition);
create table inbox.pulse (
  account {text} not null primary key,
  beats {bigint} not null,
  seen_at {bigint} not null
){strict};
create table inbox.migration (
  version integer not null primary key,
  compatible_with integer not null,
  migrated_at {bigint} not null
){strict};
