import { knex } from '@payment-service/inbox/knex';
import connect, { type Knex } from 'knex';
import type { Library } from './library.ts';

interface Credit {
  readonly id: number;
  readonly reference: string;
  readonly amount: string;
}

export async function openKnex(connection: string): Promise<Library<Knex.Transaction>> {
  const database = connect({ client: 'pg', connection });
  return {
    newStore: (schema) => knex(database, { schema }),
    credits: (tx) => {
      const credit = () => (tx ?? database)<Credit>('credit');
      return {
        add: async (reference, amount, id) =>
          credit().insert({ reference, amount, ...(id === undefined ? {} : { id }) }),
        amounts: async (reference) => credit().where({ reference }).pluck('amount'),
      };
    },
    run: (tx, text) => tx.raw(text),
    endings: {
      'tx.commit()': (tx) => tx.commit(),
      'tx.rollback()': (tx) => tx.rollback(),
      'tx.rollback(error)': (tx) => tx.rollback(new Error('no stock')),
    },
    nest: (tx, body) => tx.transaction(body),
    transaction: (body) => database.transaction(body),
    close: () => database.destroy(),
  };
}
