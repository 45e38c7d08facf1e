import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { createInbox } from '../create-inbox.ts';
import type { Inbox } from '../inbox.ts';
import { readStats } from '../operator/health.ts';
import { listTransitions, showTransition } from '../operator/views.ts';
import { settingsOf } from '../options.ts';
import { type PostgresPool, postgres } from '../store/postgres.ts';
import { VERSION, versionOf } from '../store/schema.ts';
import { sqlite } from '../store/sqlite.ts';
import { Statements } from '../store/statements.ts';
import type { Store } from '../store/store.ts';

/** Which inbox a command is about. */
export interface OpenOptions {
  readonly database?: string;
  readonly schema?: string;
  readonly account?: string;
}

/** What the command uses of an inbox: nothing that depends on the merchant's library. */
export type OperatedInbox = Pick<Inbox<unknown>, 'list' | 'show' | 'stats' | 'retry' | 'resolve' | 'reopen'>;

/** What was asked for is not there: the message is all that a person needs. */
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
 * Opens the inbox, works with it, and closes it. Makes no file, no table and no spool: a mistyped name must not leave an
 * empty inbox behind.
 */
export async function withInbox<T>(
  options: OpenOptions,
  work: (inbox: OperatedInbox) => Promise<T>,
): Promise<T> {
  const { database } = options;
  const url = process.env['DATABASE_URL'];
  if (database !== undefined) {
    if (!existsSync(database)) throw new NoInboxError(`There is no file ${database}.`);
    // The spool is the receiver's: what a command of another user left there would be in its way.
    const { spool: _, ...store } = sqlite(database);
    return during(store, options, work);
  }
  if (!url) {
    throw new ConfigurationError(
      'database',
      'Name the database: --database <path>, or DATABASE_URL in the environment.',
    );
  }
  const pool = new (poolClass())({ connectionString: url, max: 2, connectionTimeoutMillis: CONNECT_MS });
  // An idle connection that breaks: the next statement says so.
  pool.on('error', () => undefined);
  try {
    return await during(postgres(pool, { schema: options.schema }), options, work);
  } finally {
    await pool.end();
  }
}

async function during<Tx, T>(
  store: Store<Tx>,
  { account }: OpenOptions,
  work: (inbox: OperatedInbox) => Promise<T>,
): Promise<T> {
  const statements = new Statements(store);
  const inbox = createInbox({ store, account });
  const context = { store, statements, settings: settingsOf({ store, account }), spool: undefined };
  try {
    const version = await versionOf(statements);
    if (version === undefined) throw new NoInboxError('This database holds no inbox. Is it the right one?');
    if (version < VERSION) {
      throw new NoInboxError(
        `The tables of this inbox have version ${version}, and this command works with version ${VERSION}. It changes no table: ` +
          'update and start your program, whose ready() brings them up to date, or have a DBA run inbox.migrations().',
      );
    }
    return await work({
      ...inbox,
      // What only reads does not make the inbox ready, which writes.
      list: (given = {}) => listTransitions(context, given),
      show: (transitionId) => showTransition(context, transitionId),
      stats: () => readStats(context),
    });
  } finally {
    await inbox.close();
  }
}

/** The `pg` of the merchant's project: this package does not bring it. */
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
