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
          id === undefined
            ? to.query('insert into credit (reference, amount) values ($1, $2)', [reference, amount])
            : to.query('insert into credit values ($1, $2, $3)', [id, reference, amount]),
        amounts: async (reference) =>
          (
            await to.query<{ amount: string }>('select amount from credit where reference = $1', [reference])
          ).rows.map(({ amount }) => amount),
        change: (reference, amount) =>
          to.query('update credit set amount = $2 where reference = $1', [reference, amount]),
        remove: (reference) => to.query('delete from credit where reference = $1', [reference]),
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
