import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInbox, sqlite } from '@payment-service/inbox';
import type { Contender } from './contender.ts';
import type { Floor, SameRow } from './floor.ts';

export async function inboxSqlite(folder: string, name = 'inbox'): Promise<Contender> {
  const path = join(folder, `${name}.db`);
  const inbox = createInbox({ store: sqlite(path) });
  await inbox.ready();
  return { keep: inbox.receive, count: async () => countRows(path), close: inbox.close };
}

/** In a file of its own, with the tables and indexes of the inbox, one transaction for all of its rows. */
export async function sqliteFloor(
  folder: string,
  name: string,
  synchronous: 'full' | 'normal' = 'full',
): Promise<Floor> {
  await (await inboxSqlite(folder, name)).close();
  const path = join(folder, `${name}.db`);
  const database = new DatabaseSync(path);
  database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}`);
  const callback = database.prepare(
    `insert into payment_inbox_callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
     values (?, '', ?, ?, ?, ?, ?) on conflict (transition_id) do nothing`,
  );
  const transition = database.prepare(
    `insert into payment_inbox_transition (id, account, state, bodies, next_at, changed_at)
     values (?, '', 'pending', 1, ?, ?)`,
  );
  const body = database.prepare(
    `insert into payment_inbox_body (transition, digest, content, claims, key_id, first_at)
     values (?, ?, ?, ?, ?, ?) on conflict (transition, digest) do update set refusal = null`,
  );
  const write = async (rows: readonly SameRow[]): Promise<void> => {
    database.exec('begin immediate');
    for (const row of rows) {
      const { transitionId, signed, referenceKey, transactionType, subjectKey, digest, content } = row;
      const { claims, keyId, receivedAt: at } = row;
      const keys = [signed, referenceKey, transactionType, subjectKey];
      const { lastInsertRowid: id } = callback.run(transitionId, ...keys, at);
      transition.run(id, at, at);
      body.run(id, digest, content, claims, keyId, at);
    }
    database.exec('commit');
  };
  return { write, count: async () => countRows(path), close: async () => database.close() };
}

function countRows(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare('select count(*) as n from payment_inbox_body').get()?.['n']);
  } finally {
    database.close();
  }
}
