import type { SqlValue, Store } from '../store.ts';
import { type Body, type LibraryOptions, libraryStore } from './library.ts';

export type { LibraryOptions } from './library.ts';

type Raw = {
  raw(text: string, to: Record<string, SqlValue>): PromiseLike<unknown>;
  isCompleted?(): boolean;
  readonly client?: { acquireConnection?(): Promise<unknown> };
};
type Client<Tx> = Raw & { transaction(body: Body<Tx>, config: object): Promise<void> };

/**
 * The store over Knex, on PostgreSQL. A handler gets the `Knex.Transaction` in which it runs.
 *
 * @throws {ConfigurationError} If the schema's name would need quotes, or `listen` is not a pool of at least three connections.
 *
 * @example
 * const inbox = createInbox({ store: knex(database) });
 * inbox.handle('paid', async ({ tx, signed, payment: { settled } }) => {
 *   await tx('orders').where({ reference: signed.merchant_reference }).update({ paid: settled.amount });
 * });
 */
export function knex<Tx extends Raw>(database: Client<Tx>, options: LibraryOptions = {}): Store<Tx> {
  return libraryStore({ call: 'knex()', client: database, has: 'raw' }, options, {
    run(text, values, tx) {
      // To Knex, a question mark is a placeholder.
      const named = text.replaceAll('?', '\\?').replace(/\$(\d+)/g, ':value$1');
      const bindings = Object.fromEntries(values.map((value, index) => [`value${index + 1}`, value]));
      return (tx ?? database).raw(named, bindings);
    },
    hasEnded: (tx) => tx.isCompleted?.() === true,
    // A transaction always returns its own connection.
    clientOf: (tx) => tx.client?.acquireConnection?.(),
    open: (body, isMerchants) =>
      database.transaction(body, {
        // Otherwise, a body that rejects with undefined would count as one that has called tx.rollback().
        doNotRejectOnRollback: false,
        ...(isMerchants ? {} : { isolationLevel: 'read committed' }),
      }),
  });
}
