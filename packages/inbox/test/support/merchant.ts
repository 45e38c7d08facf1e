import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { Inbox, InboxEvent, InboxOptions, InboxProblem, Store } from '../../src/index.ts';
import { createInbox, postgres, sqlite } from '../../src/index.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** What the transactions of both engines have in common. */
export interface AnyTransaction {
  query(
    text: string,
    values?: (string | number | null)[],
  ): Promise<{ readonly rows: readonly Record<string, unknown>[]; readonly rowCount: number | null }>;
}

export type EngineName = 'postgres' | 'sqlite';
/** SQLite alone where `pnpm lab mutation` runs the tests: it needs no server. */
export const ENGINES: readonly EngineName[] =
  process.env['MUTATION_TESTS'] === undefined ? ['postgres', 'sqlite'] : ['sqlite'];

/** A merchant with an empty database of its own, and tables of its own in it. */
export interface Merchant {
  readonly engine: EngineName;
  /** Everything that the inboxes of this merchant reported. */
  readonly events: InboxEvent[];
  /** Everything that `onError` got. */
  readonly problems: (InboxProblem & { readonly error: unknown })[];
  /** For the programs of a test, which use the same database: see programs/open-inbox.ts. */
  readonly programArguments: readonly string[];
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
  /** The opposite: removes every row of it. */
  uncredit(tx: AnyTransaction, reference: string): Promise<void>;
  /** In the order of the references, such as `ORD-1 500`. */
  credits(): Promise<string[]>;
  /** Makes a table `child`: an insert of 1 is refused by the commit, not by the statement. */
  deferredChild(): Promise<void>;
  /** The database's clock goes on, or steps back by a negative time: what is stored is moved instead. */
  advance(ms: number): Promise<void>;
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
  await own.query(`create schema ${schema}; set search_path = ${schema}; ${CREATE_CREDIT}`);
  onTestFinished(async () => {
    for (const pool of pools) await pool.end();
  });
  return merchantOf({
    engine: 'postgres',
    newStore: () => postgres(newPool(), { schema: `${schema}_inbox` }),
    query: async (text, values) => (await own.query<Record<string, unknown>>(text, values)).rows,
    table: (name) => `${schema}_inbox.${name}`,
    programArguments: ['postgres', address.href, `${schema}_inbox`],
    transaction: (body) => postgres(own).transaction(body),
  });
}

async function sqliteMerchant(): Promise<Merchant> {
  const path = join(temporaryFolder(), 'merchant.db');
  const own = new DatabaseSync(path, { timeout: 10_000 });
  own.exec(`pragma journal_mode = wal; ${CREATE_CREDIT}`);
  const other = sqlite(path);
  onTestFinished(async () => {
    own.close();
    await other.close?.();
  });
  return merchantOf({
    engine: 'sqlite',
    newStore: () => sqlite(path),
    query: async (text, values = []) => own.prepare(text.replace(/\$(\d+)/g, '?$1')).all(...values),
    table: (name) => `payment_inbox_${name}`,
    programArguments: ['sqlite', path, '', '?'],
    transaction: (body) => other.transaction(body),
  });
}

/** The columns that hold a time. */
const TIMES = {
  callback: ['first_at'],
  transition: ['next_at', 'changed_at'],
  body: ['first_at'],
  delivery: ['last_at'],
  expectation: ['deadline_at', 'settled_at'],
  balance: ['taken_at'],
  failure: ['at'],
  pulse: ['seen_at'],
};

type Base = Pick<Merchant, 'engine' | 'newStore' | 'query' | 'table' | 'programArguments' | 'transaction'>;

function merchantOf(base: Base): Merchant {
  const { engine, newStore, query, table } = base;
  const events: InboxEvent[] = [];
  const problems: Merchant['problems'] = [];
  return {
    ...base,
    ...{ events, problems },
    async advance(ms) {
      for (const [name, times] of Object.entries(TIMES)) {
        const changes = times.map((time) => `${time} = ${time} - (${ms})`);
        await query(`update ${table(name)} set ${changes.join(', ')}`);
      }
    },
    open(options = {}) {
      const onEvent = (event: InboxEvent) => events.push(event);
      // A machine that stands still for a moment must not look like a store that is unavailable.
      const onError = (error: unknown, problem: InboxProblem) => problems.push({ ...problem, error });
      const defaults = { storeTimeoutMs: 20_000, random: () => 1, onEvent, onError };
      const inbox = createInbox<AnyTransaction>({ store: newStore(), ...defaults, ...options });
      onTestFinished(() => inbox.close());
      return inbox;
    },
    async credit(tx, reference, amount) {
      const values = engine === 'postgres' ? '$1, $2' : '?, ?';
      await tx.query(`insert into credit values (${values})`, [reference, amount]);
    },
    async uncredit(tx, reference) {
      await tx.query(`delete from credit where reference = ${engine === 'postgres' ? '$1' : '?'}`, [
        reference,
      ]);
    },
    async credits() {
      const rows = await query('select reference, amount from credit order by reference');
      return rows.map(({ reference, amount }) => `${reference} ${amount}`);
    },
    async deferredChild() {
      await query('create table parent (id integer primary key)');
      await query('create table child (id integer references parent (id) deferrable initially deferred)');
    },
  };
}
