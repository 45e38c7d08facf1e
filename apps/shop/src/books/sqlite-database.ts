import { DatabaseSync } from 'node:sqlite';
import { type SqliteTransaction, sqlite } from '@payment-service/inbox';
import type { Database, Statements, Value } from './database.ts';

/**
 * One file for orders and inbox. All writes go through the inbox, whose writers take turns; a second writer in this thread
 * would wait for a handler in the same thread.
 *
 * @throws {ConfigurationError} for a file that would not keep what the inbox acknowledges.
 */
export function openSqliteDatabase(file: string): Database {
  const store = sqlite(file);
  let reader: DatabaseSync | undefined;
  /** Opened late: the inbox creates the file. */
  const reading: Statements = {
    async query(text, values = []) {
      reader ??= new DatabaseSync(file, { readOnly: true });
      const rows = reader.prepare(text).all(named(values));
      return { rows, rowCount: rows.length };
    },
  };
  const within = (tx: SqliteTransaction): Statements => ({
    query: (text, values = []) => tx.query(text, named(values)),
  });

  return {
    title: file,
    store,
    reading,
    within,
    async prepare(tx, statements) {
      for (const statement of statements) await tx.query(statement);
    },
    async close() {
      reader?.close();
    },
  };
}

/** `$1` is a name to SQLite. */
function named(values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
}
