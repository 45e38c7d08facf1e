import { postgres } from '@payment-service/inbox';
import type pg from 'pg';
import type { Library } from './library.ts';
import { newPool } from './pool.ts';

/** No library: the client of `pg` itself, as for every merchant without a library. */
export async function openPostgres(connectionString: string): Promise<Library<pg.PoolClient>> {
  const pool = newPool(connectionString);
  return {
    newStore: (schema) => postgres(pool, { schema }),
    credits: (tx) => {
      const to = tx ?? pool;
      return {
        add: (reference, amount, id) =>
          to.query("insert into credit values (coalesce($1, nextval('credit_id_seq')), $2, $3)", [
            id,
            reference,
            amount,
          ]),
        amounts: async (reference) =>
          (
            await to.query<{ amount: string }>('select amount from credit where reference = $1', [reference])
          ).rows.map(({ amount }) => amount),
      };
    },
    run: (tx, text) => tx.query(text),
    async transaction(body) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await body(client);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}
