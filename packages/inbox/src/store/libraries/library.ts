import { TimedOut, within } from '../../time.ts';
import { checkDurability } from '../durability.ts';
import { ANSWER_MS, schemaPrefix } from '../postgres.ts';
import type { Call, Row, SqlValue, Store } from '../store.ts';
import { TransactionEnded } from '../transaction-ended.ts';

/** Options of a store over the merchant's own library. */
export interface LibraryOptions {
  /** The schema of the inbox's tables, made if missing. @default 'payment_inbox' */
  readonly schema?: string | undefined;
}

/** What an entry for a library adds: how it runs a statement, and how it opens a transaction. */
export interface Library<Tx> {
  /** Gives the rows, or an object that has them. Without `tx`, the statement is a transaction of its own. */
  run(text: string, values: readonly SqlValue[], tx?: Tx): PromiseLike<unknown>;
  /** Where the library remembers that its transaction has ended. */
  hasEnded?(tx: Tx): boolean;
  /** At READ COMMITTED, whatever the database's default is. */
  open(body: Body<Tx>): unknown;
}

export type Body<Tx> = (tx: Tx) => Promise<void>;

/** What a template tag such as `sql` takes. */
export type Template = [pieces: TemplateStringsArray, ...values: (SqlValue | undefined)[]];

const END_SESSION = { text: 'select pg_terminate_backend(pg_backend_pid())' };

/** A store on PostgreSQL through the library that opens the merchant's transactions. Wake-ups come from the poll. */
export function libraryStore<Tx>(
  schema: string | undefined,
  { run, open, hasEnded }: Library<Tx>,
): Store<Tx> {
  const query: Store<Tx>['query'] = async ({ text }, values, tx, limitMs = ANSWER_MS) => {
    const running = (async () => {
      if (tx !== undefined && hasEnded?.(tx) === true) throw new TransactionEnded();
      const result = await run(text, values, tx);
      return (Array.isArray(result) ? result : (result as { rows: unknown }).rows) as readonly Row[];
    })();
    try {
      return await (tx === undefined ? within(limitMs, running) : running);
    } catch (error) {
      // Some libraries wrap the error of the driver, which has the code.
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    }
  };
  const store: Store<Tx> = {
    dialect: 'postgres',
    prefix: schemaPrefix(schema),
    query,
    async transaction<T>(body: (tx: Tx, entered: readonly Row[]) => Promise<T>, entry?: Call) {
      let running: Promise<T> | undefined;
      let isOver = false;
      const opening = async (): Promise<unknown> =>
        open(async (tx) => {
          const enter = async (): Promise<T> =>
            body(tx, entry === undefined ? [] : await query(entry.statement, entry.values, tx));
          running = enter().finally(() => {
            isOver = true;
          });
          try {
            await running;
          } catch (error) {
            // The body may still use its transaction, and some libraries would run that on a connection that they have lent
            // to another caller by then.
            if (error instanceof TimedOut || Object(error).cause instanceof TimedOut)
              await within(ANSWER_MS, query(END_SESSION, [], tx)).catch(() => undefined);
            throw error;
          }
        });
      const [opened] = await Promise.allSettled([opening()]);
      if (running === undefined)
        throw (
          outcomeOf(opened) ??
          new TypeError('The library says that a transaction is committed whose body did not run.')
        );
      // Knex settles its transaction when the body calls tx.commit() or tx.rollback(), and the body runs on.
      const isEarly = !isOver;
      const [ended] = await Promise.allSettled([running]);
      if (!isEarly && ended.status === 'fulfilled' && opened.status === 'fulfilled') return ended.value;
      const error = outcomeOf(ended) ?? outcomeOf(opened);
      if (!isEarly && opened.status === 'rejected') throw error;
      throw error instanceof TransactionEnded ? error : new TransactionEnded({ cause: error });
    },
    check: () => checkDurability((text) => query({ text }, [])),
  };
  return Object.freeze(store);
}

function outcomeOf(settled: PromiseSettledResult<unknown>): unknown {
  return settled.status === 'rejected' ? settled.reason : undefined;
}

/** A text with `$1`, `$2`, … as a template, for the libraries that write the placeholders themselves. */
export function template(text: string, values: readonly SqlValue[]): Template {
  const parts = text.split(/\$(\d+)/);
  const pieces = parts.filter((_, index) => index % 2 === 0);
  const numbers = parts.filter((_, index) => index % 2 === 1).map(Number);
  return [Object.assign(pieces, { raw: pieces }), ...numbers.map((number) => values[number - 1])];
}
