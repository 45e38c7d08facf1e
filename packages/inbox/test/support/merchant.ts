import { onTestFinished } from 'vitest';
import {
  createInbox,
  type Inbox,
  type InboxEvent,
  type InboxOptions,
  type InboxProblem,
} from '../../src/index.ts';
import { type AnyTransaction, type Database, type EngineName, lendDatabase } from './database.ts';

export type { AnyTransaction, EngineName };

export const ENGINES: readonly EngineName[] = ['postgres', 'sqlite'];

/** A merchant with its own empty database, and its own tables in it. */
export interface Merchant extends Database {
  /** Everything that the inboxes of this merchant reported. */
  readonly events: InboxEvent[];
  /** Everything that `onError` received. */
  readonly problems: (InboxProblem & { readonly error: unknown })[];
  open(options?: Partial<InboxOptions<AnyTransaction>>): Inbox<AnyTransaction>;
  /** The merchant's effect: a row of money, without any protection against a second one. */
  credit(tx: AnyTransaction, reference: string, amount: string): Promise<void>;
  /** The opposite: removes every row of the reference. */
  uncredit(tx: AnyTransaction, reference: string): Promise<void>;
  /** In the order of the references, such as `ORD-1 500`. */
  credits(): Promise<string[]>;
  /** Creates a table `child`: an insert of 1 is refused by the commit, not by the statement. */
  deferredChild(): Promise<void>;
  /** Advances the database's clock, or steps it back by a negative time, by moving the stored times instead. */
  advance(ms: number): Promise<void>;
}

/** A merchant with an empty database; `tables` says whether an inbox has created its tables in it. */
export async function newMerchant(
  engine: EngineName,
  tables: 'with tables' | 'without tables' = 'with tables',
): Promise<Merchant> {
  return merchantOf(await lendDatabase(engine, tables));
}

/** What the statuses of these tests mean. */
export const STATUSES = { FAILED: 'failed', REVERSED: 'reversed', PENDING: 'interim' } as const;

/** The columns that contain a time. */
const TIMES = {
  callback: ['first_at'],
  transition: ['next_at', 'busy_until', 'changed_at'],
  body: ['first_at'],
  delivery: ['last_at'],
  payment: ['deadline_at', 'settled_at', 'canceled_at', 'changed_at'],
  balance: ['taken_at'],
  failure: ['at'],
};

function merchantOf(database: Database): Merchant {
  const { engine, newStore, query, table } = database;
  const events: InboxEvent[] = [];
  const problems: Merchant['problems'] = [];
  return {
    ...{ ...database, events, problems },
    async advance(ms) {
      for (const [name, times] of Object.entries(TIMES)) {
        const changes = times.map((time) => `${time} = ${time} - (${ms})`);
        await query(`update ${table(name)} set ${changes.join(', ')}`);
      }
      // In two steps: an hour can become another one that is still there.
      for (const moved of [`-(hour - (${ms}))`, '-hour'])
        await query(`update ${table('hour')} set hour = ${moved}`);
    },
    open(options = {}) {
      const onEvent = (event: InboxEvent) => events.push(event);
      // A machine that stalls for a moment must not look like an unavailable store.
      const onError = (error: unknown, problem: InboxProblem) => problems.push({ ...problem, error });
      const defaults = { storeTimeoutMs: 20_000, random: () => 1, statuses: STATUSES, onEvent, onError };
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
