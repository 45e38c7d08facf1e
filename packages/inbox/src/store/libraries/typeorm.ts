import type { SqlValue, Store } from '../store.ts';
import { type Body, type LibraryOptions, libraryStore } from './library.ts';
import { member } from './pool-below.ts';

export type { LibraryOptions } from './library.ts';

type Raw = { query(text: string, values: SqlValue[]): Promise<unknown[]> };
type Transact<Tx> = {
  transaction(body: Body<Tx>): Promise<void>;
  transaction(level: 'READ COMMITTED', body: Body<Tx>): Promise<void>;
};

/**
 * The store over TypeORM, on PostgreSQL. A handler gets the `EntityManager` in whose transaction it runs.
 *
 * @param source A data source after its `initialize()`.
 * @throws {ConfigurationError} If the schema's name would need quotes, or `listen` is not a pool of at least three connections.
 *
 * @example
 * const inbox = createInbox({ store: typeorm(await new DataSource(options).initialize()) });
 * inbox.handle('paid', async ({ tx, signed, payment: { settled } }) => {
 *   await tx.update(Order, { reference: signed.merchant_reference }, { paid: settled.amount });
 * });
 */
export function typeorm<Tx extends Raw>(source: Raw & Transact<Tx>, options: LibraryOptions = {}): Store<Tx> {
  return libraryStore({ call: 'typeorm()', client: source, has: 'query' }, options, {
    async run(text, values, tx) {
      const result = await (tx ?? source).query(text, [...values]);
      // UPDATE and DELETE return the rows and their number.
      return typeof result[1] === 'number' ? result[0] : result;
    },
    clientOf: (tx) => member(member(tx, 'queryRunner'), 'databaseConnection'),
    open: (body, isMerchants) =>
      isMerchants ? source.transaction(body) : source.transaction('READ COMMITTED', body),
  });
}
