import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { checkOptions as checkTable, type OptionRules } from '@payment-service/core/receive';
import type { Inbox, WorkerOptions } from './inbox.ts';
import { Intake } from './intake/intake.ts';
import { keepGroup, tryToKeep } from './intake/keep.ts';
import { callbackRecord, evidenceRecord, type IntakeRecord } from './intake/record.ts';
import { Spool } from './intake/spool.ts';
import { move, reopen, resolve } from './operator/actions.ts';
import { listOverdue, readHealth, readStats } from './operator/health.ts';
import { pruneBodies } from './operator/prune.ts';
import { checkId, checkList, listTransitions, showTransition } from './operator/views.ts';
import { checkOptions, type InboxOptions, wholeNumber } from './options.ts';
import { databasePath } from './store/database-path.ts';
import { migrate, migrationsOf } from './store/schema.ts';
import { Statements } from './store/statements.ts';
import { pause, within } from './time.ts';
import { dispatch } from './work/dispatcher.ts';
import { checkExpectation, keepExpectation } from './work/expectation.ts';
import { addHandler, type Handlers } from './work/handlers.ts';
import { Wakeup } from './work/wakeup.ts';

const WORKER_RULES: OptionRules<WorkerOptions> = {
  signal: [(value) => value instanceof AbortSignal, 'an AbortSignal, which ends it gracefully', true],
  concurrency: wholeNumber(),
  pollMs: wholeNumber(3_600_000),
};
const RELISTEN_MS = 1000;

/** NOTIFY is a transaction, and lets one commit at a time. */
const NOTIFY_MS = 25;

/**
 * Makes a durable inbox: what it has acknowledged is on disk, and each transition is applied once.
 *
 * @throws {ConfigurationError} Names the option. Whether the database keeps what it acknowledges shows in `ready()`, which
 * every other call waits for.
 *
 * @example
 * const inbox = createInbox({ store: sqlite('shop.db') });
 * inbox.handle(async ({ tx, signed, settled }) => {
 *   await tx.query('update orders set paid = ? where reference = ?', [settled.amount, signed.merchant_reference]);
 * });
 */
export function createInbox<Tx>(options: InboxOptions<Tx>): Inbox<Tx> {
  const settings = checkOptions(options);
  const { account, storeTimeoutMs } = settings;
  const { store } = options;
  const statements = new Statements(store);
  const wakeup = new Wakeup();
  const closing = new AbortController();
  const handlers: Handlers<Tx> = new Map();
  const context = { store, statements, settings };
  const running = new Set<Promise<unknown>>();
  let isReady = false;
  let isReadable = false;
  let preparing: Promise<void> | undefined;
  let working: Promise<void> | undefined;

  const whenReady = async <T>(act: () => Promise<T>): Promise<T> => {
    await ready();
    return act();
  };
  /** For what only reads: a store that takes no callback will do, such as a standby. */
  const whenReadable = async <T>(act: () => Promise<T>): Promise<T> => {
    await ready().catch((error: unknown) => {
      if (!isReadable || closing.signal.aborted) throw error;
    });
    return act();
  };
  /** A transaction in which the server gives up before the sender of a callback is given up. */
  const limited = <T>(body: (tx: Tx) => Promise<T>): Promise<T> =>
    store.transaction(async (tx) => {
      if (store.dialect === 'postgres' && store.setsLimits !== true)
        await statements.run('limit_statements', [String(storeTimeoutMs)], tx);
      return body(tx);
    }, storeTimeoutMs);
  // A connection that has fallen silent holds up its own group, and not those after it.
  const keep = (records: readonly IntakeRecord[]) =>
    within(
      storeTimeoutMs,
      limited((tx) => keepGroup(statements, records, tx)),
    );
  const spool = openSpool();
  const intake = new Intake({ settings, keep, ready, spool, onKept });

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
    if (isReady) return;
    preparing ??= prepare().finally(() => {
      preparing = undefined;
    });
    await preparing;
  }

  async function prepare(): Promise<void> {
    // Beside it: a spool that cannot be used keeps nobody from a store that can.
    spool?.start();
    await store.check?.();
    await migrate(store, statements);
    isReadable = true;
    await tryToKeep(statements, limited, account);
    isReady = true;
  }

  function onKept(): void {
    wakeup.wake();
    if (working === undefined) notifyOthers();
  }

  let isNotifying = false;
  let notifiedAt = Number.NEGATIVE_INFINITY;
  /** At once, and then not more often than a busy worker needs; outside of the transaction that keeps the callback. */
  function notifyOthers(): void {
    if (store.listen === undefined || isNotifying) return;
    isNotifying = true;
    const waitMs = Math.max(0, notifiedAt + NOTIFY_MS - performance.now());
    setTimeout(() => {
      isNotifying = false;
      notifiedAt = performance.now();
      // What nobody hears is found by the poll.
      statements.run('notify', [account]).catch(() => undefined);
    }, waitMs).unref();
  }

  async function receive(record: IntakeRecord): Promise<void> {
    if (closing.signal.aborted) {
      throw new UnavailableError(
        'The inbox is closed: this process is ending, and the sender is asked to retry.',
      );
    }
    await intake.receive(record);
  }

  async function track<T>(promise: Promise<T>): Promise<T> {
    running.add(promise);
    try {
      return await promise;
    } finally {
      running.delete(promise);
      wakeup.wake();
    }
  }

  async function work(given: WorkerOptions): Promise<void> {
    checkTable('work()', given, WORKER_RULES);
    const { maxConcurrency = Number.POSITIVE_INFINITY } = store;
    const { signal, concurrency: most = Math.min(4, maxConcurrency), pollMs = 1000 } = given;
    if (handlers.size === 0) {
      throw new ConfigurationError('handler', 'work() needs a handler: call handle() before it.');
    }
    if (store.dialect === 'postgres' && most > maxConcurrency) {
      throw new ConfigurationError(
        'concurrency',
        `The pool has connections for ${maxConcurrency} handlers at a time, and for ${most} it needs a max of ${most + 2}: the ` +
          'inbox itself uses two. Raise its max, or lower concurrency.',
      );
    }
    if (working !== undefined) {
      throw new ConfigurationError(
        'work',
        'This inbox works already. Use concurrency to run more handlers at a time.',
      );
    }
    const ending = AbortSignal.any([signal, closing.signal]);
    const concurrency = Math.min(most, maxConcurrency);
    const parts = { ...context, handlers, ready, wakeup, concurrency, pollMs, signal: ending };
    working = Promise.all([dispatch(parts), hear(ending)]).then(() => undefined);
    try {
      await working;
    } finally {
      working = undefined;
    }
  }

  /** Listens for callbacks that other processes keep, through every outage: until then, the poll finds what is due. */
  async function hear(signal: AbortSignal): Promise<void> {
    while (store.listen !== undefined && !signal.aborted) {
      await ready()
        .then(() => store.listen?.(account, wakeup.wake, signal))
        .catch(() => undefined);
      await pause(RELISTEN_MS, signal);
    }
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
      return whenReady(() => track(store.transaction(checked)));
    },
    async expect(given, { tx, replace = false } = {}) {
      const expectation = checkExpectation(given, account);
      const keepIn = (own: Tx): Promise<void> => keepExpectation(statements, { expectation, replace }, own);
      if (tx === undefined) return whenReady(() => track(limited(keepIn)));
      if (!isReady) throw notReady();
      await keepIn(tx);
    },
    receive: async (callback) => receive(callbackRecord(callback, account)),
    quarantine: async (refusal) => receive(evidenceRecord(refusal, account)),
    handle: (handler: unknown, selector?: object) => addHandler(handlers, handler, selector),
    work,
    stats: () => whenReadable(() => readStats(context, spool)),
    async health(given = {}) {
      checkTable('health()', given, { maxPendingAgeSeconds: wholeNumber() });
      const { maxPendingAgeSeconds = 60 } = given;
      const attempt = (): Promise<void> => whenReady(() => tryToKeep(statements, limited, account));
      return readHealth(context, spool, { tryToKeep: attempt, maxPendingAgeSeconds });
    },
    async list(given = {}) {
      const checked = checkList(given);
      return whenReadable(() => listTransitions(context, checked));
    },
    async show(transitionId) {
      checkId(transitionId);
      const found = await whenReadable(() => showTransition(context, transitionId));
      if (found === undefined) return undefined;
      const { id: _, row: __, ...details } = found;
      return details;
    },
    retry: (which, note) => whenReady(() => track(move(context, which, { action: 'retry', note }))),
    resolve: (which, resolution) => whenReady(() => track(resolve(context, which, resolution))),
    reopen: (transitionId, note) => whenReady(() => track(reopen(context, transitionId, note))),
    async overdue(given = {}) {
      checkTable('overdue()', given, { limit: wholeNumber(100_000) });
      return whenReadable(() => listOverdue(context, given.limit ?? 1000));
    },
    async prune(given = {}) {
      checkTable('prune()', given, { bodiesOlderThanDays: wholeNumber(100_000) });
      const { bodiesOlderThanDays = 90 } = given;
      return whenReady(() => pruneBodies(context, bodiesOlderThanDays));
    },
    async close() {
      closing.abort();
      await Promise.allSettled([working, ...running]);
      await spool?.close();
      await store.close?.();
    },
  });
}

function notReady(): ConfigurationError {
  return new ConfigurationError(
    'tx',
    "Call ready() when the program starts, before expect() is called with { tx }: it makes the inbox's tables, which would " +
      'wait for the transaction that is open here.',
  );
}
