import { ConfigurationError, UnavailableError } from '@payment-service/core';
import type { Inbox, WorkerOptions } from './inbox.ts';
import { Intake } from './intake/intake.ts';
import { keepGroup, tryToKeep } from './intake/keep.ts';
import { callbackRecord, evidenceRecord, type IntakeRecord } from './intake/record.ts';
import { Spool } from './intake/spool.ts';
import { Actions } from './operator/actions.ts';
import { listOverdue, readHealth, readStats } from './operator/health.ts';
import { pruneBodies } from './operator/prune.ts';
import { checkId, checkList, checkNumber, listTransitions, showTransition } from './operator/views.ts';
import { checkOptions, checkWholeNumber, type InboxOptions } from './options.ts';
import { databasePath } from './store/database-path.ts';
import { migrate, migrationsOf } from './store/schema.ts';
import { Statements } from './store/statements.ts';
import { within } from './time.ts';
import { Dispatcher } from './work/dispatcher.ts';
import { checkExpectation, keepExpectation } from './work/expectation.ts';
import { Handlers } from './work/handlers.ts';
import { Wakeup } from './work/wakeup.ts';

const LONGEST_POLL_MS = 3_600_000;
const CHANNEL = 'payment_inbox';

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
  const handlers = new Handlers<Tx>();
  const actions = new Actions(store, statements, settings);
  const running = new Set<Promise<unknown>>();
  let isReady = false;
  let preparing: Promise<void> | undefined;
  let working: Promise<void> | undefined;

  const limit = async (tx: Tx): Promise<void> => {
    if (store.dialect === 'postgres') await statements.run('limit_statements', [String(storeTimeoutMs)], tx);
  };
  const keeping = { store, statements, limit };
  // A connection that has fallen silent holds up its own group, and not those after it.
  const keep = (records: readonly IntakeRecord[]) => within(storeTimeoutMs, keepGroup(keeping, records));
  const spool = openSpool();
  const intake = new Intake({ settings, keep, ready, spool, onKept });

  function openSpool(): Spool | undefined {
    if (settings.spool === undefined) return undefined;
    const path = databasePath(settings.spool, 'spool');
    if (store.spool === `${path}-spool`) {
      throw new ConfigurationError(
        'spool',
        'spool is the file of the store itself. Give it a path of its own.',
      );
    }
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
    await tryToKeep(keeping, account);
    isReady = true;
  }

  function onKept(): void {
    wakeup.wake();
    if (working === undefined) notifyOthers();
  }

  let isNotifying = false;
  /** Not more often than needed, and outside of the transaction that keeps the callback: NOTIFY lets one commit at a time. */
  function notifyOthers(): void {
    if (store.listen === undefined || isNotifying) return;
    isNotifying = true;
    setTimeout(() => {
      isNotifying = false;
      // What nobody hears is found by the poll.
      statements.run('notify', [CHANNEL, account]).catch(() => undefined);
    }, 5).unref();
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

  async function enter(tx: Tx, subjectKey: string, attempt: string): Promise<boolean> {
    if (store.dialect !== 'postgres') return true;
    const limits = [settings.handlerLockTimeoutMs, settings.handlerTimeoutMs].map(String);
    const [row] = await statements.run('enter_attempt', [...limits, attempt, subjectKey], tx);
    return row?.['is_free'] === true;
  }

  async function work({ signal, concurrency, pollMs = 1000 }: WorkerOptions): Promise<void> {
    const { maxConcurrency = Number.POSITIVE_INFINITY } = store;
    const most = concurrency ?? Math.min(4, maxConcurrency);
    if (handlers.isEmpty) {
      throw new ConfigurationError('handler', 'work() needs a handler: call handle() before it.');
    }
    if (!(signal instanceof AbortSignal)) {
      throw new ConfigurationError('signal', 'work() needs an AbortSignal, which ends it gracefully.');
    }
    checkWholeNumber('concurrency', most, 2 ** 31 - 1);
    checkWholeNumber('pollMs', pollMs, LONGEST_POLL_MS);
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
    const context = { store, statements, settings, handlers, enter, ready, wakeup, pollMs, signal: ending };
    const dispatcher = new Dispatcher({ ...context, concurrency: Math.min(most, maxConcurrency) });
    working = Promise.all([dispatcher.run(), hear(ending)]).then(() => undefined);
    try {
      await working;
    } finally {
      working = undefined;
    }
  }

  /** Listens for callbacks that other processes keep, through every outage. */
  async function hear(signal: AbortSignal): Promise<void> {
    if (store.listen === undefined) return;
    const onWake = (other: string): void => {
      if (other === account) wakeup.wake();
    };
    const end = await store.listen(CHANNEL, onWake);
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
  }

  return Object.freeze<Inbox<Tx>>({
    async ready() {
      await spool?.check();
      await ready();
    },
    migrations: () => migrationsOf(store),
    async transaction(body) {
      if (typeof body !== 'function') throw new ConfigurationError('body', 'transaction() takes a function.');
      await ready();
      return track(store.transaction(body));
    },
    async expect(given, { tx, replace = false } = {}) {
      const expectation = checkExpectation(given, account);
      if (tx !== undefined && !isReady) throw notReady();
      if (tx !== undefined) return keepExpectation(statements, { expectation, replace }, tx);
      await ready();
      await track(store.transaction((own) => keepExpectation(statements, { expectation, replace }, own)));
    },
    receive: async (callback) => receive(callbackRecord(callback, account)),
    quarantine: async (refusal) => receive(evidenceRecord(refusal, account)),
    handle: (handler: unknown, selector?: object) => handlers.add(handler, selector),
    work,
    async stats() {
      await ready();
      return readStats({ statements, settings, spool });
    },
    async health({ maxPendingAgeSeconds = 60 } = {}) {
      checkNumber('maxPendingAgeSeconds', maxPendingAgeSeconds, { min: 1, max: 10 ** 9 });
      const attempt = (): Promise<void> => ready().then(() => tryToKeep(keeping, account));
      return readHealth({ statements, settings, spool, tryToKeep: attempt }, maxPendingAgeSeconds);
    },
    async list(given = {}) {
      const checked = checkList(given);
      await ready();
      return listTransitions({ store, statements }, account, checked);
    },
    async show(transitionId) {
      checkId(transitionId);
      await ready();
      const found = await showTransition(statements, { transitionId, account });
      if (found === undefined) return undefined;
      const { id: _, row: __, ...details } = found;
      return details;
    },
    async retry(which, note) {
      await ready();
      return track(actions.retry(which, note));
    },
    async resolve(which, resolution) {
      await ready();
      return track(actions.resolve(which, resolution));
    },
    async reopen(transitionId, note) {
      await ready();
      await track(actions.reopen(transitionId, note));
    },
    async overdue({ limit: most = 1000 } = {}) {
      checkNumber('limit', most, { min: 1, max: 100_000 });
      await ready();
      return listOverdue(statements, account, most);
    },
    async prune({ bodiesOlderThanDays = 90 } = {}) {
      checkNumber('bodiesOlderThanDays', bodiesOlderThanDays, { min: 1, max: 100_000 });
      await ready();
      return { bodies: await pruneBodies({ store, statements }, account, bodiesOlderThanDays) };
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
