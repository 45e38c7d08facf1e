import type { Store } from '../store.ts';
import { type Body, type LibraryOptions, libraryStore } from './library.ts';

export type { LibraryOptions } from './library.ts';

type RawNode = { kind: 'RawNode'; sqlFragments: readonly string[]; parameters: readonly never[] };
type Query = { sql: string; parameters: readonly unknown[]; query: RawNode; queryId: { queryId: string } };
type Raw = { withoutPlugins(): { executeQuery(query: Query): Promise<unknown> } };
type Run<Tx> = { execute(body: Body<Tx>): unknown };
type Begin<Tx> = { transaction(): Run<Tx> & { setIsolationLevel(to: string): Run<Tx> } };

/**
 * The store over Kysely, on PostgreSQL. A handler gets the Kysely `Transaction` in which it runs.
 *
 * @throws {ConfigurationError} If the schema's name would need quotes, or `listen` is not a pool of at least three connections.
 *
 * @example
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * // A connection that is lost while a transaction has it is an error event of its client.
 * pool.on('connect', (client) => client.on('error', (error) => console.error(error.message)));
 * const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
 * const inbox = createInbox({ store: kysely(db, { listen: pool }) });
 * inbox.handle('paid', async ({ tx, signed, payment: { settled } }) => {
 *   await tx.updateTable('orders').set({ paid: settled.amount }).where('reference', '=', signed.merchant_reference).execute();
 * });
 */
export function kysely<Tx extends Raw>(db: Raw & Begin<Tx>, options: LibraryOptions = {}): Store<Tx> {
  return libraryStore({ call: 'kysely()', client: db, has: 'withoutPlugins' }, options, {
    run(sql, parameters, tx) {
      const query: RawNode = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
      return (tx ?? db).withoutPlugins().executeQuery({ sql, parameters, query, queryId: { queryId: '' } });
    },
    open: (body, isMerchants) =>
      (isMerchants ? db.transaction() : db.transaction().setIsolationLevel('read committed')).execute(body),
  });
}
