import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EFFECT_TABLE } from '../history/effects.ts';
import type { Read } from '../history/remains.ts';
import { type TestDatabase, testDatabase } from './test-database.ts';

/** One file that all processes share; there is no server, so killing them is killing it. */
export function sqliteDatabase(folder: string, isControl: boolean): TestDatabase {
  const [path, outsidePath] = [join(folder, 'shop.db'), join(folder, 'outside.db')];
  const [file, outside] = [open(path), open(outsidePath)];
  const reading =
    (database: DatabaseSync): Read =>
    async (statement) =>
      database.prepare(statement).all();
  return testDatabase({
    database: { store: 'sqlite', path, outsidePath },
    prefix: 'payment_inbox_',
    read: reading(file),
    readEffects: isControl ? reading(outside) : undefined,
    kill: undefined,
    restart: async () => undefined,
    async stop() {
      file.close();
      outside.close();
    },
  });
}

function open(path: string): DatabaseSync {
  const file = new DatabaseSync(path, { timeout: 10_000 });
  file.exec(`pragma journal_mode = wal; pragma synchronous = full; ${EFFECT_TABLE}`);
  return file;
}
