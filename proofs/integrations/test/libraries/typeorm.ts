import { typeorm } from '@payment-service/inbox/typeorm';
import { DataSource, type EntityManager, EntitySchema } from 'typeorm';
import type { Library } from './library.ts';

interface CreditRow {
  readonly id: number;
  readonly reference: string;
  readonly amount: string;
}

const Credit = new EntitySchema<CreditRow>({
  name: 'credit',
  columns: {
    id: { type: 'int', primary: true },
    reference: { type: 'text' },
    amount: { type: 'text' },
  },
});

export async function openTypeorm(url: string): Promise<Library<EntityManager>> {
  const source = await new DataSource({ type: 'postgres', url, entities: [Credit] }).initialize();
  return {
    newStore: (schema) => typeorm(source, { schema }),
    credits: (tx = source.manager) => ({
      add: (reference, amount, id) =>
        tx.insert(Credit, { reference, amount, ...(id === undefined ? {} : { id }) }),
      amounts: async (reference) => (await tx.findBy(Credit, { reference })).map(({ amount }) => amount),
    }),
    run: (tx, text) => tx.query(text),
    endings: {
      'tx.queryRunner.commitTransaction()': async (tx) => tx.queryRunner?.commitTransaction(),
      'tx.queryRunner.rollbackTransaction()': async (tx) => tx.queryRunner?.rollbackTransaction(),
    },
    nest: (tx, body) => tx.transaction(body),
    transaction: (body) => source.transaction(body),
    close: () => source.destroy(),
  };
}
