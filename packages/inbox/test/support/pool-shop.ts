import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { createInbox, type Inbox, type InboxEvent, type InboxOptions, postgres } from '../../src/index.ts';

type Options = Partial<InboxOptions<pg.PoolClient>>;

export interface PoolShop {
  readonly schema: string;
  readonly pool: pg.Pool;
  /** The test's own connections, to the server itself. */
  readonly direct: pg.Pool;
  readonly inbox: Inbox<pg.PoolClient>;
  /** Everything that the inboxes of this shop reported. */
  readonly events: InboxEvent[];
  /** Another inbox on the same pool and the same tables. */
  open(options?: Options): Inbox<pg.PoolClient>;
  /** Creates a table of the merchant, and a handler that adds to it. */
  newLedger(): Promise<Ledger>;
  /** Runs a statement on a separate connection, whose transaction keeps its locks; returns the function that commits it. */
  hold(text: string, values?: unknown[]): Promise<() => Promise<void>>;
}

export interface Ledger {
  credit(transition: { tx: pg.PoolClient; signed: { merchant_reference: string } }): Promise<void>;
  /** The references, in order. */
  credits(): Promise<string[]>;
}

/** An inbox on a pool and a schema that the test configures. */
export function poolShop({
  pool: poolOptions = {},
  inbox: inboxOptions = {},
  server = inject('postgresUrl'),
  schema = `pool_${randomBytes(8).toString('hex')}`,
}: {
  pool?: pg.PoolConfig;
  inbox?: Options;
  server?: string;
  schema?: string;
} = {}): PoolShop {
  const pool = new pg.Pool({ connectionString: server, ...poolOptions });
  const direct = new pg.Pool({ connectionString: server, max: 3 });
  for (const each of [pool, direct]) each.on('error', () => undefined);
  const events: InboxEvent[] = [];
  const inboxes: Inbox<pg.PoolClient>[] = [];
  onTestFinished(async () => {
    for (const inbox of inboxes) await inbox.close();
    await pool.end();
    await direct.end();
  });
  const open: PoolShop['open'] = (options = {}) => {
    const store = postgres(pool, { schema });
    const hooks = { onEvent: (event: InboxEvent) => events.push(event), onError: () => undefined };
    const inbox = createInbox({ store, random: () => 1, ...hooks, ...options });
    inboxes.push(inbox);
    return inbox;
  };
  return {
    ...{ schema, pool, direct, events, open, inbox: open(inboxOptions) },
    async newLedger() {
      const table = `${schema}_credit`;
      await direct.query(`create table ${table} (reference text)`);
      return {
        async credit({ tx, signed }) {
          await tx.query(`insert into ${table} values ($1)`, [signed.merchant_reference]);
        },
        async credits() {
          const { rows } = await direct.query(`select reference from ${table} order by reference`);
          return rows.map(({ reference }) => reference);
        },
      };
    },
    async hold(text, values) {
      const client = new pg.Client({ connectionString: server });
      await client.connect();
      onTestFinished(() => client.end());
      await client.query('begin');
      await client.query(text, values);
      return async () => void (await client.query('commit'));
    },
  };
}
