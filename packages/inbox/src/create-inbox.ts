import { ConfigurationError } from '@payment-service/core';
import { checkArgument, checkOptions, FUNCTION, RECORD } from '@payment-service/core/internal';
import type { Inbox } from './inbox.ts';
import { Intake } from './intake/intake.ts';
import { tryToKeep } from './intake/keep-deliveries.ts';
import { routeOf } from './intake/route.ts';
import { Spool } from './intake/spool.ts';
import { spoolFiles, spoolOwner } from './intake/spool-file.ts';
import { actOnAll, actOnPayment } from './operator/acts/act.ts';
import { forget } from './operator/acts/forget.ts';
import { readHealth } from './operator/health.ts';
import { readHistory } from './operator/history.ts';
import { keepSums } from './operator/hours.ts';
import { countPayments, listPayments, outcomeOf } from './operator/payments/list-payments.ts';
import { findPayment, readPayment } from './operator/payments/read-payment.ts';
import { prune } from './operator/prune.ts';
import { listTransitions, showTransition } from './operator/reports.ts';
import { readVersion, withVersion } from './operator/version.ts';
import { type InboxOptions, settingsOf } from './options.ts';
import { keepBalances, readReport, readTotals } from './reconciliation/balance-report.ts';
import { keepFormat, readFormats } from './reconciliation/reading/kept-formats.ts';
import { reconcileStatement } from './reconciliation/reconcile-statement.ts';
import { warn } from './reporting/problems.ts';
import { mustBeOpen } from './store/open-transaction.ts';
import { closeToOthers, openFilesMessage } from './store/own-files.ts';
import { Readiness } from './store/readiness.ts';
import { migrationsOf } from './store/schema.ts';
import { spoolPath } from './store/sqlite/database-path.ts';
import { Statements } from './store/statements.ts';
import { unlikelyName } from './unlikely-name.ts';
import {
  checkExpectation,
  checkReplacement,
  currencyWarning,
  keepExpectation,
} from './verdict/expectation.ts';
import { addHandler, type Handlers } from './work/attempt/handlers.ts';
import { Wakeup } from './work/wakeup.ts';
import { Worker } from './work/worker.ts';

const EXPECT_RULES = { tx: undefined, replace: RECORD };

/**
 * Makes a durable inbox: what it has acknowledged is on disk, and each transition is applied once.
 *
 * @throws {ConfigurationError} Names the option. A database that would lose data is refused by `ready()`.
 *
 * @example
 * const inbox = createInbox({ store: sqlite('shop.db') });
 * inbox.handle('paid', async ({ tx, payment }) => {
 *   const { merchant_reference, settled } = payment;
 *   await tx.query('update orders set paid = ? where reference = ?', [settled.amount, merchant_reference]);
 * });
 */
export function createInbox<Tx>(options: InboxOptions<Tx>): Inbox<Tx> {
  const settings = settingsOf(options);
  const { account, report, storeTimeoutMs } = settings;
  const { store } = options;
  const statements = new Statements(store);
  const closing = new AbortController();
  const closed = closing.signal;
  const keeping = { statements, limitMs: storeTimeoutMs };
  const spool = settings.spool === undefined ? undefined : openSpool(settings.spool);
  const readiness = new Readiness({
    ...{ store, statements, report, closed },
    onPrepare: prepareFiles,
    tryToKeep: () => tryToKeep(keeping, account),
  });
  const { ready } = readiness;
  const context = { store, statements, settings, spool };
  const handlers: Handlers<Tx> = new Map();
  const wakeup = new Wakeup({ store, statements, settings, readiness });
  const worker = new Worker({
    ...{ ...context, handlers, readiness, wakeup, closed },
    keepSums: () => keepSums(context),
  });
  const intake = new Intake({ settings, keeping, readiness, spool, workers: wakeup });
  const route = routeOf({ settings, closed, intake, trust: spool?.trust ?? (() => undefined) });
  const running = new Set<Promise<unknown>>();
  const warned = new Set<string>();
  /** How many transactions of `expect()` are still checked. */
  let unchecked = 20;
  let isClosedToOthers = false;

  function openSpool(path: string): Spool {
    const owner = spoolOwner(account, store);
    return new Spool({
      ...{ path: spoolPath(path), owner, settings },
      store: (record) => intake.store(record),
    });
  }

  /** Before the store opens its files. */
  function prepareFiles(): void {
    const ofSpool = settings.spool === undefined ? [] : spoolFiles(settings.spool);
    const open = isClosedToOthers ? [] : closeToOthers([...(store.files ?? []), ...ofSpool]);
    isClosedToOthers = true;
    if (open.length > 0) warn(report, 'files_readable', openFilesMessage(open));
    spool?.start();
  }

  /** Once for each name: a program that misspells one does so every time. */
  function warnOnce(
    kind: 'currency_case' | 'unlikely_name',
    name: string,
    warning: string | undefined,
  ): void {
    if (warning !== undefined && !warned.has(name)) warn(report, kind, warning);
    warned.add(name);
  }

  function warnOfName(...given: Parameters<typeof unlikelyName>): void {
    warnOnce('unlikely_name', given.join(), unlikelyName(...given));
  }

  async function read<T>(act: () => Promise<T>): Promise<T> {
    await readiness.readable();
    return act();
  }

  /** `close()` waits for it, and a worker then looks for what has become due. */
  async function write<T>(act: () => Promise<T>): Promise<T> {
    await ready();
    const writing = act().finally(() => {
      running.delete(writing);
      wakeup.wake();
    });
    running.add(writing);
    return writing;
  }

  async function close(): Promise<void> {
    closing.abort();
    await Promise.allSettled([worker.working, wakeup.close(), ...running]);
    await spool?.close();
    await store.close?.();
  }

  for (const status of Object.keys(settings.statuses)) warnOfName('createInbox()', 'status', status);
  for (const event of settings.completedEvents) warnOfName('createInbox()', 'event', event);

  const inbox: Inbox<Tx> = {
    async ready() {
      await ready();
      // Last, so that nothing is left beside a file that is not a database.
      await spool?.file.check();
    },
    migrations: () => migrationsOf(store),
    async transaction(body) {
      checkArgument('transaction()', 'body', body, FUNCTION);
      const checked = async (tx: Tx) => {
        const result = await body(tx);
        // Rejects after a failed statement: PostgreSQL then answers COMMIT with a silent rollback.
        await statements.run('is_own_transaction', [''], tx);
        return result;
      };
      return write(() => store.transaction(checked, { isMerchants: true }));
    },
    async expect(given, options = {}) {
      if (typeof Object(options).query === 'function')
        throw new ConfigurationError('tx', 'expect() takes the transaction as { tx }.');
      checkOptions('expect()', options, EXPECT_RULES);
      const { tx } = options;
      const expectation = checkExpectation(given, settings);
      const replace = checkReplacement(options.replace);
      const { currency } = expectation;
      warnOnce('currency_case', currency, currencyWarning(currency));
      warnOfName('expect()', 'type', given.transaction_type ?? 'COLLECTION');
      const keepIn = (own: Tx): Promise<void> => keepExpectation(statements, { expectation, replace }, own);
      if (tx === undefined) return write(() => statements.limited(storeTimeoutMs, keepIn));
      readiness.mustBeReady();
      // A program that passes something else does so every time.
      if (unchecked > 0) await mustBeOpen(statements, tx);
      unchecked -= 1;
      await keepIn(tx);
    },
    route,
    handle(name, handler, given) {
      addHandler(handlers, name, handler, given);
      if (given?.type !== undefined) warnOfName('handle()', 'type', given.type);
    },
    work: worker.work,
    drain: async (given = {}) => write(worker.drain(given)),
    history: (options = {}) => read(() => readHistory(context, options)),
    health: (given = {}) => readHealth(context, readiness.probe, given),
    reports: (given = {}) => read(() => listTransitions(context, given)),
    report: (transitionId) => read(() => showTransition(context, transitionId)),
    payment: (reference, type) => read(() => findPayment(context, reference, type)),
    payments: (filter = {}) => listPayments(read, context, filter),
    counts: () => read(() => countPayments(context)),
    act: (one, given) =>
      write(async () => {
        await actOnPayment(context, one, given);
        const after = await readPayment(context, one);
        if (after === undefined) throw new TypeError('A payment has vanished.');
        return after;
      }),
    actAll: (name, which, given) => write(() => actOnAll(context, name, which, given)),
    outcome: (reference, given) => read(() => outcomeOf(context, reference, given)),
    forget: (reference, note) => write(() => forget(context, reference, note)),
    prune: (given = {}) => ready().then(() => prune(context, given)),
    recordBalances: (wallets) => write(() => keepBalances(context, wallets)),
    totals: (period) => read(() => readTotals(context, period)),
    reconcile: (given) => read(() => readReport(context, given)),
    async reconcileStatement(rows, given) {
      checkArgument('reconcileStatement()', 'options', given, RECORD);
      return (given.dryRun === false ? write : read)(() => reconcileStatement(context, rows, given));
    },
    statementFormats: () => read(() => readFormats(context)),
    keepStatementFormat: (name, format) => write(() => keepFormat(context, name, format)),
    close,
    [Symbol.asyncDispose]: close,
  };
  return withVersion(inbox, () => read(() => readVersion(context)));
}
