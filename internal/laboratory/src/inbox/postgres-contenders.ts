import { createInbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
import type { Contender } from './contender.ts';
import { COLUMNS, type Floor, type SameRow } from './floor.ts';

/** As many connections for each, and no more than a default pool has. */
export const CONNECTIONS = 10;

export async function inboxPostgres(connectionString: string): Promise<Contender> {
  const pool = new pg.Pool({ connectionString, max: CONNECTIONS });
  const inbox = createInbox({ store: postgres(pool) });
  await inbox.ready();
  return {
    keep: inbox.receive,
    count: () => countRows(pool, 'payment_inbox.body'),
    async close() {
      await inbox.close();
      await pool.end();
    },
  };
}

/** In a schema of its own, one statement that writes all of its rows. @param options of its connections. */
export async function postgresFloor(url: string, schema: string, options = ''): Promise<Floor> {
  // The inbox, whose tables these are like, refuses a connection that does not wait for the disk.
  await (await inboxPostgres(url)).close();
  const pool = new pg.Pool({
    connectionString: `${url}?options=${encodeURIComponent(options)}`,
    max: CONNECTIONS,
  });
  await pool.query(
    `create schema ${schema};
     create table ${schema}.callback (like payment_inbox.callback including all);
     create table ${schema}.transition (like payment_inbox.transition including all);
     create table ${schema}.body (like payment_inbox.body including all)`,
  );
  const text = upsert(schema);
  return {
    write: (rows) => pool.query({ name: 'upsert', text, values: columnsOf(rows) }),
    count: () => countRows(pool, `${schema}.body`),
    close: () => pool.end(),
  };
}

export async function countRows(pool: pg.Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]?.n ?? 0;
}

function upsert(schema: string): string {
  return `with given as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
      $9::text[], $10::bigint[])
      as g (transition_id, signed, reference_key, transaction_type, subject_key, digest, content, claims, key_id, received_at)
  ), kept as (
    insert into ${schema}.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
    select transition_id, '', signed, reference_key, transaction_type, subject_key, received_at
    from given on conflict (transition_id) do nothing
    returning id, transition_id
  ), begun as (
    insert into ${schema}.transition (id, account, state, bodies, next_at, changed_at)
    select id, '', 'pending', 1, received_at, received_at from given join kept using (transition_id)
  )
  insert into ${schema}.body (transition, digest, content, claims, key_id, first_at)
  select id, digest, content, claims, key_id, received_at
  from given join kept using (transition_id)
  on conflict (transition, digest) do update set refusal = null`;
}

function columnsOf(rows: readonly SameRow[]): unknown[] {
  return ([...COLUMNS, 'receivedAt'] as const).map((column) => rows.map((row) => row[column]));
}
