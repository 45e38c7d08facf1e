import { within } from '../within.ts';
import type { PostgresClient } from './postgres-pool.ts';

/** A transaction on one connection, and how long the server may take for its parts, in milliseconds. */
export interface Attempt<T> {
  readonly begin: string;
  readonly body: () => Promise<T>;
  /** Resolves when no statement of the body runs any more. */
  readonly idle?: () => Promise<void>;
  readonly beginMs: number;
  readonly commitMs: number;
  readonly rollbackMs: number;
}

/** What became of it where the connection is as good as before. */
export type Outcome<T> =
  | { readonly isCommitted: true; readonly result: T }
  | { readonly isCommitted: false; readonly error: unknown };

/** Nothing was heard of the rollback: the connection must not be used again. The cause is what the body threw. */
export class ConnectionLost extends Error {}

/**
 * Commits what the body did, or rolls it back.
 *
 * @throws {ConnectionLost} when the rollback fails; what `begin` throws.
 */
export async function attempt<T>(
  client: PostgresClient,
  { begin, body, idle = async () => undefined, beginMs, commitMs, rollbackMs }: Attempt<T>,
): Promise<Outcome<T>> {
  await within(beginMs, client.query(begin));
  try {
    const result = await body();
    await within(commitMs, commit(client));
    return { isCommitted: true, result };
  } catch (error) {
    const rolledBack = idle().then(() => client.query('rollback'));
    await within(rollbackMs, rolledBack).catch(() => {
      throw new ConnectionLost('The connection was lost.', { cause: error });
    });
    return { isCommitted: false, error };
  }
}

/** PostgreSQL answers COMMIT with ROLLBACK, and no error, when a statement has failed before. */
async function commit(client: PostgresClient): Promise<void> {
  const { command } = await client.query('commit');
  if (command !== 'ROLLBACK') return;
  throw new Error(
    'PostgreSQL has rolled this transaction back, because one of its statements had failed: nothing of it is kept. Let ' +
      'the error of a statement end the transaction; where a failure is expected, avoid it, as ON CONFLICT DO NOTHING does.',
  );
}
