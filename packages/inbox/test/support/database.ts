import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { createInbox, postgres, type Store, sqlite } from '../../src/index.ts';
import { folderOnDisk } from './temporary-folder.ts';

/** What the transactions of both engines have in common. */
export interface AnyTransaction {
  query(
    text: string,
    values?: (string | number | null)[],
  ): Promise<{ readonly rows: readonly Record<string, unknown>[]; readonly rowCount: number | null }>;
}

export type EngineName = 'postgres' | 'sqlite';

/** The database of one test at a time. */
export interface Database {
  readonly engine: EngineName;
  /** Arguments for other processes, which must end before the test does: see programs/open-inbox.ts. */
  readonly programArguments: readonly string[];
  newStore(): Store<AnyTransaction>;
  /** The merchant's own connection, outside the inbox. `$1` is written for both engines. */
  query(text: string, values?: (string | number | null)[]): Promise<Record<string, unknown>[]>;
  /** The merchant's own transaction, on a separate connection. */
  transaction<T>(body: (tx: AnyTransaction) => Promise<T>): Promise<T>;
  /** A table of the inbox. */
  table(name: string): string;
}

interface OwnDatabase extends Database {
  /** What a test must not have changed, besides the migrations: the tables, their columns and constraints. */
  readonly shape: () => Promise<unknown>;
  /** Empties all tables; false if work of the last test is still under way. */
  readonly clear: () => Promise<boolean>;
  readonly end: () => Promise<void>;
}

const FREE: Record<EngineName, { readonly database: OwnDatabase; readonly shape: string }[]> = {
  postgres: [],
  sqlite: [],
};

/**
 * The tests of a process use the same empty database one after another: a new one, with its tables and its connections or its
 * thread, costs more than most tests. A database in which a test has left anything but rows is not used again.
 */
export async function lendDatabase(
  engine: EngineName,
  tables: 'with tables' | 'without tables',
): Promise<Database> {
  const hasTables = tables === 'with tables';
  const { database, shape } = (hasTables && FREE[engine].pop()) || (await newDatabase(engine, hasTables));
  onTestFinished(async () => {
    const isAsBefore = async () => (await shapeOf(database)) === shape && (await database.clear());
    if (hasTables && (await isAsBefore().catch(() => false))) FREE[engine].push({ database, shape });
    else await database.end();
  });
  return database;
}

async function newDatabase(engine: EngineName, hasTables: boolean) {
  const database = engine === 'postgres' ? await newPostgres() : newSqlite();
  if (!hasTables) return { database, shape: '' };
  const inbox = createInbox({ store: database.newStore() });
  await inbox.ready();
  await inbox.close();
  await database.clear();
  return { database, shape: await shapeOf(database) };
}

const shapeOf = async ({ shape, query, table }: OwnDatabase): Promise<string> =>
  JSON.stringify([await shape(), await query(`select * from ${table('migration')} order by version`)]);

const CREATE_CREDIT = 'create table credit (reference text not null, amount text not null)';

async function newPostgres(): Promise<OwnDatabase> {
  const schema = `test_${randomBytes(8).toString('hex')}`;
  const SCHEMAS = `('${schema}', '${schema}_inbox')`;
  const address = new URL(inject('postgresUrl'));
  address.searchParams.set('options', `-c search_path=${schema}`);
  address.searchParams.set('application_name', schema);
  const newPool = (): pg.Pool => {
    const pool = new pg.Pool({ connectionString: address.href, max: 10, allowExitOnIdle: true });
    pool.on('error', () => undefined);
    return pool;
  };
  const programArguments = ['postgres', address.href, `${schema}_inbox`];
  const [own, first] = [newPool(), newPool()];
  const others: pg.Pool[] = [];
  let stores = 0;
  let clearing: string | undefined;
  const query: Database['query'] = async (text, values) =>
    (await own.query<Record<string, unknown>>(text, values)).rows;
  const endOthers = async (): Promise<void> => {
    for (const pool of others.splice(0)) await pool.end();
  };
  await query(`create schema ${schema}; set search_path = ${schema}; ${CREATE_CREDIT}`);
  return {
    ...{ engine: 'postgres', query, programArguments },
    newStore() {
      stores += 1;
      if (stores > 1) others.push(newPool());
      return postgres(others.at(-1) ?? first, { schema: `${schema}_inbox` });
    },
    table: (name) => `${schema}_inbox.${name}`,
    transaction: (body) => postgres(own).transaction(body),
    shape: () =>
      query(`select attrelid, attname, atttypid, attnotnull, (select count(*) from pg_constraint where conrelid = attrelid)
          as rules, (select count(*) from pg_trigger where tgrelid = attrelid) as triggers
        from pg_attribute join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
        where nspname in ${SCHEMAS} order by 1, attnum`),
    async clear() {
      await endOthers();
      stores = 0;
      const sessions = await query('select 1 from pg_stat_activity where application_name = $1', [schema]);
      // A session without a connection of the pools may still run what its client has abandoned.
      if (sessions.length !== own.idleCount + first.idleCount) return false;
      clearing ??= (
        await query(`select 'delete from ' || schemaname || '.' || tablename as text from pg_tables
            where schemaname in ${SCHEMAS} and tablename <> 'migration'
          union all select format('select setval(''%I.%I'', 1, false)', schemaname, sequencename) from pg_sequences
            where schemaname in ${SCHEMAS}`)
      )
        .map(({ text }) => text)
        .join(';');
      await query(clearing);
      return true;
    },
    async end() {
      await endOthers();
      await own.end();
      await first.end();
    },
  };
}

function newSqlite(): OwnDatabase {
  const folder = folderOnDisk();
  const path = join(folder, 'merchant.db');
  const own = new DatabaseSync(path, { timeout: 10_000 });
  own.exec(`pragma journal_mode = wal; pragma synchronous = off; ${CREATE_CREDIT}`);
  const programArguments = ['sqlite', path, '', '?'];
  const [first, other] = [kept(sqlite(path)), kept(sqlite(path))];
  let stores = 0;
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  const query: Database['query'] = async (text, values = []) =>
    own.prepare(text.replace(/\$(\d+)/g, '?$1')).all(...values);
  return {
    ...{ engine: 'sqlite', query, programArguments },
    newStore() {
      stores += 1;
      return stores === 1 ? first.store : sqlite(path);
    },
    table: (name) => `payment_inbox_${name}`,
    transaction: other.store.transaction,
    shape: () => query('select sql from sqlite_schema order by name'),
    async clear() {
      stores = 0;
      if (!first.isIdle() || !other.isIdle()) return false;
      const filled = await query(
        "select name from sqlite_schema where type = 'table' and name <> 'payment_inbox_migration'",
      );
      const deletes = filled.map(({ name }) => `delete from ${name};`).join('');
      own.exec(`begin immediate; ${deletes} commit`);
      own.exec('vacuum; pragma wal_checkpoint(truncate)'); // Nothing of the last test is left in the files.
      rmSync(`${path}-spool`, { recursive: true, force: true });
      return true;
    },
    async end() {
      own.close();
      await first.close();
      await other.close();
      process.removeListener('exit', remove);
      remove();
    },
  };
}

/** A store that outlives its inbox; it can be used again if nothing of it is under way. */
function kept<Tx>(store: Store<Tx>) {
  let underWay = 0;
  const counted = async <T>(act: () => Promise<T>): Promise<T> => {
    underWay += 1;
    return act().finally(() => {
      underWay -= 1;
    });
  };
  const lent: Store<Tx> = {
    ...store,
    query: (...call) => counted(() => store.query(...call)),
    transaction: (...call) => counted(() => store.transaction(...call)),
    close: async () => undefined,
  };
  return { store: lent, isIdle: () => underWay === 0, close: async () => store.close?.() };
}
