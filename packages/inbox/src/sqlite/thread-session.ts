import type { Session, SqlValue } from '../session.ts';
import type { SqliteThread } from './sqlite-thread.ts';

/** The inbox's own statements on a thread's connection. */
export function threadSession(thread: SqliteThread): Session {
  return { query: (text, values = []) => thread.request({ kind: 'query', text, values: numbered(values) }) };
}

/** `$1`, `$2`, … are names to SQLite: they may repeat and come in any order, as in PostgreSQL. */
export function numbered(values: readonly SqlValue[]): Record<string, SqlValue> {
  return Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
}
