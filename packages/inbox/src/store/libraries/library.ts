import { ConfigurationError } from '@payment-service/core';
import { checkArgument, checkOptions } from '@payment-service/core/internal';
import { STRING } from '../../option-rules.ts';
import { codesOf } from '../../reporting/failure-text.ts';
import { TimedOut, within } from '../../time.ts';
import type { PostgresPool } from '../postgres/connection.ts';
import { checkDurability } from '../postgres/durability.ts';
import { canListen, listenThrough } from '../postgres/listener.ts';
import { ANSWER_MS, schemaPrefix } from '../postgres/postgres.ts';
import {
  NotCommitted,
  type Row,
  type SqlValue,
  type Store,
  TransactionEnded,
  type TransactionParts,
  textOf,
} from '../store.ts';
import { isPool, poolBelow } from './pool-below.ts';
import { guard, type Session, sessionOf } from './sessions.ts';

/** Options of a store over the merchant's own library. */
export interface LibraryOptions {
  /** The schema of the inbox's tables, created if missing. @default 'payment_inbox' */
  readonly schema?: string | undefined;
  /**
   * A pool of the package `pg` on the same database, with three connections or more. While `work()` runs, one of them listens,
   * so that a callback which another process keeps is worked on immediately; without one, the poll finds it, within `pollMs`.
   * @default the library's own pool with Drizzle, Knex and TypeORM; none with Prisma and Kysely, which do not show theirs
   */
  readonly listen?: PostgresPool | undefined;
}

/** What an entry for a library adds: how it runs a statement and how it opens a transaction. */
export interface Library<Tx> {
  /** Returns the rows, or an object that has them. Without `tx`, the statement is a transaction of its own. */
  run(text: string, values: readonly SqlValue[], tx?: Tx): PromiseLike<unknown>;
  /** Where the library records that its transaction has ended, or that its BEGIN failed. */
  hasEnded?(tx: Tx): boolean;
  /** The `pg` client that runs the transaction. Without one, the server is asked whether it has committed. */
  clientOf?(tx: Tx): unknown;
  /** Whether a transaction in it has not ended, although the body has. */
  isNesting?(tx: Tx): boolean;
  /** At READ COMMITTED, or at the database's default if the transaction is the merchant's. */
  open(body: Body<Tx>, isMerchants: boolean): unknown;
}

export type Body<Tx> = (tx: Tx) => Promise<void>;

/** The arguments of a template tag such as `sql`. */
export type Template = [pieces: TemplateStringsArray, ...values: (SqlValue | undefined)[]];

/** The same number as in enter_attempt. */
const NUMBER = {
  text: "select concat(pg_current_xact_id(), ' ', extract(epoch from pg_stat_get_bgwriter_stat_reset_time())) as number",
};
/** The same outcome as in read_outcome. */
const OUTCOME = {
  text: `select case when split_part($1, ' ', 2) = cast(extract(epoch from pg_stat_get_bgwriter_stat_reset_time()) as text)
    then pg_xact_status(cast(split_part($1, ' ', 1) as xid8)) end as status`,
};
const END_SESSION = { text: 'select pg_terminate_backend(pg_backend_pid())' };

/**
 * A store on PostgreSQL through the library that opens the merchant's transactions.
 *
 * @param call The function, as messages name it.
 * @param client A client of the library, with the method `has`. It may expose the `pg` pool below it.
 * @throws {ConfigurationError}
 */
export function libraryStore<Tx>(
  { call, client, has }: { readonly call: string; readonly client: object; readonly has: string },
  options: LibraryOptions,
  { run, open, hasEnded, clientOf, isNesting }: Library<Tx>,
): Store<Tx> {
  const isClient = (value: unknown): boolean => typeof Object(value)[has] === 'function';
  checkArgument(call, 'client', client, [isClient, `a client of the library, with ${has}()`]);
  checkOptions(call, options, { schema: STRING, listen: undefined });
  const { schema, listen } = options;
  if (listen !== undefined && !(isPool(listen) && canListen(listen))) {
    throw new ConfigurationError(
      'listen',
      "listen needs a pool of the package 'pg' with a max of at least 3: one connection listens, and the pool may also serve handlers.",
    );
  }
  const ears = listen ?? poolBelow(client);
  for (const pool of [listen, poolBelow(client)]) guard(pool);
  const query: Store<Tx>['query'] = async ({ text }, values, tx, limitMs = ANSWER_MS) => {
    const running = (async () => {
      if (tx !== undefined && hasEnded?.(tx) === true) throw new TransactionEnded();
      const result = await run(text, values, tx);
      return (Array.isArray(result) ? result : (result as { rows: unknown }).rows) as readonly Row[];
    })();
    try {
      return await (tx === undefined ? within(limitMs, running) : running);
    } catch (error) {
      // Another transaction was faster, and the database defaults to an isolation level that reports it.
      if (tx === undefined && codesOf(error).includes('40001'))
        return store.transaction((own) => query({ text }, values, own));
      // Some libraries wrap the error of the driver, which has the code.
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    }
  };
  const store: Store<Tx> = {
    dialect: 'postgres',
    prefix: schemaPrefix(schema),
    query,
    async transaction<T>(
      body: (tx: Tx, entered: readonly (readonly Row[])[]) => Promise<T>,
      { entry = [], isMerchants = false }: TransactionParts = {},
    ) {
      let running: Promise<T> | undefined;
      let isOver = false;
      // A library can report a commit where the server has answered COMMIT with a rollback, or has got none (decision D80).
      let session: Session | undefined;
      let commits: number | undefined;
      let number: string | undefined;
      let isCommitted = true;
      const opening = async (): Promise<void> => {
        await open(async (tx) => {
          // Knex calls the body although BEGIN has failed, and then rejects with that error.
          if (hasEnded?.(tx) === true) return;
          const enter = async (): Promise<T> => {
            if (isMerchants) session = sessionOf(await clientOf?.(tx));
            commits = session?.commits;
            const entered: (readonly Row[])[] = [];
            for (const { statement, values } of entry) entered.push(await query(statement, values, tx));
            if (isMerchants && session === undefined) {
              const [row] = entered[0] ?? (await query(NUMBER, [], tx));
              number = row && textOf(row, 'number');
            }
            const result = await body(tx, entered);
            if (isNesting?.(tx) === true) throw new NotCommitted();
            return result;
          };
          running = enter().finally(() => {
            isOver = true;
          });
          try {
            await running;
          } catch (error) {
            // The body may still use its transaction, and some libraries would run that on a connection that they have
            // meanwhile lent to another caller.
            if (
              error instanceof TimedOut ||
              Object(error).cause instanceof TimedOut ||
              isNesting?.(tx) === true
            )
              await within(ANSWER_MS, query(END_SESSION, [], tx)).catch(() => undefined);
            throw error;
          }
        }, isMerchants);
        // Before another caller can use the session.
        isCommitted = session === undefined || session.commits !== commits;
      };
      const [opened] = await Promise.allSettled([opening()]);
      const notRun = 'The library reports a committed transaction whose body did not run.';
      if (running === undefined) throw outcomeOf(opened) ?? new TypeError(notRun);
      // Knex settles its transaction when the body calls tx.commit() or tx.rollback(), and the body continues.
      const isEarly = !isOver;
      const [ended] = await Promise.allSettled([running]);
      if (!isEarly && ended.status === 'fulfilled' && opened.status === 'fulfilled') {
        if (number !== undefined) {
          const ask = () => query(OUTCOME, [number ?? null]);
          // Once more: the connection may have been lost since.
          const [row] = await ask().catch(ask);
          isCommitted = row?.['status'] === 'committed';
        }
        if (!isCommitted) throw new NotCommitted();
        return ended.value;
      }
      const error = ended.status === 'rejected' ? ended.reason : outcomeOf(opened);
      if (!isEarly && opened.status === 'rejected') throw error;
      throw error instanceof TransactionEnded ? error : new TransactionEnded({ cause: error });
    },
    ...(ears === undefined ? {} : listenThrough(ears, schemaPrefix(schema))),
    check: () => checkDurability((text) => query({ text }, [])),
  };
  return Object.freeze(store);
}

function outcomeOf(settled: PromiseSettledResult<unknown>): unknown {
  return settled.status === 'rejected' ? settled.reason : undefined;
}

/** Turns a statement with `$1`, `$2`, … into a template, for libraries that write the placeholders themselves. */
export function template(text: string, values: readonly SqlValue[]): Template {
  const parts = text.split(/\$(\d+)/);
  const pieces = parts.filter((_, index) => index % 2 === 0);
  const numbers = parts.filter((_, index) => index % 2 === 1).map(Number);
  return [Object.assign(pieces, { raw: pieces }), ...numbers.map((number) => values[number - 1])];
}
