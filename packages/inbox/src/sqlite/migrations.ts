import type { SqliteConnection } from './connection.ts';
import { RefusedDatabase } from './refused-database.ts';
import { STEP_TABLE, TABLE_PREFIX, tables } from './sqlite-tables.ts';

/**
 * In order, never changed once released. The version is kept in a table of the inbox: `user_version` belongs to the
 * merchant, whose tables may stand in the same file.
 */
const MIGRATIONS: readonly string[] = [
  `create table ${tables.transition} (
       id integer primary key,
       transition_id blob not null unique,
       account text not null,
       signed text not null,
       reference_key blob not null,
       subject_key blob not null,
       completed integer not null,
       state text not null,
       reason text,
       bodies integer not null,
       revision integer not null default 0,
       attempts integer not null default 0,
       waived integer not null default 0,
       next_at integer not null,
       first_at integer not null,
       changed_at integer not null,
       settled_digest blob,
       last_error text,
       note text
     ) strict;
     create index ${TABLE_PREFIX}due on ${tables.transition} (account, next_at, id) where state in ('pending', 'retrying');
     create index ${TABLE_PREFIX}parked on ${tables.transition} (account, state, id)
       where state in ('unhandled', 'quarantined', 'conflict', 'dead', 'resolved');
     create index ${TABLE_PREFIX}parked_reference on ${tables.transition} (reference_key)
       where state in ('unhandled', 'quarantined', 'conflict');
     create table ${tables.body} (
       transition integer not null,
       digest blob not null,
       body blob,
       request_currency text,
       request_amount text,
       transaction_currency text,
       transaction_amount text,
       key_id text not null,
       refusal text,
       deliveries integer not null default 1,
       first_at integer not null,
       last_at integer not null,
       primary key (transition, digest)
     ) strict, without rowid;
     create table ${tables.expectation} (
       reference_key blob not null primary key,
       account text not null,
       merchant_reference text not null,
       currency text not null,
       amount text not null,
       compare text not null,
       revision integer not null default 1,
       deadline_at integer,
       settled_by blob,
       settled_at integer,
       changed_at integer not null
     ) strict, without rowid;
     create index ${TABLE_PREFIX}deadline on ${tables.expectation} (account, deadline_at) where settled_by is null;
     create table ${tables.applied} (
       subject_key blob not null primary key,
       status text not null,
       transition_id blob not null,
       applied_at integer not null
     ) strict, without rowid;
     create table ${tables.start} (
       transition_id blob not null primary key,
       starts integer not null
     ) strict, without rowid;
     create table ${STEP_TABLE} (step integer not null) strict;
     insert into ${STEP_TABLE} values (0);`,
];

/** Brings the tables up to date; safe when several processes do it at once: the write lock lets in one at a time. */
export function migrate(connection: SqliteConnection, now: number): void {
  // Tables that are up to date are only read: a writer elsewhere, however slow, does not keep a program from starting.
  if (versionOf(connection) === MIGRATIONS.length) return;
  connection.begin();
  try {
    connection.execute(
      `create table if not exists ${tables.migration} (version integer primary key, migrated_at integer not null) strict`,
    );
    const version = versionOf(connection);
    if (version > MIGRATIONS.length) throw newerDatabase();
    for (const [index, script] of MIGRATIONS.entries()) {
      if (index < version) continue;
      connection.execute(script);
      connection.query(`insert into ${tables.migration} values ($1, $2)`, { $1: index + 1, $2: now });
    }
    connection.commit();
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

function versionOf(connection: SqliteConnection): number {
  const found = connection.query(`select 1 as found from sqlite_schema where type = 'table' and name = $1`, {
    $1: tables.migration,
  });
  if (found.rows.length === 0) return 0;
  const [row] = connection.query(`select coalesce(max(version), 0) as version from ${tables.migration}`).rows;
  return Number(row?.['version'] ?? 0);
}

function newerDatabase(): RefusedDatabase {
  return new RefusedDatabase(
    'store',
    'These tables were made by a newer version of @payment-service/inbox. Bring this program up to that version.',
  );
}
