import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { Desk } from './desk.ts';
import { checkExpectation, refuseOtherValues } from './expectation.ts';
import type { CompletedTransition, HandledTransition } from './handler.ts';
import { HandlerGate } from './handler-gate.ts';
import type { Inbox } from './inbox.ts';
import { inspection, transitionKey } from './inspection.ts';
import { Intake } from './intake.ts';
import { callbackRecord, evidenceRecord, type IntakeRecord } from './intake-record.ts';
import { Readiness } from './readiness.ts';
import { checkOptions, checkWholeNumber, type InboxOptions, type Settings } from './settings.ts';
import { Spool } from './spool.ts';
import { databasePath } from './sqlite/database-path.ts';
import { refuseInTransaction } from './transaction-scope.ts';
import { Wakeup } from './wakeup.ts';
import { work } from './work.ts';

const LONGEST_POLL_MS = 3_600_000;

interface Registered<Tx> {
  /** As a method: without `statuses` it is only called with `settled`, which the evaluation sees to. */
  run(transition: HandledTransition<Tx>): unknown;
  readonly statuses: readonly string[] | undefined;
}

/**
 * Makes a durable inbox: what it has acknowledged is on disk, and each transition is applied once.
 *
 * @throws {ConfigurationError} that names the option. Whether the database keeps what it acknowledges shows in
 * `ready()`, which every other call waits for.
 *
 * @example
 * const inbox = createInbox({ store: sqlite('shop.db') });
 * inbox.handle(async ({ tx, signed, settled }) => {
 *   await tx.query('update orders set paid = ? where reference = ?', [settled.amount, signed.merchant_reference]);
 * });
 */
export function createInbox<Tx>(options: InboxOptions<Tx>): Inbox<Tx> {
  const settings = checkOptions(options);
  const { account, emit, now } = settings;
  const engine = options.store.open({
    storeTimeoutMs: settings.storeTimeoutMs,
    handlerTimeoutMs: settings.handlerTimeoutMs,
    spool: settings.spool === undefined ? undefined : databasePath(settings.spool, 'spool'),
    now,
    onConnectionLost: (failure) => emit({ name: 'connection.lost', failure }),
  });
  const wakeup = new Wakeup();
  const closing = new AbortController();
  const spool = openSpool(settings, engine, (record) => intake.store(record));
  const readiness = new Readiness(() => engine.prepare());
  const ready = async (): Promise<void> => {
    if (closing.signal.aborted)
      throw new ConfigurationError('inbox', 'This inbox is closed. Create another one.');
    // Beside it: a spool that cannot be used keeps nobody from a store that can.
    spool?.start();
    await readiness.ready();
  };
  const intake = new Intake({ engine, settings, ready, spool, onKept: () => wakeup.wake() });
  const desk = new Desk(engine, settings);
  const transactions = new Set<Promise<unknown>>();
  let registered: Registered<Tx> | undefined;
  let working: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  const keep = async (record: IntakeRecord): Promise<void> => {
    if (closing.signal.aborted) {
      throw new UnavailableError(
        'The inbox is closed: this process is ending. Its sender is asked to come back.',
      );
    }
    engine.checkCaller();
    await intake.receive(record);
  };

  const onDesk = async (transitionId: string, act: (id: Uint8Array) => Promise<void>): Promise<void> => {
    const id = transitionKey(transitionId);
    refuseInTransaction();
    await ready();
    await act(id);
    wakeup.wake();
  };

  const end = async (): Promise<void> => {
    await Promise.allSettled([working, ...transactions]);
    await spool?.close();
    await engine.close();
  };

  function register(
    run: (transition: CompletedTransition<Tx>) => unknown,
    { statuses }: { readonly statuses?: readonly string[] } = {},
  ): void {
    if (registered !== undefined) {
      throw new ConfigurationError('handler', 'There is a handler already; one handler gets all statuses.');
    }
    checkHandler(run, statuses);
    registered = { run, statuses };
  }

  return Object.freeze<Inbox<Tx>>({
    async ready() {
      await spool?.check();
      await ready();
    },

    async expect(expectation, { tx } = {}) {
      const checked = checkExpectation(expectation, account);
      if (tx === undefined) {
        refuseInTransaction();
        await ready();
      } else if (!readiness.isReady) throw notReady();
      refuseOtherValues(await engine.expect(checked, { account, now: now() }, tx));
      wakeup.wake();
    },

    async transaction(body) {
      if (typeof body !== 'function') throw new ConfigurationError('body', 'transaction() takes a function.');
      refuseInTransaction();
      await ready();
      const transaction = engine.merchantTransaction(body, settings.handlerTimeoutMs);
      transactions.add(transaction);
      try {
        return await transaction;
      } finally {
        transactions.delete(transaction);
        wakeup.wake();
      }
    },

    receive: async (callback) => keep(callbackRecord(callback, account, now())),
    quarantine: async (refusal) => keep(evidenceRecord(refusal, account, now())),

    handle: register,

    async work({ signal, concurrency = 4, pollMs = 250 }) {
      if (registered === undefined) {
        throw new ConfigurationError('handler', 'work() needs a handler: call handle() before it.');
      }
      if (working !== undefined) {
        throw new ConfigurationError(
          'work',
          'This inbox works already; concurrency says how much at a time.',
        );
      }
      checkWorker({ signal, concurrency, pollMs });
      const rules = { statuses: registered.statuses, allowTransitions: settings.allowTransitions };
      working = work({
        engine,
        ready,
        wakeup,
        concurrency,
        pollMs,
        signal: AbortSignal.any([signal, closing.signal]),
        gate: new HandlerGate(),
        context: { settings, tables: engine.tables, rules, handler: registered },
      });
      try {
        await working;
      } finally {
        working = undefined;
      }
    },

    ...inspection({ engine, settings, ready, spool }),
    retry: (transitionId) => onDesk(transitionId, (id) => desk.retry(id)),
    resolve: (transitionId, resolution) => onDesk(transitionId, (id) => desk.resolve(id, resolution)),
    reopen: (transitionId) => onDesk(transitionId, (id) => desk.reopen(id)),

    async close() {
      refuseInTransaction(
        'close() waits for every handler and transaction(), so it would wait for the one that calls it. Call it outside ' +
          'of them; inside of one, abort the signal of work().',
      );
      closing.abort();
      closed ??= end();
      await closed;
    },
  });
}

function notReady(): ConfigurationError {
  return new ConfigurationError(
    'tx',
    "Call ready() when the program starts, before expect() is called with { tx }: it makes the inbox's tables, which " +
      'would wait for the transaction that is open here.',
  );
}

function openSpool(
  settings: Settings,
  engine: { readonly identity: readonly string[] },
  store: ConstructorParameters<typeof Spool>[0]['store'],
): Spool | undefined {
  if (settings.spool === undefined) return undefined;
  const path = databasePath(settings.spool, 'spool');
  const owner = JSON.stringify([settings.account, ...engine.identity]);
  return new Spool({ path, owner, settings, store, emit: settings.emit });
}

function checkHandler(run: unknown, statuses: readonly unknown[] | undefined): void {
  if (typeof run !== 'function') throw new ConfigurationError('handler', 'handle() takes a function.');
  if (statuses === undefined) return;
  if (statuses.length === 0 || !statuses.every((status) => typeof status === 'string' && status !== '')) {
    throw new ConfigurationError('statuses', "statuses must be texts, such as ['COMPLETED', 'FAILED'].");
  }
}

function checkWorker({
  signal,
  concurrency,
  pollMs,
}: {
  signal: unknown;
  concurrency: unknown;
  pollMs: unknown;
}): void {
  if (!(signal instanceof AbortSignal)) {
    throw new ConfigurationError('signal', 'work() needs an AbortSignal, which ends it gracefully.');
  }
  checkWholeNumber('concurrency', concurrency, 2 ** 31 - 1);
  checkWholeNumber('pollMs', pollMs, LONGEST_POLL_MS);
}
