import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { createInbox, type Inbox, type InboxEvent, type InboxOptions, postgres } from '../../src/index.ts';

export interface PoolShop {
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly inbox: Inbox<pg.PoolClient>;
  /** Everything that the inboxes of this shop reported. */
  readonly events: InboxEvent[];
  /** A further inbox on the same pool and the same tables. */
  open(options?: Partial<InboxOptions<pg.PoolClient>>): Inbox<pg.PoolClient>;
  /** Holds a lock of a table of the inbox on a connection of its own; gives the function that lets it go. */
  lock(table: string, mode: string): Promise<() => Promise<void>>;
}

/** A schema of its own and an inbox on a pool of which the test says what it is like. */
export function poolShop(
  poolOptions: pg.PoolConfig = {},
  inboxOptions: Partial<InboxOptions<pg.PoolClient>> = {},
): PoolShop {
  const schema = `pool_${randomBytes(8).toString('hex')}`;
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), ...poolOptions });
  pool.on('error', () => undefined);
  const events: InboxEvent[] = [];
  const inboxes: Inbox<pg.PoolClient>[] = [];
  const clients: pg.Client[] = [];
  onTestFinished(async () => {
    for (const client of clients) await client.end();
    for (const inbox of inboxes) await inbox.close();
    await pool.end();
  });
  const open: PoolShop['open'] = (options = {}) => {
    const store = postgres(pool, { schema });
    const inbox = createInbox({ store, random: () => 1, onEvent: (event) => events.push(event), ...options });
    inboxes.push(inbox);
    return inbox;
  };
  return {
    pool,
    schema,
    events,
    open,
    inbox: open(inboxOptions),
    async lock(table, mode) {
      const client = new pg.Client({ connectionString: inject('postgresUrl') });
      await client.connect();
      clients.push(client);
      await client.query(`begin; lock table ${schema}.${table} in ${mode} mode`);
      return async () => void (await client.query('rollback'));
    },
  };
}
