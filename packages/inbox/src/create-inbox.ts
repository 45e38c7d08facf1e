import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { checkOptions } from '@payment-service/core/receive';
import { failureCode } from './events.ts';
import type { DrainOptions, Inbox, WorkerOptions } from './inbox.ts';
import { Intake } from './intake/intake.ts';
import { tryToKeep } from './intake/keep.ts';
import { callbackRecord, evidenceRecord, type IntakeRecord } from './intake/record.ts';
import { Spool } from './intake/spool.ts';
import { move, pruneBodies } from './operator/actions.ts';
import { listOverdue, readHealth, readStats } from './operator/health.ts';
import { listTransitions, showTransition } from './operator/views.ts';
import { Watch } from './operator/watch.ts';
import { type InboxOptions, settingsOf, wholeNumber } from './options.ts';
import { warn } from './problems.ts';
import { databasePath } from './store/database-path.ts';
import { migrate, migrationsOf, versionOf } from './store/schema.ts';
import { Statements } from './store/statements.ts';
import { NotPrepared } from './store/store.ts';
import { pause } from './time.ts';
import { followClock } from './work/clock.ts';
import { concurrencyOf, type Drained, dispatch, drainDue } from './work/dispatcher.ts';
import { checkExpectation, keepExpectation } from './work/expectation.ts';
import { addHandler, type Handlers } from './work/handlers.ts';
import { mergeTally } from './work/tally.ts';
import { Wakeup } from './work/wakeup.ts';

const RELISTEN_MS = 1000;
/** How many polls of a worker come between two looks at the clock and at the version of the tables. */
const POLLS = 10;
/** NOTIFY is a transaction, and lets one commit at a time. */
const NOTIFY_MS = 25;

/**
 * Makes a durable inbox: what it has acknowledged is on disk, and each transition is applied once.
 *
 * @throws {ConfigurationError} Names the option. A database that would lose data is refused by `ready()`.
 *
 * @example
 * const inbox = createInbox({ store: sqlite('shop.db') });
 * inbox.handle(async ({ tx, signed, settled }) => {
 *   await tx.query('update orders set paid = ? where reference = ?', [settled.amount, signed.merchant_reference]);
 * });
 */
export function createInbox<Tx>(options: InboxOptions<Tx>): Inbox<Tx> {
  const settings = settingsOf(options);
  const { account, storeTimeoutMs } = settings;
  const { store } = options;
  const statements = new Statements(store);
  const wakeup = new Wakeup();
  const closing = new AbortController();
  const handlers: Handlers<Tx> = new Map();
  const running = new Set<Promise<unknown>>();
  let isReady = false;
  let isReadable = false;
  let preparing: Promise<void> | undefined;
  let outdated: ConfigurationError | undefined;
  let working: Promise<unknown> | undefined;

  /** For what only reads: a store that takes no callback will do, such as a standby. */
  const read = async <T>(act: () => Promise<T>): Promise<T> => {
    await ready().catch((error: unknown) => {
      if (!isReadable || closing.signal.aborted) throw error;
    });
    return act();
  };
  /** For what writes: `close()` waits for it, and a worker looks for what it has made due. */
  const write = async <T>(act: () => Promise<T>): Promise<T> => {
    await ready();
    const writing = act().finally(() => {
      running.delete(writing);
      wakeup.wake();
    });
    running.add(writing);
    return writing;
  };
  /** A transaction in which the server gives up before the sender of a callback is given up. */
  const limited = async <T>(body: (tx: Tx) => Promise<T>): Promise<T> => {
    const statement = store.dialect === 'postgres' ? statements.get('limit_statements') : undefined;
    const entry = statement && { statement, values: [String(storeTimeoutMs)] };
    try {
      return await store.transaction(body, entry);
    } catch (error) {
      if (!(error instanceof NotPrepared)) throw error;
      return store.transaction(body, entry); // Nothing was done, and now nothing is prepared.
    }
  };
  const keeping = { statements, transact: limited, limitMs: storeTimeoutMs };
  const spool = openSpool();
  const context = { store, statements, settings, spool };
  // ready() refuses a closed inbox; callbacks that arrived before close() are still stored.
  const whenReady = async (): Promise<void> => void (isReady || (await ready()));
  const watch = new Watch({ context, isWorking: () => working !== undefined, checkTables });
  const intake = new Intake({ settings, keeping, ready: whenReady, checkTables, spool, onKept });

  function openSpool(): Spool | undefined {
    if (settings.spool === undefined) return undefined;
    const path = databasePath(settings.spool, 'spool');
    // The folder can be the mount point of another file system than the one that it is in.
    if (existsSync(path)) databasePath(join(path, 'file'), 'spool');
    const owner = JSON.stringify([account, store.dialect, store.prefix]);
    return new Spool({ path, owner, settings, store: (record) => intake.store(record) });
  }

  /** Once for all callers; tried again after a failure. */
  async function ready(): Promise<void> {
    if (closing.signal.aborted)
      throw new ConfigurationError('inbox', 'This inbox is closed. Create another one.');
    preparing ??= prepare().catch((error: unknown) => {
      preparing = undefined;
      throw error;
    });
    await preparing;
  }

  async function prepare(): Promise<void> {
    // In the background: an unusable spool must not block a usable database.
    spool?.start();
    await store.check?.();
    await migrate(store, statements);
    isReadable = true;
    await tryToKeep(keeping, account);
    isReady = true;
    outdated = undefined;
  }

  /** While the program runs: after the tables were changed so that it would misread them, it is no longer ready (decision D45). */
  async function checkTables(): Promise<void> {
    if (outdated !== undefined) throw outdated;
    if (!isReady) return;
    await versionOf(statements).catch((error: unknown) => {
      if (!(error instanceof ConfigurationError)) throw error;
      if (isReady) warn(settings.report, 'tables_changed', error.message);
      isReady = false;
      preparing = undefined;
      outdated = error;
      throw error;
    });
  }

  let isNotifying = false;
  let notifiedAt = Number.NEGATIVE_INFINITY;
  /** Wakes a worker: in this process immediately, in other processes by NOTIFY, at most once in NOTIFY_MS. */
  function onKept(): void {
    wakeup.wake();
    watch.kept();
    if (working !== undefined || store.listen === undefined || isNotifying) return;
    isNotifying = true;
    const notify = (): void => {
      isNotifying = false;
      notifiedAt = performance.now();
      // The poll finds what a lost NOTIFY missed.
      statements.run('notify', [account]).catch(() => undefined);
    };
    setTimeout(notify, Math.max(0, notifiedAt + NOTIFY_MS - performance.now())).unref();
  }

  async function receive(record: IntakeRecord): Promise<void> {
    if (closing.signal.aborted)
      throw new UnavailableError('The inbox is closed: this process ends, and the sender is asked to retry.');
    await intake.receive(record);
  }

  async function work(given: WorkerOptions): Promise<void> {
    checkOptions('work()', given, {
      signal: [(value) => value instanceof AbortSignal, 'an AbortSignal, which ends it gracefully', true],
      concurrency: wholeNumber(),
      pollMs: wholeNumber(3_600_000),
    });
    const { signal, pollMs = 1000 } = given;
    const concurrency = concurrencyOf('work()', given.concurrency, { store, handlers });
    if (working !== undefined)
      throw new ConfigurationError('work', 'This inbox works already. For more handlers, use concurrency.');
    const ending = AbortSignal.any([signal, closing.signal]);
    const parts = { ...context, handlers, ready, wakeup, pollMs, signal: ending };
    const dispatching = dispatch({ ...parts, concurrency });
    working = Promise.all([dispatching, hear(ending), follow(ending, pollMs * POLLS)]).finally(() => {
      working = undefined;
    });
    await working;
  }

  async function drain(given: DrainOptions): Promise<Drained> {
    checkOptions('drain()', given, {
      limit: wholeNumber(),
      deadlineMs: wholeNumber(),
      concurrency: wholeNumber(),
    });
    const { limit = Number.POSITIVE_INFINITY, deadlineMs = 30_000 } = given;
    const concurrency = concurrencyOf('drain()', given.concurrency, { store, handlers });
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(deadlineMs)]);
    return write(() => drainDue({ ...context, handlers, concurrency, signal }, limit));
  }

  /** Listens for callbacks that other processes keep, through every outage: until then, the poll finds what is due. */
  async function hear(signal: AbortSignal): Promise<void> {
    while (store.listen !== undefined && !signal.aborted) {
      await store.listen(account, wakeup.wake, signal).catch(() => undefined);
      await pause(RELISTEN_MS, signal);
    }
  }

  /** Notices what changes below a worker, the clock and the version of the tables; and merges what was counted. */
  async function follow(signal: AbortSignal, everyMs: number): Promise<void> {
    const look = async (): Promise<void> => {
      await ready();
      await checkTables();
      await mergeTally(context);
      const stepMs = await followClock(context);
      if (stepMs === 0) return;
      wakeup.wake();
      warn(
        settings.report,
        'clock_stepped_back',
        `The clock of the database has stepped back by ${Math.round(stepMs / 1000)} seconds. What waited was brought forward by as ` +
          'much, so that it does not wait longer. Check the clock of that machine: it should be slewed, not stepped.',
      );
    };
    for (let isReported = false; !signal.aborted; await pause(everyMs, signal)) {
      const failed = await look().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (failed !== undefined && !isReported && outdated === undefined && !signal.aborted) {
        const why = failed.error instanceof ConfigurationError ? `: ${failed.error.message}` : '.';
        const what = `work() cannot use the database (${failureCode(failed.error)}), so nothing is applied; it tries again`;
        warn(settings.report, 'worker_waits', what + why);
      }
      isReported = failed !== undefined;
    }
  }

  async function probe(): Promise<void> {
    await ready();
    await checkTables();
    await tryToKeep(keeping, account);
  }

  return Object.freeze<Inbox<Tx>>({
    async ready() {
      await ready();
      // Afterwards: beside a file that is no database, nothing is left behind.
      await spool?.check();
    },
    migrations: () => migrationsOf(store),
    async transaction(body) {
      if (typeof body !== 'function') throw new ConfigurationError('body', 'transaction() takes a function.');
      const checked = async (tx: Tx) => {
        const result = await body(tx);
        // Rejects after a statement that failed: PostgreSQL answers COMMIT with a silent rollback then.
        await statements.run('is_own_transaction', [''], tx);
        return result;
      };
      return write(() => store.transaction(checked));
    },
    async expect(given, { tx, replace = false } = {}) {
      const expectation = checkExpectation(given, account);
      const keepIn = (own: Tx): Promise<void> => keepExpectation(statements, { expectation, replace }, own);
      if (tx === undefined) return write(() => limited(keepIn));
      // To make the tables now would wait for the transaction that is open here.
      if (!isReady)
        throw (
          outdated ??
          new ConfigurationError('tx', 'Call ready() when the program starts, before expect({ tx }).')
        );
      await keepIn(tx);
    },
    receive: async (callback) => receive(callbackRecord(callback, account)),
    quarantine: async (refusal) => receive(evidenceRecord(refusal, account)),
    handle: (handler: unknown, selector?: object) => addHandler(handlers, handler, selector),
    work,
    drain: (given = {}) => drain(given),
    stats: () => read(() => readStats(context)),
    health: (given = {}) => readHealth(context, probe, given),
    list: (given = {}) => read(() => listTransitions(context, given)),
    show: (transitionId) => read(() => showTransition(context, transitionId)),
    retry: (which, note) => write(() => move(context, 'retry', which, note)),
    resolve: (which, resolution) => write(() => move(context, 'resolve', which, resolution)),
    async reopen(transitionId, note) {
      await write(() => move(context, 'reopen', transitionId, note));
    },
    overdue: (given = {}) => read(() => listOverdue(context, given)),
    prune: (given = {}) => ready().then(() => pruneBodies(context, given)),
    async close() {
      closing.abort();
      await Promise.allSettled([working, watch.close(), ...running]);
      await spool?.close();
      await store.close?.();
    },
  });
}
