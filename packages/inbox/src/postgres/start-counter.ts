import type { Connections } from './connections.ts';
import type { PostgresClient } from './postgres-pool.ts';
import { runStatement } from './postgres-session.ts';

/**
 * Counts starts of handlers on a connection of its own, outside the handlers' transactions: the count is on disk before
 * a handler runs, and outlives whatever the handler does to its process or to the server.
 */
export class StartCounter {
  readonly #connections: Connections;
  readonly #table: string;
  readonly #timeoutMs: number;
  #client: Promise<PostgresClient> | undefined;

  constructor(connections: Connections, table: string, timeoutMs: number) {
    this.#connections = connections;
    this.#table = table;
    this.#timeoutMs = timeoutMs;
  }

  async add(transitionId: Uint8Array, count: 1 | -1): Promise<void> {
    this.#client ??= this.#take();
    const taken = this.#client;
    try {
      await runStatement(
        await taken,
        `insert into ${this.#table} as s (transition_id, starts) values ($1, greatest($2::int, 0))
         on conflict (transition_id) do update set starts = s.starts + $2::int`,
        [transitionId, count],
      );
    } catch (error) {
      if (this.#client === taken) {
        this.#client = undefined;
        taken.then((client) => client.release(true)).catch(() => undefined);
      }
      throw error;
    }
  }

  async close(): Promise<void> {
    const taken = this.#client;
    this.#client = undefined;
    const client = await taken;
    client?.release(true);
  }

  async #take(): Promise<PostgresClient> {
    const client = await this.#connections.take(this.#timeoutMs);
    // A broken connection shows in the next statement; without a listener it would end the process.
    client.on('error', () => undefined);
    return client;
  }
}
