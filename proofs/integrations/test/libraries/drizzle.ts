import { drizzle } from '@payment-service/inbox/drizzle';
import { eq, sql } from 'drizzle-orm';
import { drizzle as connect, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import type { Library } from './library.ts';
import { newPool } from './pool.ts';

const credit = pgTable('credit', {
  id: integer().primaryKey().generatedByDefaultAsIdentity(),
  reference: text().notNull(),
  amount: text().notNull(),
});

type Transaction = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];

export async function openDrizzle(connectionString: string): Promise<Library<Transaction>> {
  const pool = newPool(connectionString);
  const database = connect(pool);
  return {
    newStore: (schema) => drizzle(database, sql, { schema }),
    credits: (tx) => {
      const to = tx ?? database;
      return {
        add: async (reference, amount, id) => to.insert(credit).values({ id, reference, amount }),
        amounts: async (reference) =>
          (await to.select().from(credit).where(eq(credit.reference, reference))).map(({ amount }) => amount),
      };
    },
    run: (tx, text) => tx.execute(sql.raw(text)),
    nest: (tx, body) => tx.transaction(body),
    transaction: (body) => database.transaction(body),
    close: () => pool.end(),
  };
}
