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

/** In its own schema, like the inbox's: one statement and one commit for each callback. @param options of its connections. */
export async function postgresFloor(url: string, schema: string, options = ''): Promise<Contender> {
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
  const text = `with kept as (
    insert into ${schema}.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
    values ($1, '', $2, $3, $4, $5, $10) on conflict (transition_id) do nothing
    returning id
  ), begun as (
    insert into ${schema}.transition (id, account, state, bodies, next_at, changed_at)
    select id, '', 'pending', 1, $10::bigint, $10::bigint from kept
  )
  insert into ${schema}.body (transition, digest, content, claims, key_id, first_at)
  select id, $6, $7, $8, $9, $10::bigint from kept
  on conflict (transition, digest) do update set refusal = null`;
  return {
    keep(given) {
      const { callback, body, receivedAt } = sameRow(given);
      return pool.query({ name: 'upsert', text, values: [...callback, ...body, receivedAt] });
    },
    count: () => countRows(pool, `${schema}.body`),
  };
}

export async function countRows(pool: pg.Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]?.n ?? 0;
}

/** In its own file, with the tables and indexes of the inbox, and one transaction for each callback. */
export async function sqliteFloor(folder: string): Promise<Contender> {
  const path = join(folder, 'floor.db');
  await (await openInbox(sqlite(path))).close();
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
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
    async keep(given) {
      const { callback, body, receivedAt: at } = sameRow(given);
      database.exec('begin immediate');
      const { lastInsertRowid: id } = insertCallback.run(...callback, at);
      insertTransition.run(id, at, at);
      insertBody.run(id, ...body, at);
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
