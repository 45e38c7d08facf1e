import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import type pg from 'pg';
import { createInbox } from '../create-inbox.ts';
import type { Inbox } from '../inbox.ts';
import type { OperatorContext } from '../operator/reports.ts';
import { settingsOf } from '../options.ts';
import type { PostgresClient } from '../store/postgres/connection.ts';
import { postgres, schemaPrefix } from '../store/postgres/postgres.ts';
import { VERSION, versionOf } from '../store/schema.ts';
import { sqlite } from '../store/sqlite/sqlite.ts';
import { Statements } from '../store/statements.ts';
import { type Place, type Store, textOf } from '../store/store.ts';

/** Which inbox a command is about. */
export interface OpenOptions {
  readonly database?: string;
  readonly schema?: string;
  readonly account?: string;
}

/** An open store whose tables have not been checked. */
export interface OpenStore<Tx> extends OperatorContext<Tx> {
  /** The default place of the program's spool. It belongs to the receiver: files that a command left there would disturb it. */
  readonly spoolPath: string | undefined;
  /** The files of the store. */
  readonly files: readonly string[];
}

/** Something does not exist: the message is all that an operator needs. */
export class NoInboxError extends Error {}

/** What names the inbox is wrong: a mistake in the use of the command, not a fault of a database. */
export class WrongInboxError extends ConfigurationError {}

const CONNECT_MS = 10_000;

/**
 * Opens the database, works with it, and closes it. Creates no file and no spool: a mistyped name must not leave an empty inbox
 * behind.
 */
export async function withStore<T>(
  { database, schema, account }: OpenOptions,
  work: <Tx>(opened: OpenStore<Tx>) => Promise<T>,
): Promise<T> {
  const open = async <Tx>(
    store: Store<Tx>,
    spoolPath?: string,
    files: readonly string[] = [],
  ): Promise<T> => {
    const settings = named(() => settingsOf({ store, account }));
    const statements = new Statements(store);
    return work({ store, statements, settings, spool: undefined, spoolPath, files });
  };
  if (database !== undefined) {
    if (!statSync(database, { throwIfNoEntry: false })?.isFile())
      throw new NoInboxError(
        `There is no file ${database}. Give --database the path that your program gives sqlite(), seen from this folder.`,
      );
    // Without its files: only the program corrects their modes.
    const { spool, files, ...store } = sqlite(database);
    return open(store, spool, files).finally(() => store.close?.());
  }
  const connectionString = process.env['DATABASE_URL'];
  if (!connectionString) {
    const what = 'Name the database: --database <path>, or DATABASE_URL in the environment.';
    throw new WrongInboxError('database', what);
  }
  const pool = new (poolClass())({ connectionString, max: 2, connectionTimeoutMillis: CONNECT_MS });
  // For an idle connection that breaks: the next statement reports it.
  pool.on('error', () => undefined);
  try {
    return await open(named(() => postgres<PostgresClient>(pool, { schema })));
  } finally {
    await pool.end();
  }
}

/** Makes what the options of the command name. */
function named<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new WrongInboxError(error.option, error.message, { cause: error });
  }
}

/** Where the tables are, without reading them. */
export function placeOf(
  { database, schema }: OpenOptions,
  dialect: Place['dialect'] = database === undefined ? 'postgres' : 'sqlite',
): Place {
  return { dialect, prefix: dialect === 'sqlite' ? 'payment_inbox_' : schemaPrefix(schema) };
}

/** The name and the version of the database. */
export async function readEngine<Tx>({ store, statements }: OpenStore<Tx>): Promise<string> {
  const [row = {}] = await statements.run('read_engine', []);
  return `${store.dialect === 'postgres' ? 'PostgreSQL' : 'SQLite'} ${textOf(row, 'version')}`;
}

/** The same with the tables of an inbox, which must be up to date. Reading them does not make an inbox ready, since that writes. */
export function withTables<T>(
  options: OpenOptions,
  read: <Tx>(opened: OpenStore<Tx>) => Promise<T>,
): Promise<T> {
  return withStore(options, async (opened) => {
    const version = await versionOf(opened.statements);
    const none =
      "This database contains no inbox. Is it the right one? 'status' says how to create the tables.";
    if (version === undefined) throw new NoInboxError(none);
    if (version < VERSION) {
      throw new NoInboxError(
        `The tables of this inbox have version ${version}, and this command works with version ${VERSION}. Only 'migrate' changes ` +
          'tables: run it, or update and start your program, whose ready() brings them up to date, or have a DBA run the ' +
          "output of 'sql'.",
      );
    }
    return read(opened);
  });
}

/** The same with the inbox in them, for what writes. */
export function withInbox<T>(
  options: OpenOptions,
  act: <Tx>(inbox: Inbox<Tx>, opened: OpenStore<Tx>) => Promise<T>,
): Promise<T> {
  return withTables(options, (opened) => {
    // The verifier's colonIn is not known here, so the command leaves the rule to the program.
    const { store } = opened;
    const inbox = createInbox({ store, account: options.account, colonIn: 'merchant_reference' });
    return act(inbox, opened).finally(inbox.close);
  });
}

/** The `pg` of the merchant's project: this package does not install it. */
function poolClass(): typeof pg.Pool {
  const load = createRequire(join(process.cwd(), 'package.json'));
  try {
    return (load('pg') as typeof pg).Pool;
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'MODULE_NOT_FOUND')) throw cause;
    const what =
      'PostgreSQL needs the package pg, which is not installed here. Run this in the folder of your program.';
    throw new NoInboxError(what, { cause });
  }
}
