import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { Store } from '../../src/index.ts';
import {
  createInbox,
  type Inbox,
  type InboxEvent,
  type InboxOptions,
  postgres,
  sqlite,
} from '../../src/index.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** What the transactions of both engines have in common. */
export interface AnyTransaction {
  query(
    text: string,
    values?: (string | number | null)[],
  ): Promise<{ readonly rows: readonly Record<string, unknown>[]; readonly rowCount: number | null }>;
}

export type EngineName = 'postgres' | 'sqlite';
export const ENGINES: readonly EngineName[] = ['postgres', 'sqlite'];

/** The database's clock goes on; a test moves what waits instead. */
export interface TestClock {
  readonly now: () => number;
  advance(ms: number): Promise<void>;
}

/** A merchant with an empty database of its own, and tables of its own in it. */
export interface Merchant {
  readonly engine: EngineName;
  readonly clock: TestClock;
  /** Everything that the inboxes of this merchant reported. */
  readonly events: InboxEvent[];
  /** For the programs of a test, which use the same database: see programs/open-inbox.ts. */
  readonly programArguments: readonly string[];
  /** A store on this merchant's database. */
  newStore(): Store<AnyTransaction>;
  open(options?: Partial<InboxOptions<AnyTransaction>>): Inbox<AnyTransaction>;
  /** The merchant's own connection, outside the inbox. `$1` is written for both engines. */
  query(text: string, values?: (string | number | null)[]): Promise<Record<string, unknown>[]>;
  /** The merchant's own transaction, on a connection of its own. */
  transaction<T>(body: (tx: AnyTransaction) => Promise<T>): Promise<T>;
  /** A table of the inbox. */
  table(name: string): string;
  /** The merchant's effect: a row of money, without any guard against a second one. */
  credit(tx: AnyTransaction, reference: string, amount: string): Promise<void>;
  credits(): Promise<{ reference: string; amount: string }[]>;
  /** Makes a table `child`: an insert of 1 is refused by the commit, not by the statement. */
  deferredChild(): Promise<void>;
}

export async function newMerchant(engine: EngineName): Promise<Merchant> {
  return engine === 'postgres' ? postgresMerchant() : sqliteMerchant();
}

const CREATE_CREDIT = 'create table credit (reference text not null, amount text not null)';

async function postgresMerchant(): Promise<Merchant> {
  const schema = `test_${randomBytes(8).toString('hex')}`;
  const address = new URL(inject('postgresUrl'));
  address.searchParams.set('options', `-c search_path=${schema}`);
  const pools: pg.Pool[] = [];
  const newPool = (): pg.Pool => {
    const pool = new pg.Pool({ connectionString: address.href, max: 10 });
    pool.on('error', () => undefined);
    pools.push(pool);
    return pool;
  };
  const own = newPool();
  await own.query(`create schema ${schema}`);
  await own.query(CREATE_CREDIT);
  onTestFinished(async () => {
    for (const pool of pools) await pool.end();
  });
  return {
    ...merchantOf(
      'postgres',
      () => postgres(newPool(), { schema: `${schema}_inbox` }),
      async (text, values) => (await own.query<Record<string, unknown>>(text, values)).rows,
      (table) => `${schema}_inbox.${table}`,
    ),
    programArguments: ['postgres', address.href, `${schema}_inbox`],
    async transaction(body) {
      const client = await own.connect();
      try {
        await client.query('begin');
        const result = await body(client);
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    async credits() {
      const { rows } = await own.query<{ reference: string; amount: string }>(
        'select reference, amount from credit order by reference',
      );
      return rows;
    },
    credit: async (tx, reference, amount) => {
      await tx.query('insert into credit values ($1, $2)', [reference, amount]);
    },
  };
}

async function sqliteMerchant(): Promise<Merchant> {
  const path = join(temporaryFolder(), 'merchant.db');
  const own = new DatabaseSync(path, { timeout: 10_000 });
  own.exec(`pragma journal_mode = wal; ${CREATE_CREDIT}`);
  onTestFinished(() => own.close());
  const run = (text: string, values: readonly (string | number | null)[] = []): Record<string, unknown>[] =>
    own.prepare(text).all(Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value])));
  return {
    ...merchantOf(
      'sqlite',
      () => sqlite(path),
      async (text, values) => run(text, values),
      (table) => `payment_inbox_${table}`,
    ),
    programArguments: ['sqlite', path, '', '?'],
    async transaction(body) {
      own.exec('begin immediate');
      try {
        const result = await body({
          async query(text, values) {
            // What the inbox passes has names already; the test's own values are in order.
            const statement = own.prepare(text);
            const rows = Array.isArray(values) ? statement.all(...values) : statement.all(values ?? {});
            const changes = Number(own.prepare('select changes() as n').get()?.['n']);
            return { rows, rowCount: rows.length > 0 ? rows.length : changes };
          },
        });
        own.exec('commit');
        return result;
      } catch (error) {
        own.exec('rollback');
        throw error;
      }
    },
    credits: async () =>
      run('select reference, amount from credit order by reference') as {
        reference: string;
        amount: string;
      }[],
    credit: async (tx, reference, amount) => {
      await tx.query('insert into credit values (?, ?)', [reference, amount]);
    },
  };
}

function merchantOf(
  engine: EngineName,
  newStore: () => Store<AnyTransaction>,
  query: Merchant['query'],
  table: (name: string) => string,
): Pick<Merchant, 'engine' | 'clock' | 'events' | 'newStore' | 'open' | 'query' | 'table' | 'deferredChild'> {
  const columns = {
    transition: ['next_at', 'first_at', 'changed_at'],
    body: ['first_at'],
    delivery: ['last_at'],
    expectation: ['deadline_at'],
  };
  const clock: TestClock = {
    now: Date.now,
    async advance(by) {
      for (const [name, times] of Object.entries(columns)) {
        await query(
          `update ${table(name)} set ${times.map((time) => `${time} = ${time} - ${by}`).join(', ')}`,
        );
      }
    },
  };
  const events: InboxEvent[] = [];
  return {
    engine,
    clock,
    events,
    newStore,
    query,
    table,
    async deferredChild() {
      await query('create table parent (id integer primary key)');
      await query('create table child (id integer references parent (id) deferrable initially deferred)');
    },
    open(options = {}) {
      const inbox = createInbox<AnyTransaction>({
        store: newStore(),
        random: () => 1,
        onEvent: (event) => events.push(event),
        ...options,
      });
      onTestFinished(() => inbox.close());
      return inbox;
    },
  };
}
