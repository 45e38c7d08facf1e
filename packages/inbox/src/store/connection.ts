import type { PostgresClient, PostgresPool } from './postgres.ts';

/** How long a statement of the inbox inside a transaction may take: longer than it waits for a lock by default. */
export const STATEMENT_MS = 15_000;

export function connect<Client extends PostgresClient>(pool: PostgresPool<Client>): Promise<Client> {
  return new Promise((resolve, reject) => {
    // Not the promise of the pool: a server that ends at this moment may report it in the same packet, before a
    // caller of the promise could add a listener, and an error event without a listener ends the process.
    pool.connect((error, client) => {
      if (client === undefined) return reject(error);
      client.on('error', ignoreError);
      resolve(client);
    });
  });
}

/** A broken connection shows in the next statement. */
export function ignoreError(): void {}
