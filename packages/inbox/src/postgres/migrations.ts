import { ConfigurationError } from '@payment-service/core';
import { numberOf, type Session } from '../session.ts';
import { claimFunction } from './claim-function.ts';
import { expectFunction } from './expect-function.ts';
import { parkFunction } from './park-function.ts';
import type { PostgresClient } from './postgres-pool.ts';
import { postgresSession } from './postgres-session.ts';
import { receiveFunction } from './receive-function.ts';
import { settleFunction } from './settle-function.ts';

/** In order, never changed once released. `S` stands for the schema. */
const MIGRATIONS: readonly string[] = [
  `create table S.transition (
     id bigint generated always as identity unique,
     transition_id bytea not null primary key,
     account text collate "C" not null,
     signed text collate "C" not null,
     reference_key bytea not null,
     subject_key bytea not null,
     completed integer not null,
     state text collate "C" not null,
     reason text collate "C",
     bodies integer not null,
     revision integer not null default 0,
     attempts integer not null default 0,
     waived integer not null default 0,
     next_at bigint not null,
     first_at bigint not null,
     changed_at bigint not null,
     settled_digest bytea,
     last_error text collate "C",
     note text collate "C"
   );
   create index transition_due on S.transition (account, next_at, id) where state in ('pending', 'retrying');
   create index transition_parked on S.transition (account, state, id)
     where state in ('unhandled', 'quarantined', 'conflict', 'dead', 'resolved');
   create index transition_parked_reference on S.transition (reference_key)
     where state in ('unhandled', 'quarantined', 'conflict');
   create table S.body (
     transition bigint not null,
     digest bytea not null,
     body bytea,
     request_currency text collate "C",
     request_amount text collate "C",
     transaction_currency text collate "C",
     transaction_amount text collate "C",
     key_id text collate "C" not null,
     refusal text collate "C",
     deliveries integer not null default 1,
     first_at bigint not null,
     last_at bigint not null,
     primary key (transition, digest)
   );
   create table S.expectation (
     reference_key bytea not null primary key,
     account text collate "C" not null,
     merchant_reference text collate "C" not null,
     currency text collate "C" not null,
     amount text collate "C" not null,
     compare text collate "C" not null,
     revision integer not null default 1,
     deadline_at bigint,
     settled_by bytea,
     settled_at bigint,
     changed_at bigint not null
   );
   create index expectation_deadline on S.expectation (account, deadline_at) where settled_by is null;
   create table S.applied (
     subject_key bytea not null primary key,
     status text collate "C" not null,
     transition_id bytea not null,
     applied_at bigint not null
   );
   create table S.start (
     transition_id bytea not null primary key,
     starts integer not null
   );
   ${receiveFunction}
   ${claimFunction}
   ${settleFunction}
   ${parkFunction}
   ${expectFunction}`,
];

/** Any process of any machine waits here for the one that migrates. An arbitrary number, the same for all of them. */
const MIGRATION_LOCK = 7_265_018_224_613;

/**
 * Brings the schema up to date, in the transaction that is open, under a lock: safe when several processes do it at once.
 * A schema that is up to date is only read, so that a role without the right to create can work with it.
 *
 * @throws {ConfigurationError} for tables of a newer version.
 */
export async function migrate(client: PostgresClient, schema: string, now: number): Promise<void> {
  const session = postgresSession(client);
  if ((await versionOf(session, schema)) === MIGRATIONS.length) return;
  await session.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query(
    `create schema if not exists ${schema};
     create table if not exists ${schema}.migration (version integer primary key, migrated_at bigint not null)`,
  );
  const version = await versionOf(session, schema);
  for (const [index, script] of MIGRATIONS.entries()) {
    if (index < version) continue;
    await client.query(script.replaceAll('S.', `${schema}.`));
    await session.query(`insert into ${schema}.migration values ($1, $2)`, [index + 1, now]);
  }
}

async function versionOf(session: Session, schema: string): Promise<number> {
  const { rows } = await session.query('select to_regclass($1)::text as name', [`${schema}.migration`]);
  if (rows[0]?.['name'] === null) return 0;
  const found = await session.query(`select coalesce(max(version), 0) as version from ${schema}.migration`);
  const version = numberOf(found.rows[0] ?? {}, 'version');
  if (version > MIGRATIONS.length) throw newerDatabase();
  return version;
}

function newerDatabase(): ConfigurationError {
  return new ConfigurationError(
    'store',
    'These tables were made by a newer version of @payment-service/inbox. Bring this program up to that version.',
  );
}
