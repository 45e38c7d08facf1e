import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInbox, sqlite } from '@payment-service/inbox';
import type { Contender, Engines } from './contender.ts';
import { grouped } from './grouped.ts';
import { type SameRow, sameRow } from './same-row.ts';

export async function inboxSqlite({ folder }: Engines): Promise<Contender> {
  const path = join(folder, 'inbox.db');
  const inbox = createInbox({ store: sqlite(path) });
  await inbox.ready();
  return { keep: inbox.receive, count: async () => countRows(path), close: inbox.close };
}

/** The tables and indexes of the inbox in a file of its own, and one transaction for each callback. */
export function floorSqlite({ folder }: Engines): Promise<Contender> {
  return writeEach(join(folder, 'floor.db'), 'full');
}

/** The floor without waiting for the disk. */
export function lazySqlite({ folder }: Engines): Promise<Contender> {
  return writeEach(join(folder, 'lazy.db'), 'normal');
}

async function writeEach(path: string, synchronous: 'full' | 'normal'): Promise<Contender> {
  const { database, write } = await openFloor(path, synchronous);
  return {
    keep: async (callback) => write([sameRow(callback)]),
    count: async () => countRows(path),
    close: async () => database.close(),
  };
}

export async function groupedSqlite({ folder }: Engines): Promise<Contender> {
  const path = join(folder, 'grouped-floor.db');
  const { database, write } = await openFloor(path, 'full');
  const keep = grouped<SameRow>(64, 1, async (rows) => write(rows));
  return {
    keep: (callback) => keep(sameRow(callback)),
    count: async () => countRows(path),
    close: async () => database.close(),
  };
}

interface Floor {
  readonly database: DatabaseSync;
  readonly write: (rows: readonly SameRow[]) => void;
}

async function openFloor(path: string, synchronous: 'full' | 'normal'): Promise<Floor> {
  const inbox = createInbox({ store: sqlite(path) });
  await inbox.ready();
  await inbox.close();
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
  const write = (rows: readonly SameRow[]): void => {
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
  return { database, write };
}

function countRows(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare('select count(*) as n from payment_inbox_body').get()?.['n']);
  } finally {
    database.close();
  }
}
