import { ConfigurationError } from '@payment-service/core';
import { readSql } from './read-sql.ts';
import { inDialect, type Statements } from './statements.ts';
import { numberOf, type Place, type Store, textOf } from './store.ts';

/**
 * In order. A released migration is never changed, and each only adds. It ends with its own row of `migration`, in which
 * `compatible_with` is the oldest version of the program whose statements work on the tables after it: during a deploy, older
 * and newer processes run side by side.
 */
const MIGRATIONS = ['001'] as const;

/** The version of the tables that this program creates. */
export const VERSION: number = MIGRATIONS.length;

/** Tables that this program would misread. */
const OTHER_BUILD =
  'Another build of @payment-service/inbox made these tables, or another program changed them. Nothing was read or written, ' +
  'since this program could apply a payment again. Run the build that made them, or let this one create its tables in another ' +
  'schema or file.';

/** One step of the inbox's tables, as a DBA can run it. */
export interface Migration {
  /** From 1: the tables have the version of the last one that ran. */
  readonly version: number;
  /** Statements that end with `;`, to run in this order with any client of the database. */
  readonly sql: string;
}

/** What `inbox.migrations()` returns: the whole script, including the row that records that it ran. */
export function migrationsOf(place: Place): Migration[] {
  const schema = place.prefix.endsWith('.') ? place.prefix.slice(0, -1) : undefined;
  return MIGRATIONS.map((file, index) => {
    const version = index + 1;
    const create = version === 1 && schema ? `create schema if not exists ${schema};\n` : '';
    return { version, sql: create + inDialect(readSql(`migrations/${file}.${place.dialect}`), place) };
  });
}

/**
 * Brings the tables up to date. Up-to-date tables are only read, so a role without the right to create them can start.
 *
 * @throws {ConfigurationError} If a newer version has made tables that this program does not understand.
 */
export async function migrate<Tx>(store: Store<Tx>, statements: Statements<Tx>): Promise<void> {
  if (((await versionOf(statements)) ?? 0) >= VERSION) return;
  await store.transaction(async (tx) => {
    if (store.dialect === 'postgres') await statements.run('lock_migration', [], tx);
    for (const { version: next, sql } of migrationsOf(store)) {
      if (next <= ((await versionOf(statements, tx)) ?? 0)) continue;
      for (const statement of sql.split(/;\n/)) {
        if (statement.trim() !== '') await store.query({ text: statement }, [], tx);
      }
    }
  });
  // The tables are then in the file itself, so that it can be read without its log.
  if (store.dialect === 'sqlite') await statements.run('checkpoint', []);
}

/**
 * The version of the tables, whose columns are those of this program; undefined if there are none.
 *
 * @throws {ConfigurationError} If a newer version or another build has made tables that this program does not understand.
 */
export async function versionOf<Tx>(statements: Statements<Tx>, tx?: Tx): Promise<number | undefined> {
  const [exists] = await statements.run('has_tables', [], tx);
  if (exists?.['name'] === null || exists === undefined) return undefined;
  const [row = {}] = await statements.run('read_version', [], tx);
  if (numberOf(row, 'compatible_with') > VERSION) {
    throw new ConfigurationError(
      'store',
      'A newer version of @payment-service/inbox has changed its tables so that this one cannot use them. Until this program is ' +
        'updated, it keeps no callback and applies none. Update this program.',
    );
  }
  const version = numberOf(row, 'version');
  const found = new Map(
    (await statements.run('list_columns', [], tx)).map((each) => [
      textOf(each, 'name'),
      textOf(each, 'type'),
    ]),
  );
  for (const [name, type] of columnsOf(statements.dialect, version)) {
    if (found.get(name) === type) continue;
    const is = found.has(name) ? `is "${found.get(name)}"` : 'is missing';
    throw new ConfigurationError(
      'store',
      `The tables say that they have version ${version}, but the column ${name} ${is}, and this program needs "${type}". ${OTHER_BUILD}`,
    );
  }
  return version;
}

/**
 * The columns that the migrations up to a version make, by table and name, with their types. Read from the migrations: a second
 * list would be forgotten. Further columns and indexes are the merchant's own, and a missing index or constraint makes statements
 * slow or fail, but nothing is misread.
 */
export function columnsOf(dialect: Place['dialect'], version: number): Map<string, string> {
  const columns = new Map<string, string>();
  for (const file of MIGRATIONS.slice(0, version)) {
    const tables = readSql(`migrations/${file}.${dialect}`).matchAll(
      /^create table inbox\.(\w+) \(\n(.*?)^\)/gms,
    );
    for (const [, table, lines = ''] of tables) {
      for (const line of lines.split('\n')) {
        const [, name, type] = /^ {2}(\w+) (\w+(?: collate "C")?)/.exec(line) ?? [];
        // A line with a list is a constraint.
        if (name === undefined || line.includes('(')) continue;
        columns.set(`${table}.${name}`, `${type}${/not null|generated/.test(line) ? ' not null' : ''}`);
      }
    }
  }
  return columns;
}
