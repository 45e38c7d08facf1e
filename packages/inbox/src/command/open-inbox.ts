import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { createInbox } from '../create-inbox.ts';
import type { Inbox } from '../inbox.ts';
import { deliveriesIn, ownerIn, spoolOwner } from '../intake/spool.ts';
import { listOverdue, readStats } from '../operator/health.ts';
import { listTransitions, type OperatorContext, showTransition } from '../operator/views.ts';
import { settingsOf } from '../options.ts';
import { readReport } from '../reconciliation/balances.ts';
import { reconcileStatement } from '../reconciliation/reconcile-statement.ts';
import type { PostgresClient, PostgresPool } from '../store/postgres/connection.ts';
import { postgres } from '../store/postgres/postgres.ts';
import { VERSION, versionOf } from '../store/schema.ts';
import { sqlite } from '../store/sqlite/sqlite.ts';
import { Statements } from '../store/statements.ts';

/** Which inbox a command is about. */
export interface OpenOptions {
  readonly database?: string;
  readonly schema?: string;
  readonly account?: string;
}

/** An open store whose tables have not been checked. */
export interface OpenStore<Tx> extends OperatorContext<Tx> {
  /** Of PostgreSQL: two connections at most. */
  readonly pool: PostgresPool | undefined;
  /** The default place of the program's spool. It belongs to the receiver: files that a command left there would disturb it. */
  readonly spoolPath: string | undefined;
}

/** The part of an inbox that the command uses: nothing that depends on the merchant's library. */
export type OperatedInbox = Pick<
  Inbox<never>,
  | 'list'
  | 'show'
  | 'stats'
  | 'overdue'
  | 'health'
  | 'retry'
  | 'resolve'
  | 'reopen'
  | 'expect'
  | 'forget'
  | 'prune'
  | 'reconcile'
  | 'reconcileStatement'
> & {
  /** How many callbacks of this inbox wait in a spool; undefined if no spool is known. */
  readonly spooled: (path: string | undefined) => Promise<number | undefined>;
};

/** Something does not exist: the message is all that a person needs. */
export class NoInboxError extends Error {}

interface Pool extends PostgresPool {
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}
type PoolClass = new (options: {
  connectionString: string;
  max: number;
  connectionTimeoutMillis: number;
}) => Pool;

const CONNECT_MS = 10_000;

/**
 * Opens the database, works with it, and closes it. Creates no file and no spool: a mistyped name must not leave an empty inbox
 * behind.
 */
export async function withStore<T>(
  options: OpenOptions,
  work: <Tx>(opened: OpenStore<Tx>) => Promise<T>,
): Promise<T> {
  const { database, account } = options;
  const url = process.env['DATABASE_URL'];
  if (database !== undefined) {
    if (!existsSync(database)) throw new NoInboxError(`There is no file ${database}.`);
    const { spool: spoolPath, ...store } = sqlite(database);
    const settings = settingsOf({ store, account });
    const statements = new Statements(store);
    try {
      return await work({ store, statements, settings, spool: undefined, pool: undefined, spoolPath });
    } finally {
      await store.close?.();
    }
  }
  if (!url) {
    throw new ConfigurationError(
      'database',
      'Name the database: --database <path>, or DATABASE_URL in the environment.',
    );
  }
  const pool = new (poolClass())({ connectionString: url, max: 2, connectionTimeoutMillis: CONNECT_MS });
  // For an idle connection that breaks: the next statement reports it.
  pool.on('error', () => undefined);
  try {
    const store = postgres<PostgresClient>(pool, { schema: options.schema });
    const settings = settingsOf({ store, account });
    const statements = new Statements(store);
    return await work({ store, statements, settings, spool: undefined, pool, spoolPath: undefined });
  } finally {
    await pool.end();
  }
}

/** The same with the inbox in it, whose tables must be up to date. */
export function withInbox<T>(options: OpenOptions, work: (inbox: OperatedInbox) => Promise<T>): Promise<T> {
  return withStore(options, async (opened) => {
    const { store, statements } = opened;
    const version = await versionOf(statements);
    if (version === undefined)
      throw new NoInboxError(
        "This database contains no inbox. Is it the right one? 'status' says how to create the tables.",
      );
    if (version < VERSION) {
      throw new NoInboxError(
        `The tables of this inbox have version ${version}, and this command works with version ${VERSION}. Only 'migrate' changes ` +
          'tables: run it, or update and start your program, whose ready() brings them up to date, or have a DBA run the ' +
          "output of 'sql'.",
      );
    }
    const inbox = createInbox({ store, account: options.account });
    try {
      return await work({
        ...inbox,
        // Reading does not make the inbox ready, since that writes.
        list: (given = {}) => listTransitions(opened, given),
        show: (transitionId) => showTransition(opened, transitionId),
        stats: () => readStats(opened),
        overdue: (given = {}) => listOverdue(opened, given),
        reconcile: (given) => readReport(opened, given),
        reconcileStatement: (rows, given) =>
          given.dryRun === false
            ? inbox.reconcileStatement(rows, given)
            : reconcileStatement(opened, rows, given),
        async spooled(path = opened.spoolPath) {
          if (path === undefined) return undefined;
          const own = ownerIn(spoolOwner(opened.settings.account, store));
          return (await deliveriesIn(path)).filter(({ owner }) => owner === own).length;
        },
      });
    } finally {
      await inbox.close();
    }
  });
}

/** The `pg` of the merchant's project: this package does not install it. */
function poolClass(): PoolClass {
  const load = createRequire(join(process.cwd(), 'package.json'));
  try {
    const { Pool } = load('pg') as { Pool: PoolClass };
    return Pool;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')) throw error;
    throw new NoInboxError(
      'PostgreSQL needs the package pg, which is not installed here. Run this in the folder of your program.',
      { cause: error },
    );
  }
}
