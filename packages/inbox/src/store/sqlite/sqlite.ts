import { AsyncLocalStorage } from 'node:async_hooks';
import { Worker } from 'node:worker_threads';
import { ConfigurationError } from '@payment-service/core';
import { checkArgument, checkOptions, type OptionRule } from '@payment-service/core/internal';
import { wholeNumber } from '../../option-rules.ts';
import { failureCode } from '../../reporting/events.ts';
import { type Row, type Statement, type Store, TransactionEnded } from '../store.ts';
import { databasePath } from './database-path.ts';
import { sqliteProgram } from './sqlite-program.ts';
import type {
  Question,
  SqlitePart,
  SqliteResult,
  SqliteValues,
  ThreadData,
  ThreadFailure,
  ThreadReply,
  ThreadRequest,
} from './thread-messages.ts';

const PATH: OptionRule = [
  (path) => typeof path === 'string' && path.trim() !== '',
  'the path of a file on a local disk',
];

/** A transaction on SQLite, for a handler and for `inbox.transaction()`. */
export interface SqliteTransaction {
  /**
   * Runs one statement. Values by position for `?`, or by name for `$name`.
   *
   * @throws {ConfigurationError} If the transaction has ended, including by the handler's own COMMIT.
   *
   * @example
   * await tx.query('update orders set state = ? where reference = ?', ['paid', signed.merchant_reference]);
   */
  query(text: string, values?: SqliteValues): Promise<SqliteResult>;
}

/**
 * The embedded store: one file on a local disk, for one machine. Any number of processes of one user may use the file, which
 * other users cannot read; one handler runs at a time, since SQLite has one writer.
 *
 * @param path The database file, created if missing. It may also contain the merchant's own tables: a handler then changes them
 * in the same transaction.
 * @param options.lockTimeoutMs How long to wait for a lock that another connection holds on the file, in milliseconds, at most
 * 600,000 (ten minutes). A callback waits no longer than `storeTimeoutMs`. @default 3000
 * @throws {ConfigurationError} For a database in memory or on a network file system.
 *
 * @example
 * const inbox = createInbox({ store: sqlite('shop.db') });
 */
export function sqlite(
  path: string,
  options: { readonly lockTimeoutMs?: number | undefined } = {},
): Store<SqliteTransaction> {
  checkArgument('sqlite()', 'path', path, PATH);
  checkOptions('sqlite()', options, { lockTimeoutMs: wholeNumber(600_000) });
  const file = databasePath(path, 'path');
  const thread = new SqliteThread({ path: file, lockTimeoutMs: options.lockTimeoutMs ?? 3000 });
  const inside = new AsyncLocalStorage<{ isOver: boolean }>();
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, in the order of arrival. */
  const inTurn = async <T>(act: () => Promise<T>): Promise<T> => {
    if (inside.getStore()?.isOver === false) {
      throw new ConfigurationError(
        'tx',
        'Inside a handler or transaction() this call would wait for the transaction that waits for it. Use the tx that ' +
          'you have: expect() accepts it as { tx }. Make other calls after the transaction.',
      );
    }
    const result = last.then(act);
    last = result.catch(() => undefined); // The caller handles its error; the next one only waits for its end.
    return result;
  };
  /** How the inbox's own statements run in a transaction. */
  const asking = new WeakMap<SqliteTransaction, (own: Question, isLast?: boolean) => Promise<SqliteResult>>();
  const transaction: Store<SqliteTransaction>['transaction'] = (body, { entry = [] } = {}) =>
    inTurn(async () => {
      const scope = { isOver: false };
      let isBegun = false;
      let isCommitted = false;
      const ask = async (question: Question, isLast = false): Promise<SqliteResult> => {
        if (scope.isOver)
          throw new ConfigurationError('tx', 'This transaction has ended. Await every statement in it.');
        // With the first statement: a message to the thread and back costs as much as several statements.
        const kind = isLast ? 'last' : isBegun ? 'next' : 'first';
        isBegun = true;
        const result = await thread.request({ kind, ...question });
        isCommitted = isLast && result.rows.length > 0;
        return result;
      };
      const tx: SqliteTransaction = Object.freeze({
        query: (text: string, values: SqliteValues = []) => ask({ text, values }),
      });
      asking.set(tx, ask);
      try {
        const result = await inside.run(scope, async () => {
          const entered: (readonly Row[])[] = [];
          for (const { statement, values } of entry) entered.push(await store.query(statement, values, tx));
          return body(tx, entered);
        });
        scope.isOver = true;
        if (isBegun && !isCommitted) await thread.request({ kind: 'commit' });
        return result;
      } catch (error) {
        scope.isOver = true;
        if (isBegun) await rollBack(thread, error);
        throw error;
      }
    });
  const store: Store<SqliteTransaction> = {
    dialect: 'sqlite',
    prefix: 'payment_inbox_',
    maxConcurrency: 1,
    spool: `${file}-spool`,
    files: [file, `${file}-wal`, `${file}-shm`],
    transaction,
    async query(statement, values, tx) {
      const parts = partsOf(statement);
      const question: Question = { parts, values, isForEach: statement.isForEach === true };
      if (tx === undefined) {
        const isRead = /^\s*(select|pragma)\b/i.test(statement.text);
        const kind = statement.isUnsynced === true ? 'unsynced' : 'write';
        const ask = (kind: 'read' | 'write' | 'unsynced') => thread.request({ kind, ...question });
        return (await (isRead ? ask('read') : inTurn(() => ask(kind)))).rows;
      }
      const askIn = asking.get(tx);
      if (askIn !== undefined) return (await askIn(question, statement.isLast)).rows;
      // The merchant's own transaction, on a connection of its own.
      let rows: readonly Row[] = [];
      for (const { text, binds } of parts) {
        const bound = binds.map((bind) => values[Number(bind)] ?? null);
        ({ rows } = await tx.query(text, bound));
      }
      return rows;
    },
    close: () => inTurn(() => thread.close()),
  };
  return Object.freeze(store);
}

/** @throws {TransactionEnded} If there is nothing to roll back: the failed body has ended the transaction. */
async function rollBack(thread: SqliteThread, why: unknown): Promise<void> {
  await thread.request({ kind: 'rollback' }).catch((error: unknown) => {
    const isEnded = failureCode(error) === 'TRANSACTION_ENDED' && failureCode(why) !== 'TRANSACTION_ENDED';
    throw isEnded ? new TransactionEnded({ cause: why }) : why;
  });
}

const PARTS = new WeakMap<Statement, readonly SqlitePart[]>();

/** By `?`, since Node 22.13 binds nothing to SQLite's own numbered form, ?1. */
function partsOf(statement: Statement): readonly SqlitePart[] {
  const known = PARTS.get(statement);
  if (known !== undefined) return known;
  const parts = statement.text.split(/;\n/).map((text) => {
    const binds = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) =>
      /^\d/.test(name) ? Number(name) - 1 : name,
    );
    return { text: text.replace(PLACEHOLDER, '?'), binds };
  });
  PARTS.set(statement, parts);
  return parts;
}

const PLACEHOLDER = /\$(\w+)/g;

/** The client of the thread that owns the connections. Requests are answered in order; a thread that died is replaced. */
export class SqliteThread {
  readonly #data: ThreadData;
  readonly #waiting = new Map<number, PromiseWithResolvers<SqliteResult>>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(data: ThreadData) {
    this.#data = data;
  }

  async request(request: ThreadRequest): Promise<SqliteResult> {
    const worker = this.#started();
    this.#lastId += 1;
    // Before anything waits: it throws for a value that cannot be sent to a thread, such as a promise.
    worker.postMessage({ id: this.#lastId, request });
    const waiting = Promise.withResolvers<SqliteResult>();
    this.#waiting.set(this.#lastId, waiting);
    // The thread keeps the process alive only while a request is pending.
    worker.ref();
    return waiting.promise;
  }

  /** Must not be called again before it has resolved. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const closed = this.request({ kind: 'close' });
    // Later requests of another inbox on the same store get a new thread.
    this.#worker = undefined;
    await closed;
    // Without this the process could end before close() has resolved.
    worker.ref();
    await ended;
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(sqliteProgram, {
      eval: typeof sqliteProgram === 'string',
      workerData: this.#data,
    });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (reply: ThreadReply) => this.#settle(reply));
    worker.on('error', (error: Error) => {
      this.#end(worker, { message: `The SQLite thread cannot answer: ${error.message}.` });
    });
    worker.on('exit', () => this.#end(worker, { message: 'The SQLite thread has ended.' }));
    return worker;
  }

  #settle({ id, result, failure }: ThreadReply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if (failure === undefined) waiting?.resolve(result ?? { rows: [], rowCount: 0 });
    else waiting?.reject(errorFrom(failure));
  }

  #end(worker: Worker, failure: ThreadFailure): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(errorFrom(failure));
    this.#waiting.clear();
  }
}

/** An SQLite error with its result code, or a misconfiguration. */
function errorFrom({ option, message, ...codes }: ThreadFailure): Error {
  if (option !== undefined) return new ConfigurationError(option, message);
  return Object.assign(new Error(message), { name: 'SqliteError', ...codes });
}
