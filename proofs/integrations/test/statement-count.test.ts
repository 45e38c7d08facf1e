/** How many statements a payment costs, as the server itself counts them, BEGIN and COMMIT included. */
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { forEachLibrary } from './libraries/for-each-library.ts';
import { expected, paid, type Shop } from './shop.ts';

const MAX = 7;
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

forEachLibrary(
  'a payment through %s',
  'count',
  <Tx>(shop: Shop<Tx>, name: string) => {
    /** The statements of a pass over this many payments, whose handler writes this many rows. */
    async function countPass(payments: number, rows: number): Promise<number> {
      const inbox = await shop.newInbox();
      inbox.handle(async (run) => {
        for (let row = 0; row < rows; row += 1) await shop.credit(run);
      });
      const references = Array.from({ length: payments }, (_, index) => `ORD-${index}`);
      for (const reference of references) await inbox.expect(expected(reference));
      await Promise.all(references.map((reference) => inbox.receive(paid(reference))));
      const before = await statementsIn(`${name}_count`);
      expect(await inbox.drain()).toMatchObject({ settled: payments });
      return (await statementsIn(`${name}_count`)) - before;
    }
    /** Both counts include what a pass itself needs, such as the query for due transitions. */
    const countPayment = async (rows: number): Promise<number> =>
      ((await countPass(22, rows)) - (await countPass(2, rows))) / 20;

    const most = name === 'pg' ? MAX : MAX_THROUGH_A_LIBRARY;
    test(`takes at most ${most} statements, and those that its handler adds are counted`, async () => {
      const withOne = await countPayment(1);
      console.log(`${name}: ${withOne} statements a payment`);
      expect(withOne).toBeLessThanOrEqual(most);
      // Control: additional statements of the handler are counted.
      expect((await countPayment(3)) - withOne).toBeGreaterThan(1);
    });
  },
  { server: () => server.url },
);
