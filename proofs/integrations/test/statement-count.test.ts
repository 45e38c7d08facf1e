/** How many statements a payment costs, as the server itself counts them, BEGIN and COMMIT included. */
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forEachLibrary, type Open } from './libraries/for-each-library.ts';
import { expected, openShop, paid, type Shop } from './shop.ts';

const MOST: Readonly<Record<string, number>> = { pg: 7 };
const MAX_THROUGH_A_LIBRARY = 9;

let server: PostgresServer;
let meter: pg.Client;
beforeAll(async () => {
  server = await startPostgres({ shared_preload_libraries: 'pg_stat_statements' });
  meter = new pg.Client({ connectionString: server.url });
  await meter.connect();
  await meter.query('create extension pg_stat_statements');
  return async () => {
    await meter.end();
    await server.stop();
  };
});

/** The statements of a database's sessions, without the later NOTIFY of a receiver. */
async function statementsIn(database: string): Promise<number> {
  const { rows } = await meter.query<{ calls: string }>(
    `select coalesce(sum(s.calls), 0) as calls from pg_stat_statements s
    join pg_database d on d.oid = s.dbid
    where d.datname = $1 and s.query not like '%pg_notify%'`,
    [database],
  );
  return Number(rows[0]?.calls);
}

forEachLibrary(<Tx>(name: string, open: Open<Tx>) => {
  const most = MOST[name] ?? MAX_THROUGH_A_LIBRARY;
  describe(`a payment through ${name}`, () => {
    const database = `${name}_count`;
    let shop: Shop<Tx>;
    beforeAll(async () => {
      shop = await openShop(database, open, undefined, server.url);
    });
    afterAll(() => shop.close());

    /** The statements of a pass over this many payments, whose handler writes this many rows. */
    async function countPass(payments: number, rows: number): Promise<number> {
      const inbox = await shop.newInbox();
      inbox.handle(async ({ tx, signed, settled }) => {
        const credits = shop.library.credits(tx);
        for (let row = 0; row < rows; row += 1) await credits.add(signed.merchant_reference, settled.amount);
      });
      const references = Array.from({ length: payments }, (_, index) => `ORD-${index}`);
      for (const reference of references) await inbox.expect(expected(reference));
      await Promise.all(references.map((reference) => inbox.receive(paid(reference))));
      const before = await statementsIn(database);
      expect(await inbox.drain()).toMatchObject({ settled: payments });
      return (await statementsIn(database)) - before;
    }
    /** Both counts include what a pass itself needs, such as the query for due transitions. */
    const countPayment = async (rows: number): Promise<number> =>
      ((await countPass(40, rows)) - (await countPass(20, rows))) / 20;

    test(`takes at most ${most} statements, and those that its handler adds are counted`, async () => {
      const withOne = await countPayment(1);
      console.log(`${name}: ${withOne} statements a payment`);
      expect(withOne).toBeLessThanOrEqual(most);
      // Control: additional statements of the handler are counted.
      expect((await countPayment(3)) - withOne).toBeGreaterThan(1);
    });
  });
});
