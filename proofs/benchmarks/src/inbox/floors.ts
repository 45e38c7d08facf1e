import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bodyText, type VerifiedCallback } from '@payment-service/core';
import { createInbox, type Inbox, postgres, type Store, sqlite } from '@payment-service/inbox';
import pg from 'pg';

/** Something that keeps a callback durably. */
export interface Contender {
  /** Resolves when the callback is on disk. */
  keep(callback: VerifiedCallback): Promise<unknown>;
  /** How many it has kept, read back from its storage. */
  count(): Promise<number>;
}

/** Tables like those of the inbox, and a function that writes the same rows into them. */
interface Floor extends Pick<Contender, 'count'> {
  /** Writes all rows in one commit. */
  write(rows: readonly SameRow[]): Promise<unknown>;
}

/** What the inbox stores for a callback, built without the inbox, in the order of the floors' statements. */
interface SameRow {
  /** The columns of its transition: the id, the signed fields, the key of the reference, the type, the key of the subject. */
  readonly callback: readonly string[];
  /** The columns of its body: digest, content, claims and key. */
  readonly body: readonly string[];
  readonly receivedAt: number;
}

/** The same number of connections for each, and no more than in a default pool. */
export const CONNECTIONS = 10;

/** One commit for each callback. */
export function single({ write, count }: Floor): Contender {
  return { keep: (callback) => write([sameRow(callback)]), count };
}

interface Waiting extends PromiseWithResolvers<void> {
  readonly row: SameRow;
}

/** The simplest way to commit for up to 64 callers together: while one group is being written, the next one gathers. */
export function grouped({ write, count }: Floor, lanes: number): Contender {
  const waiting: Waiting[] = [];
  let free = lanes;
  const next = async (): Promise<void> => {
    if (free === 0 || waiting.length === 0) return;
    free -= 1;
    const group = waiting.splice(0, 64);
    try {
      await write(group.map(({ row }) => row));
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    free += 1;
    await next();
  };
  const keep = (callback: VerifiedCallback): Promise<void> => {
    const one = { row: sameRow(callback), ...Promise.withResolvers<void>() };
    waiting.push(one);
    // The group includes whatever else arrives in this turn of the event loop.
    setImmediate(next);
    return one.promise;
  };
  return { keep, count };
}

function sameRow(callback: VerifiedCallback): SameRow {
  const { signed, unsigned, transitionId, keyId } = callback;
  const content = bodyText(callback);
  const claimed = { currency: unsigned.request_currency ?? null, amount: String(unsigned.request_amount) };
  const key = (reference: string): string => hash('sha256', reference, 'base64url');
  const claims = JSON.stringify({ request: claimed, transaction: claimed });
  return {
    callback: [
      ...[transitionId, JSON.stringify(signed), key(signed.merchant_reference)],
      ...[JSON.stringify(signed.transaction_type), key(signed.internal_reference)],
    ],
    body: [hash('sha256', content), content, claims, keyId],
    receivedAt: Date.now(),
  };
}

/** With its tables. */
export async function openInbox<Tx>(store: Store<Tx>): Promise<Inbox<Tx>> {
  const inbox = createInbox({ store });
  await inbox.ready();
  return inbox;
}

/** In its own schema, with one statement that writes all rows. @param options of its connections. */
export async function postgresFloor(url: string, schema: string, options = ''): Promise<Floor> {
  // The inbox, whose tables are copied here, refuses a connection that does not wait for the disk.
  const durable = new pg.Pool({ connectionString: url });
  await (await openInbox(postgres(durable))).close();
  await durable.end();
  const connectionString = `${url}?options=${encodeURIComponent(options)}`;
  const pool = new pg.Pool({ connectionString, max: CONNECTIONS });
  await pool.query(
    `create schema ${schema};
     create table ${schema}.callback (like payment_inbox.callback including all);
     create table ${schema}.transition (like payment_inbox.transition including all);
     create table ${schema}.body (like payment_inbox.body including all)`,
  );
  const text = `with given as (
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
  return {
    write(given) {
      const rows = given.map(({ callback, body, receivedAt }) => [...callback, ...body, receivedAt]);
      const columns = Array.from({ length: 10 }, (_, column) => rows.map((row) => row[column]));
      return pool.query({ name: 'upsert', text, values: columns });
    },
    count: () => countRows(pool, `${schema}.body`),
  };
}

export async function countRows(pool: pg.Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]?.n ?? 0;
}

/** In its own file, with the tables and indexes of the inbox, and one transaction for all rows. */
export async function sqliteFloor(
  folder: string,
  name: string,
  synchronous: 'full' | 'normal' = 'full',
): Promise<Floor> {
  const path = join(folder, `${name}.db`);
  await (await openInbox(sqlite(path))).close();
  const database = new DatabaseSync(path);
  database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}`);
  const insertCallback = database.prepare(
    `insert into payment_inbox_callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
     values (?, '', ?, ?, ?, ?, ?) on conflict (transition_id) do nothing`,
  );
  const insertTransition = database.prepare(
    `insert into payment_inbox_transition (id, account, state, bodies, next_at, changed_at)
     values (?, '', 'pending', 1, ?, ?)`,
  );
  const insertBody = database.prepare(
    `insert into payment_inbox_body (transition, digest, content, claims, key_id, first_at)
     values (?, ?, ?, ?, ?, ?) on conflict (transition, digest) do update set refusal = null`,
  );
  return {
    async write(rows) {
      database.exec('begin immediate');
      for (const { callback, body, receivedAt: at } of rows) {
        const { lastInsertRowid: id } = insertCallback.run(...callback, at);
        insertTransition.run(id, at, at);
        insertBody.run(id, ...body, at);
      }
      database.exec('commit');
    },
    count: async () => countBodies(path),
  };
}

export function countBodies(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare('select count(*) as n from payment_inbox_body').get()?.['n']);
  } finally {
    database.close();
  }
}
