import { postgres } from '@payment-service/inbox';
import pg from 'pg';
import type { Database, Statements, Transaction } from './database.ts';

/** Any number that nothing else in this database locks. */
const LOCK = 7_402_113;
const CONNECT_MS = 5000;

/** A PostgreSQL database for orders and inbox: any number of shops may share it. */
export function openPostgresDatabase(
  databaseUrl: string,
  { log }: { readonly log: (line: string) => void },
): Database {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    connectionTimeoutMillis: CONNECT_MS,
    allowExitOnIdle: true,
  });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', (error) => log(`A connection to the database was lost: ${error.message}`));

  const within = (tx: Transaction): Statements => ({
    async query(text, values = []) {
      const { rows, rowCount } = await tx.query(text, [...values]);
      return { rows, rowCount: rowCount ?? 0 };
    },
  });

  return {
    title: 'PostgreSQL',
    store: postgres(pool),
    reading: within(pool),
    within,
    async prepare(tx, statements) {
      // Several shops that start at the same time would create the same table twice.
      await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
      for (const statement of statements) await tx.query(statement);
    },
    close: () => pool.end(),
  };
}
