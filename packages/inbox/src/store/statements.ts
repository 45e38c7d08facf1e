import { readSql } from './read-sql.ts';
import { EACH } from './sqlite-each.ts';
import type { Row, SqlValue, Store } from './store.ts';

/** What the engines write differently. Everything else is one text for both. */
const WORDS: Readonly<Record<Store<unknown>['dialect'], Readonly<Record<string, string>>>> = {
  postgres: {
    // Of the statement, not of the transaction; stable, so that an index can be searched by it.
    now: 'cast(extract(epoch from statement_timestamp()) * 1000 as bigint)',
    given: 'jsonb_array_elements(cast($1 as jsonb)) as given(value)',
    first: 'with created as (',
    also: '), kept as (',
    created_id: 'created.id',
    last: "join created on created.transition_id = value ->> 'transitionId') select transition_id from created",
    for_update: 'for update',
    for_update_of_e: 'for update of e',
    try_for_update: 'for update skip locked',
    try_keep: "pg_try_advisory_xact_lock(hashtextextended('inbox.transition ' || t.transition_id, 0))",
    try_lock: "pg_try_advisory_xact_lock(hashtextextended('inbox.' || subject_key, 0))",
    is_own: "coalesce(current_setting('payment_inbox.attempt', true) = $1, false)",
    key: 'bigint generated always as identity primary key',
    text: 'text collate "C"',
    bigint: 'bigint',
    index: '',
    strict: '',
    // Not to_regclass(): inside a transaction it may not see what another one has just made.
    migration_table:
      "(select tablename from pg_tables where schemaname || '.' || tablename = 'inbox.migration')",
  },
  sqlite: {
    now: "cast(unixepoch('subsec') * 1000 as integer)",
    given: EACH,
    first: '',
    also: ';',
    created_id: 'last_insert_rowid()',
    last: '',
    for_update: '',
    for_update_of_e: '',
    try_for_update: '',
    try_keep: 'true',
    try_lock: 'true',
    is_own: '$1 is not null',
    key: 'integer primary key autoincrement',
    text: 'text',
    bigint: 'integer',
    index: 'payment_inbox_',
    strict: ' strict',
    migration_table: "(select name from sqlite_schema where name = 'inbox.migration')",
  },
};

/** The inbox's statements, by their names in the .sql files, in the words of one store. */
export class Statements<Tx> {
  readonly #store: Store<Tx>;
  readonly #sql = new Map<string, string>();

  constructor(store: Store<Tx>) {
    this.#store = store;
    for (const file of ['intake', 'work', 'operator', 'postgres']) {
      const [, ...blocks] = readSql(file).split(/^-- name: /m);
      for (const block of blocks) {
        const [name = '', ...lines] = block.split('\n');
        const text = lines.filter((line) => !line.startsWith('--')).join('\n');
        this.#sql.set(name, inDialect(text.trim(), store));
      }
    }
  }

  text(name: string): string {
    return this.#sql.get(name) ?? name; // The database quotes an unknown name in its error.
  }

  /** Runs a statement in the transaction, or without one in a transaction of its own. */
  async run(name: string, values: readonly SqlValue[], tx?: Tx, limitMs?: number): Promise<readonly Row[]> {
    return this.#store.query(this.text(name), values, tx, limitMs);
  }
}

/** Replaces `inbox.` by the store's prefix, and `{word}` by the engine's own words. The setting `payment_inbox.attempt` stays. */
export function inDialect(
  text: string,
  { dialect, prefix }: Pick<Store<unknown>, 'dialect' | 'prefix'>,
): string {
  return text
    .replace(/\{(\w+)\}/g, (_, word: string) => WORDS[dialect][word] ?? `{${word}}`)
    .replace(/\binbox\./g, prefix);
}
