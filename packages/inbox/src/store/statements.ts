import { codesOf } from '../reporting/failure-text.ts';
import { MONEY_REASONS } from '../states.ts';
import { FINAL_REASONS } from '../words.ts';
import { readSql } from './read-sql.ts';
import { type Call, NotPrepared, type Row, type SqlValue, type Statement, type Store } from './store.ts';

type Dialect = Store<unknown>['dialect'];
/** Makes the text that replaces a pair of braces from what follows the colon in them. */
type Term = Readonly<Record<Dialect, (own: string) => string>>;

const listed = (reasons: readonly string[]): (() => string) => {
  const list = reasons.map((reason) => `'${reason}'`).join(', ');
  return () => list;
};

const TERMS: Readonly<Record<string, Term>> = {
  postgres: { postgres: (own) => own, sqlite: () => '' },
  sqlite: { postgres: () => '', sqlite: (own) => own },
  now: {
    // The time of the statement, not of the transaction; stable, so that an index can be searched by it.
    postgres: () => 'cast(extract(epoch from statement_timestamp()) * 1000 as bigint)',
    sqlite: () => "cast(unixepoch('subsec') * 1000 as integer)",
  },
  // The objects, and the strings or whole numbers, of a JSON array.
  records: {
    postgres: (array) => `jsonb_array_elements(cast(${array} as jsonb)) as given(value)`,
    sqlite: (array) => `json_each(${array})`,
  },
  values: {
    postgres: (array) => `jsonb_array_elements_text(cast(${array} as jsonb)) as given(value)`,
    sqlite: (array) => `json_each(${array})`,
  },
  greatest: { postgres: () => 'greatest', sqlite: () => 'max' },
  least: { postgres: () => 'least', sqlite: () => 'min' },
  'money reasons': { postgres: listed(MONEY_REASONS), sqlite: listed(MONEY_REASONS) },
  'final reasons': { postgres: listed(FINAL_REASONS), sqlite: listed(FINAL_REASONS) },
};
/** Braces without others in them. */
const BRACES = /\{([a-z][a-z_ ]*)(?:: ([^{}]*))?\}/g;

/** SQLSTATEs of a statement and of a lock that took too long. */
const LIMITS: readonly unknown[] = ['57014', '55P03'];

const locked = (limitMs: number): string =>
  `The database gave up after ${limitMs} ms (storeTimeoutMs). Another transaction, such as a handler's, probably holds a lock on ` +
  'the same reference. Nothing was done: call it again after that transaction has ended.';

const HEAD = /^(\w+)(?: \(([\w, ]+)\))?$/;

/**
 * The inbox's statements, by their names in the .sql files. A header such as `-- name: settle (postgres, prepared)` says which
 * engine a statement is for, if not for both, and how it runs. With `of state, of reason` it makes a statement of each kind, such
 * as `list_payments of state`. What is in braces is one of the terms above, such as `{now}` and `{postgres: …}`, whose text is
 * there for that engine only; or the text of one kind, `{of state: …}`.
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
        const text = lines.filter((line) => !line.startsWith('--')).join('\n');
        const kinds = words.filter((word) => word.startsWith('of '));
        for (const kind of kinds.length === 0 ? [''] : kinds)
          this.#statements.set(`${name} ${kind}`.trimEnd(), {
            text: inDialect(text.trim(), store, kind),
            isPrepared: words.includes('prepared'),
            isForEach: words.includes('each'),
            isLast: words.includes('last'),
            isUnsynced: kind === 'of unsynced',
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

  /** Runs a statement in the transaction, or without one in its own. */
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

/**
 * Replaces what is in braces, from the inside out, and `inbox.` by the store's prefix. The setting `payment_inbox.attempt` stays.
 *
 * @throws {TypeError} If it has a term that is unknown.
 */
export function inDialect(
  text: string,
  { dialect, prefix }: Pick<Store<unknown>, 'dialect' | 'prefix'>,
  kind?: string,
): string {
  const replaced = text.replace(BRACES, (_, name: string, own: string = '') => {
    if (name.startsWith('of ')) return name === kind ? own : '';
    const term = TERMS[name];
    if (term === undefined) throw new TypeError(`A statement has the unknown term {${name}}.`);
    return term[dialect](own);
  });
  return replaced === text
    ? text.replace(/\binbox\./g, prefix)
    : inDialect(replaced, { dialect, prefix }, kind);
}
