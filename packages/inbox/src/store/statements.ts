import { codesOf } from '../reporting/failure-text.ts';
import { MONEY_REASONS } from '../states.ts';
import { FINAL_REASONS } from '../words.ts';
import { readSql } from './read-sql.ts';
import { type Call, NotPrepared, type Row, type SqlValue, type Statement, type Store } from './store.ts';

const NOW: Readonly<Record<Store<unknown>['dialect'], string>> = {
  // The time of the statement, not of the transaction; stable, so that an index can be searched by it.
  postgres: 'cast(extract(epoch from statement_timestamp()) * 1000 as bigint)',
  sqlite: "cast(unixepoch('subsec') * 1000 as integer)",
};

const listed = (reasons: readonly string[]): string => reasons.map((reason) => `'${reason}'`).join(', ');

/** SQLSTATEs of a statement and of a lock that took too long. */
const LIMITS: readonly unknown[] = ['57014', '55P03'];

const locked = (limitMs: number): string =>
  `The database gave up after ${limitMs} ms (storeTimeoutMs). Another transaction, such as that of a handler, probably has a lock on ` +
  'the same reference. Nothing was done: call it again after that transaction has ended.';

const HEAD = /^(\w+)(?: \(([\w, ]+)\))?$/;

/**
 * The inbox's statements, by their names in the .sql files. A header such as `-- name: settle (postgres, prepared)` says which
 * engine a statement is for, if not for both, and how it runs. In a statement for both, `{now}` is the time, and `{postgres: …}`
 * is there for that engine only. A header with `of state, of reason` makes a statement of each kind, such as `list_payments of state`, in
 * which only the text in `{of state: …}` is there. `{money reasons}` and `{final reasons}` are the lists of states.ts and words.ts.
 */
export class Statements<Tx> {
  readonly #store: Store<Tx>;
  readonly #statements = new Map<string, Statement>();

  constructor(store: Store<Tx>) {
    this.#store = store;
    for (const file of ['intake', 'work', 'operator', 'archive', 'history', 'reconciliation']) {
      const [, ...blocks] = readSql(file).split(/^-- name: /m);
      for (const block of blocks) {
        const [head = '', ...lines] = block.split('\n');
        const [, name = head, flags = ''] = HEAD.exec(head) ?? [];
        const words = flags.split(', ');
        const other = store.dialect === 'postgres' ? 'sqlite' : 'postgres';
        if (words.includes(other)) continue;
        const text = inDialect(
          lines
            .filter((line) => !line.startsWith('--'))
            .join('\n')
            .trim(),
          store,
        );
        const kinds = words.filter((word) => word.startsWith('of '));
        for (const own of kinds.length === 0 ? [''] : kinds)
          this.#statements.set(`${name} ${own}`.trimEnd(), {
            text: text.replace(/\{(of \w+): ([^{}]*)\}/g, (_, kind, part) => (kind === own ? part : '')),
            isPrepared: words.includes('prepared'),
            isForEach: words.includes('each'),
            isLast: words.includes('last'),
          });
      }
    }
  }

  get dialect(): Store<Tx>['dialect'] {
    return this.#store.dialect;
  }

  get(name: string): Statement {
    const statement = this.#statements.get(name);
    if (statement === undefined)
      throw new TypeError(`There is no statement ${name} for ${this.#store.dialect}.`);
    return statement;
  }

  /** Runs a statement in the transaction, or without one in a transaction of its own. */
  async run(
    name: string,
    values: readonly SqlValue[],
    tx?: Tx,
    limitMs?: number,
    after?: Call,
  ): Promise<readonly Row[]> {
    return this.#store.query(this.get(name), values, tx, limitMs, after);
  }

  /** A transaction in which the server gives up before its caller times out. */
  async limited<T>(limitMs: number, body: (tx: Tx) => Promise<T>): Promise<T> {
    const statement = this.#store.dialect === 'postgres' ? this.get('limit_statements') : undefined;
    const parts = statement && { entry: [{ statement, values: [String(limitMs)] }] };
    try {
      return await this.#store.transaction(body, parts);
    } catch (error) {
      const code = codesOf(error).find((each) => LIMITS.includes(each));
      if (code !== undefined) throw Object.assign(new Error(locked(limitMs), { cause: error }), { code });
      if (!(error instanceof NotPrepared)) throw error;
      return this.#store.transaction(body, parts); // The transaction had no effect, and nothing is prepared from now on.
    }
  }
}

/** Replaces `inbox.` by the store's prefix. The setting `payment_inbox.attempt` stays. */
export function inDialect(
  text: string,
  { dialect, prefix }: Pick<Store<unknown>, 'dialect' | 'prefix'>,
): string {
  return text
    .replace(/\{(postgres|sqlite): ([^}]*)\}/g, (_, engine, own) => (engine === dialect ? own : ''))
    .replaceAll('{now}', NOW[dialect])
    .replaceAll('{money reasons}', listed(MONEY_REASONS))
    .replaceAll('{final reasons}', listed(FINAL_REASONS))
    .replace(/\binbox\./g, prefix);
}
