import { kysely } from '@payment-service/inbox/kysely';
import { CamelCasePlugin, type Generated, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import type { Library } from './library.ts';
import { newPool } from './pool.ts';

interface Tables {
  readonly credit: { readonly id: Generated<number>; readonly reference: string; readonly amount: string };
}

/** With a plugin that renames columns, which must not affect the inbox's own rows. */
export async function openKysely(connectionString: string): Promise<Library<Transaction<Tables>>> {
  const pool = newPool(connectionString);
  const dialect = new PostgresDialect({ pool });
  const database = new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] });
  return {
    newStore: (schema) => kysely(database, { schema, listen: pool }),
    credits: (tx) => {
      const to: Kysely<Tables> = tx ?? database;
      return {
        add: (reference, amount, id) =>
          to
            .insertInto('credit')
            .values({ reference, amount, ...(id === undefined ? {} : { id }) })
            .execute(),
        amounts: async (reference) =>
          (await to.selectFrom('credit').select('amount').where('reference', '=', reference).execute()).map(
            ({ amount }) => amount,
          ),
      };
    },
    run: (tx, text) => sql.raw(text).execute(tx),
    transaction: (body) => database.transaction().execute(body),
    close: () => database.destroy(),
  };
}
