import { checkArgument, type OptionRule } from '@payment-service/core/internal';
import type { Store } from '../store.ts';
import { type Body, type LibraryOptions, libraryStore, type Template, template } from './library.ts';
import { member } from './pool-below.ts';

export type { LibraryOptions } from './library.ts';

type Raw<Query> = { execute(query: Query): PromiseLike<unknown> };
type Client<Tx, Query> = Raw<Query> & {
  transaction(body: Body<Tx>, config: object | undefined): Promise<void>;
};

const SQL: OptionRule = [
  (value) => typeof value === 'function',
  "the sql of drizzle-orm, as in drizzle(database, sql) with import { sql } from 'drizzle-orm'",
];

/**
 * The store over Drizzle, on PostgreSQL through node-postgres. A handler gets the Drizzle transaction in which it runs.
 *
 * @param sql Drizzle's `sql`, which builds its statements.
 * @throws {ConfigurationError} Without `sql`, if the schema's name would need quotes, or if `listen` is not a pool of at least
 * three connections.
 *
 * @example
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * // A connection that is lost while a transaction has it is an error event of its client.
 * pool.on('connect', (client) => client.on('error', (error) => console.error(error.message)));
 * const inbox = createInbox({ store: drizzle(database(pool), sql) });
 * inbox.handle('paid', async ({ tx, signed, payment: { settled } }) => {
 *   await tx.update(orders).set({ paid: settled.amount }).where(eq(orders.reference, signed.merchant_reference));
 * });
 */
export function drizzle<Tx extends Raw<Query>, Query>(
  database: Client<Tx, Query>,
  sql: (...template: Template) => Query,
  options: LibraryOptions = {},
): Store<Tx> {
  checkArgument('drizzle()', 'sql', sql, SQL);
  return libraryStore({ call: 'drizzle()', client: database, has: 'execute' }, options, {
    run: (text, values, tx) => (tx ?? database).execute(sql(...template(text, values))),
    clientOf: (tx) => member(member(member(tx, '_'), 'session'), 'client'),
    open: (body, isMerchants) =>
      database.transaction(body, isMerchants ? undefined : { isolationLevel: 'read committed' }),
  });
}
