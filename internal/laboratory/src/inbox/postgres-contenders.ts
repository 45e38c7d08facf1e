import { createInbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import type { Contender, Engines } from './contender.ts';
import { grouped } from './grouped.ts';
import { COLUMNS, type SameRow, sameRow } from './same-row.ts';

/** As many connections for each, and no more than a default pool has. */
const CONNECTIONS = 10;

export async function inboxPostgres({ postgresUrl }: Engines): Promise<Contender> {
  const pool = openPool(postgresUrl);
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

/** The tables and indexes of the inbox, in a schema of its own, and one statement that writes the same rows. */
export async function floorPostgres({ postgresUrl }: Engines): Promise<Contender> {
  return upsertInto(await openFloor(postgresUrl, 'floor'), 'floor');
}

/** The floor without waiting for the disk. */
export async function lazyPostgres({ postgresUrl }: Engines): Promise<Contender> {
  const url = `${postgresUrl}?options=${encodeURIComponent('-c synchronous_commit=off')}`;
  const pool = openPool(url);
  // The inbox, whose tables these are like, refuses such a connection.
  await (await openFloor(postgresUrl, 'lazy')).end();
  return upsertInto(pool, 'lazy');
}

function upsertInto(pool: pg.Pool, schema: string): Contender {
  const text = upsert(schema);
  return {
    keep: (callback) => pool.query({ name: 'upsert', text, values: columnsOf([sameRow(callback)]) }),
    count: () => countRows(pool, `${schema}.body`),
    close: () => pool.end(),
  };
}

export async function groupedPostgres({ postgresUrl }: Engines): Promise<Contender> {
  const pool = await openFloor(postgresUrl, 'grouped_floor');
  const keep = grouped<SameRow>(64, 2, (rows) =>
    pool.query({ name: 'upsert', text: upsert('grouped_floor'), values: columnsOf(rows) }),
  );
  return {
    keep: (callback) => keep(sameRow(callback)),
    count: () => countRows(pool, 'grouped_floor.body'),
    close: () => pool.end(),
  };
}

export async function pgBoss({ postgresUrl }: Engines): Promise<Contender> {
  const pool = openPool(postgresUrl);
  const boss = new PgBoss({
    connectionString: postgresUrl,
    max: CONNECTIONS,
    // Only what send() needs: nothing else runs beside it.
    supervise: false,
    schedule: false,
  });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue('callbacks');
  return {
    keep: ({ signed, raw }) => boss.send('callbacks', { signed, body: raw }),
    count: () => countRows(pool, 'pgboss.job'),
    async close() {
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}

async function openFloor(url: string, schema: string): Promise<pg.Pool> {
  const pool = openPool(url);
  await createInbox({ store: postgres(pool) }).ready();
  await pool.query(
    `create schema ${schema};
     create table ${schema}.callback (like payment_inbox.callback including all);
     create table ${schema}.transition (like payment_inbox.transition including all);
     create table ${schema}.body (like payment_inbox.body including all)`,
  );
  return pool;
}

function openPool(connectionString: string): pg.Pool {
  return new pg.Pool({ connectionString, max: CONNECTIONS });
}

async function countRows(pool: pg.Pool, table: string): Promise<number> {
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
