import type { SqliteThread } from './sqlite-thread.ts';

/** Commits what the body did, or rolls it back and throws the body's own error, whatever becomes of the rollback. */
export async function inTransaction<T>(thread: SqliteThread, body: () => Promise<T>): Promise<T> {
  await thread.request({ kind: 'begin' });
  try {
    const result = await body();
    await thread.request({ kind: 'commit' });
    return result;
  } catch (error) {
    // Whatever is still open on it ends with the connection.
    await thread.request({ kind: 'rollback' }).catch(() => thread.close().catch(() => undefined));
    throw error;
  }
}
