import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteEngine } from '../load/engines.ts';
import { EFFECT_TABLE } from '../load/postgres.ts';
import { type Applier, COUNT_EFFECTS } from './applier.ts';
import { engineApplier } from './postgres-appliers.ts';

/** One handler at a time, since SQLite has one writer. */
export async function inboxSqliteApplier(folder: string): Promise<Applier> {
  return engineApplier('inbox, SQLite', await sqliteEngine(folder, 'apply-inbox'));
}

/** In the thread that calls, which it blocks: a committed start, then one transaction, both with a full sync. */
export async function floorSqliteApplier(folder: string): Promise<Applier> {
  const path = join(folder, 'apply-floor.db');
  const file = new DatabaseSync(path);
  file.exec(
    `pragma journal_mode = wal; pragma synchronous = full; ${EFFECT_TABLE};
     create table payment (id integer primary key, reference text not null unique, content text not null, amount text not null,
       attempts integer not null default 0, next_at integer default 0);
     create index due on payment (next_at, id) where next_at is not null`,
  );
  const due = file.prepare('select id from payment where next_at is not null order by next_at, id limit ?');
  const start = file.prepare(
    'update payment set attempts = attempts + 1, next_at = 1 where id = ? returning content, amount',
  );
  const effect = file.prepare('insert into merchant_effect values (?, ?)');
  const settle = file.prepare('update payment set next_at = null where id = ? and next_at is not null');
  return {
    name: 'floor, SQLite',
    async fill(count) {
      const insert = file.prepare('insert into payment (reference, content, amount) values (?, ?, ?)');
      file.exec('begin');
      for (let n = 0; n < count; n++) insert.run(randomUUID(), 'x'.repeat(500), '500');
      file.exec('commit; analyze');
    },
    async apply(count) {
      const started = performance.now();
      for (const row of due.all(count)) {
        const id = Number(row['id']);
        start.get(id);
        file.exec('begin immediate');
        effect.run(String(id), '500');
        settle.run(id);
        file.exec('commit');
      }
      return (performance.now() - started) / 1000;
    },
    effects: async () => Number(file.prepare(COUNT_EFFECTS).get()?.['n']),
    async close() {
      file.close();
      await rm(path);
    },
  };
}
