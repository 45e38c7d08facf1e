import { Group } from '../group.ts';
import { within } from '../within.ts';
import { type Connections, giveBack } from './connections.ts';
import type { PostgresClient } from './postgres-pool.ts';
import { runStatement } from './postgres-session.ts';

interface Change {
  readonly transitionId: Uint8Array;
  readonly count: 1 | -1;
}

/**
 * Counts starts of handlers on a connection of its own, outside the handlers' transactions: the count is on disk before
 * a handler runs, and outlives whatever the handler does to its process or to the server. The lanes of a worker share
 * the connection, and the commit where they start together.
 */
export class StartCounter {
  readonly #connections: Connections;
  readonly #statement: string;
  readonly #timeoutMs: number;
  readonly #group: Group<Change, undefined>;
  #client: PostgresClient | undefined;

  constructor(connections: Connections, table: string, timeoutMs: number) {
    this.#connections = connections;
    this.#statement = `insert into ${table} as s (transition_id, starts)
      select id, sum(count) from unnest($1::bytea[], $2::int[]) as change (id, count)
      group by id having sum(count) <> 0 order by id
      on conflict (transition_id) do update set starts = s.starts + excluded.starts`;
    this.#timeoutMs = timeoutMs;
    this.#group = new Group({ send: (changes) => this.#write(changes), lanes: 1, most: 100 });
  }

  async add(transitionId: Uint8Array, count: 1 | -1): Promise<void> {
    await this.#group.add({ transitionId, count });
  }

  /** Gives the connection back; the next start takes another one. */
  close(): void {
    if (this.#client !== undefined) giveBack(this.#client, true);
    this.#client = undefined;
  }

  async #write(changes: readonly Change[]): Promise<undefined[]> {
    // A count that was given up must not be made later: three of them would pass for a handler that ends its process.
    this.#client ??= await this.#connections.keep(this.#timeoutMs, this.#timeoutMs);
    const client = this.#client;
    try {
      const counted = runStatement(client, this.#statement, [
        changes.map(({ transitionId }) => transitionId),
        changes.map(({ count }) => count),
      ]);
      // Every lane waits for this connection: a server that has vanished without a word must not keep them for ever.
      await within(this.#timeoutMs, counted);
      return changes.map(() => undefined);
    } catch (error) {
      if (this.#client === client) {
        this.#client = undefined;
        giveBack(client, true);
      }
      throw error;
    }
  }
}
