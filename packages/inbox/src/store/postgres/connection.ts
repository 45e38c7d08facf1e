import type { Row } from '../store.ts';

/** What the inbox needs from a `pg` pool and its clients. Structural, so that a program on SQLite needs neither. */
export interface PostgresPool<Client extends PostgresClient = PostgresClient> {
  connect(callback: (error: Error | undefined, client: Client | undefined) => void): void;
  readonly options: { readonly max?: number | undefined };
}

export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[]; command?: string }>;
  query(prepared: {
    name: string;
    text: string;
    values: unknown[];
  }): Promise<{ rows: Row[]; command?: string }>;
  /** The server's process, as reported by the server when the connection was made. */
  readonly processID?: number | null | undefined;
  on(event: 'error' | 'notice' | 'notification', listener: (event: unknown) => void): unknown;
  removeListener(event: 'error' | 'notice' | 'notification', listener: (event: unknown) => void): unknown;
  /** @param destroy true if the connection must not be used again. */
  release(destroy?: boolean): void;
}

/** How long a statement of the inbox inside a transaction may take: longer than it waits for a lock by default. */
export const STATEMENT_MS = 15_000;

export function connect<Client extends PostgresClient>(pool: PostgresPool<Client>): Promise<Client> {
  return new Promise((resolve, reject) => {
    // Not the promise of the pool: a server that stops at this moment may report that in the same packet, before a caller of
    // the promise could add a listener, and an error event without a listener ends the process.
    pool.connect((error, client) => {
      if (client === undefined) return reject(error);
      client.on('error', ignoreError);
      resolve(client);
    });
  });
}

/** A broken connection shows in the next statement. */
export function ignoreError(): void {}
