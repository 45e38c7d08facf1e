import type { SignedFields } from '@payment-service/core';
import type { WalletBalance } from '@payment-service/core/reconcile';
import type { ActionNote } from './action-note.ts';
import type { InboxRoute } from './intake/route.ts';
import type { ActedOnAll, ActSelection } from './operator/acts/act.ts';
import type { ActGiven } from './operator/acts/effects.ts';
import type { Forgotten } from './operator/acts/forget.ts';
import type { Act } from './operator/acts/offers.ts';
import type { HealthOptions, InboxHealth } from './operator/health.ts';
import type { InboxHistory } from './operator/history.ts';
import type { PaymentCounts, PaymentFilter, Payments } from './operator/payments/list-payments.ts';
import type { Payment } from './operator/payments/read-payment.ts';
import type { Pruned, PruneOptions } from './operator/prune.ts';
import type { TransitionDetails, TransitionSummary } from './operator/reports.ts';
import type { ListOptions } from './operator/search.ts';
import type { BalanceOptions, BalanceReport, Period, SettledTotal } from './reconciliation/balance-report.ts';
import type { StatementFormat } from './reconciliation/reading/statement-format.ts';
import type {
  StatementLine,
  StatementOptions,
  StatementReport,
  StatementRow,
} from './reconciliation/statement-report.ts';
import type { Migration } from './store/schema.ts';
import type { Expectation, Replacement } from './verdict/expectation.ts';
import type { Handled, HandlerName, HandlerOptions } from './work/attempt/handlers.ts';
import type { Drained, DrainOptions } from './work/drain.ts';
import type { WorkerOptions } from './work/worker.ts';

/**
 * A durable inbox of one merchant account. Every function sets up the store if that has not happened yet. Every function also
 * works detached from the object. After `close()`, every call rejects with a `ClosedError`.
 *
 * `payment()` and the other reads do not check who calls them. Neither do `act()`, `actAll()` and `forget()`. The application must.
 */
export interface Inbox<Tx> {
  /**
   * Sets up the store now: brings its tables up to date, and refuses a database that would not keep what it acknowledges. Call
   * it when the program starts, so that a misconfiguration is reported there.
   *
   * @throws {ConfigurationError} For such a database, and if `spool` is the path of a file.
   * @throws The error of the database or the file system if no callback can be kept.
   */
  readonly ready: () => Promise<void>;
  /**
   * The SQL of the inbox's tables, for a DBA who runs it. `ready()` accepts existing tables. Opens no database.
   *
   * @example
   * for (const { sql } of inbox.migrations()) console.log(sql);
   */
  readonly migrations: () => readonly Migration[];
  /**
   * Runs `body` in its own transaction on the store, for what must be kept together: an order and its expectation. The body
   * gets the same kind of `tx` as a handler. Resolves with the result of the body. Rejects if the body or the commit fails.
   *
   * @example
   * await inbox.transaction(async (tx) => {
   *   await tx.query('insert into orders (reference, amount) values ($1, $2)', ['ORD-1001', '500']); // `?` on SQLite
   *   await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500' }, { tx });
   * });
   */
  readonly transaction: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;
  /**
   * States what a payment must be, before the transaction is started. The same call may be repeated.
   *
   * @param options.tx The transaction to write it in: that of your library. Call `ready()` first.
   * @param options.replace Who replaces another currency, amount or comparison of this reference, and why; kept with the payment.
   * A report whose body equals the earlier one becomes `conflict: contradicting_bodies` (threat A31). With a currency and an
   * amount, it replaces only those: for a person who has seen them.
   * @throws {ConfigurationError} Names a wrong field.
   * @throws {InvalidStateError} If the reference has other values, unless `replace` is set and it is not settled.
   * @throws {StaleError} If `replace` names money that is no longer what is expected.
   *
   * @example
   * await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500' });
   */
  readonly expect: (
    expectation: Expectation,
    options?: { readonly tx?: Tx | undefined; readonly replace?: Replacement | undefined },
  ) => Promise<void>;
  /**
   * What every adapter needs to keep callbacks here: `paymentCallbacks({ signingKey, ...inbox.route })`. `onCallback` keeps a
   * verified callback and resolves after the commit; `onAuthenticRefusal` keeps a callback with a valid signature that a rule
   * refuses, as evidence for an operator. Both reject with an `UnavailableError` if it could not be kept: the adapter answers
   * `failureStatus` (429), so the sender keeps it.
   *
   * @example
   * app.use('/callbacks', paymentCallbacks({ signingKey, ...inbox.route }));
   */
  readonly route: InboxRoute;
  /**
   * Sets a handler. `work()` calls `paid` for completed payments, each of which has `payment.settled`; `failed` and `reversed` for
   * the statuses that `statuses` gives this meaning; and `status` for every other one. Effects in `tx` happen exactly once, even if
   * processes or the database crash. Effects elsewhere may be repeated: use `id` as their idempotency key. If a handler throws, its
   * transaction is rolled back and it runs again. Await every statement, and leave COMMIT and ROLLBACK to the inbox.
   *
   * @param options.type Only for this signed transaction_type. @default every type without its own handler
   * @throws {ConfigurationError} If there already is one with this name and type.
   *
   * @example
   * inbox.handle('paid', async ({ tx, payment }) => {
   *   const { merchant_reference, settled } = payment;
   *   await tx.query('update orders set paid = $1 where reference = $2', [settled.amount, merchant_reference]);
   * });
   */
  readonly handle: <N extends HandlerName>(
    name: N,
    handler: (handled: Handled<Tx, N>) => unknown,
    options?: HandlerOptions,
  ) => void;
  /**
   * Works on transitions until `close()` or until the signal is aborted, through every outage of the store. Any number of
   * processes may work, and inboxes of several accounts may share a store and its connections.
   *
   * @returns after `close()` or the signal, when its handlers have ended.
   * @throws {ConfigurationError} Without a handler, if it is already working, or if the pool has too few connections.
   *
   * @example
   * const ending = new AbortController();
   * process.once('SIGTERM', () => ending.abort());
   * await inbox.work({ signal: ending.signal });
   * await inbox.close();
   */
  readonly work: (options?: WorkerOptions) => Promise<void>;
  /**
   * Works once on everything that is due now: for functions, cron and tests, where no process stays up. Its attempts are the
   * same as those of `work()`, and both may run at the same time; a later pass retries what fails.
   *
   * @throws {ConfigurationError} Without a handler, or if the pool has too few connections.
   * @throws The error of the database if it is unavailable.
   *
   * @example
   * const { left } = await inbox.drain({ limit: 500, deadlineMs: 20_000 });
   * if (left > 0) console.info(`${left} transitions are left for the next run.`);
   */
  readonly drain: (options?: DrainOptions) => Promise<Drained>;
  /**
   * What happened in the last days, for charts: what was settled on each day, which payments wait, and the states of those that
   * changed last. Workers sum each hour once, so this call reads little, however much was settled.
   *
   * @param options.days 1 to 31, today included. @default 30
   *
   * @example
   * const { settled } = await inbox.history({ days: 7 });
   * for (const { day, currency, amount } of settled) console.info(day.toISOString().slice(0, 10), currency, amount);
   */
  readonly history: (options?: { readonly days?: number | undefined }) => Promise<InboxHistory>;
  /**
   * For a health check. Keeps a callback in a transaction that is rolled back, and commits a few bytes, so it fails wherever a
   * callback could not be kept, including on a full disk (threat A52). Never throws when the database is unavailable. The
   * spool and the store have `storeTimeoutMs` each to answer.
   *
   * @throws The reason of `options.signal`.
   *
   * @example
   * const { ok, problems } = await inbox.health({ signal: AbortSignal.timeout(2000) });
   * response.writeHead(ok ? 200 : 503).end(problems.join());
   */
  readonly health: (options?: HealthOptions) => Promise<InboxHealth>;
  /**
   * Transitions, newest first: by the last change if a state, a reason or a time is given, and by the first delivery otherwise.
   * `pending` ones are listed in the order in which workers take them, and only the first 10,000 due ones are searched.
   *
   * @returns a page: at most `limit`, 50 by default. For the next page, pass the last transitionId of this one as `after`, and
   * leave the other options unchanged.
   * @throws {ConfigurationError} Names a wrong option.
   *
   * @example
   * const transitions = await inbox.reports({ merchant_reference: 'ORD-1001' });
   */
  readonly reports: (options?: ListOptions) => Promise<TransitionSummary[]>;
  /**
   * One transition with its bodies, which contain personal data; undefined if it does not exist.
   *
   * @throws {ConfigurationError} For an id that is not 64 hexadecimal digits.
   *
   * @example
   * const details = await inbox.report(transitionId);
   * console.info(details?.failures.at(-1)?.error);
   */
  readonly report: (transitionId: string) => Promise<TransitionDetails | undefined>;
  /**
   * A payment, its state, and the reports about it; undefined if nothing is known about it.
   *
   * @param reference Its merchant_reference, or the internal_reference of one of its transactions.
   * @param type Its transaction_type. @default 'COLLECTION'
   *
   * @example
   * const payment = await inbox.payment('ORD-1001');
   * if (payment?.state === 'paid') console.info(payment.settled?.amount);
   */
  readonly payment: (
    reference: string | Pick<SignedFields, 'internal_reference'>,
    type?: string,
  ) => Promise<Payment | undefined>;
  /**
   * Payments, newest change first; with `state: 'overdue'`, the longest overdue first. Awaited, it is the first page: at most
   * `limit`, 50 by default, and `next` for the page after it. Iterated, it is all of them, read page by page.
   *
   * @throws {ConfigurationError} Names a wrong option.
   *
   * @example
   * for await (const { merchant_reference, needs } of inbox.payments({ needed: true })) console.info(merchant_reference, needs);
   */
  readonly payments: (filter?: PaymentFilter) => Payments;
  /**
   * Counts payments by state, at most 10,000 of each. Alert on `needed`: what a person must look at.
   *
   * @example
   * const { needed, overdue } = await inbox.counts();
   * if (needed > 0 || overdue > 0) alertSupport(`${needed} payments need a person, ${overdue} are overdue.`);
   */
  readonly counts: () => Promise<PaymentCounts>;
  /**
   * Resolves once a payment is neither open nor overdue: for a waiting page, and for tests.
   *
   * @throws The reason of the signal.
   *
   * @example
   * const { state } = await inbox.outcome('ORD-1001', { signal: AbortSignal.timeout(30_000) });
   */
  readonly outcome: (
    reference: string,
    options: { readonly signal: AbortSignal; readonly type?: string | undefined },
  ) => Promise<Payment>;
  /**
   * Performs one of the `acts` of a payment, if the payment has not changed since it was read (threat A70). It does not check who
   * calls it: the application must.
   *
   * @returns the payment after it.
   * @throws {StaleError} If the payment has changed.
   * @throws {NotFoundError} If nothing is known about it, such as after it was deleted.
   * @throws {InvalidStateError} If the payment does not offer this act.
   * @throws {InvalidInputError} Names what is wrong in `given`, such as an empty `note`.
   *
   * @example
   * const payment = await inbox.payment('ORD-1001');
   * const accept = payment?.acts.find(({ name, money }) => name === 'accept' && money?.amount === '300');
   * if (accept) await inbox.act(accept, { by: 'dana', note: 'the service says that 300 was paid' });
   */
  readonly act: (act: Act, given: ActGiven) => Promise<Payment>;
  /**
   * For the end of an outage: retries or closes, one after another, the reports that keep payments waiting for one reason. What has
   * changed after `until`, the moment at which you looked, is skipped.
   *
   * @throws {ConfigurationError} Names what is wrong in `which`.
   * @throws {InvalidInputError} Names what is wrong in `given`, such as an empty `note`.
   *
   * @example
   * const until = new Date();
   * const { done } = await inbox.actAll('retry', { reason: 'attempts_used_up', until }, { by: 'dana', note: 'the ledger is back' });
   */
  readonly actAll: (name: 'retry' | 'close', which: ActSelection, given: ActionNote) => Promise<ActedOnAll>;
  /**
   * Removes personal data from everything that is kept under a merchant_reference: the content of bodies and its hashes, the
   * errors of attempts, and the notes of earlier actions. What prevents a second payment stays, as do the signed fields and the
   * claimed amounts. Later bodies of these transitions are kept without their content. Recorded as an action, so write no name
   * into the note. A second call changes nothing.
   *
   * @returns how much was removed.
   * @throws {InvalidInputError} Without `by` or `note`.
   *
   * @example
   * await inbox.forget('ORD-1001', { by: 'dana', note: 'erasure request 2026-17' });
   */
  readonly forget: (merchantReference: string, note: ActionNote) => Promise<Forgotten>;
  /**
   * Removes the content of old bodies, which contains personal data, and old errors of attempts: by default, after 90 days from
   * settled, superseded, resolved and unhandled reports, and after 365 days from those that wait for an operator. With
   * `archiveOlderThanDays`, also moves settled and superseded reports into the archive. A repetition is recognized permanently
   * and never applied again; `payment()` and `report()` still return its outcome.
   *
   * @returns how much was removed.
   * @throws {ConfigurationError} Names a wrong option.
   *
   * @example
   * await inbox.prune({ bodiesOlderThanDays: 90, archiveOlderThanDays: 400 });
   */
  readonly prune: (options?: PruneOptions) => Promise<Pruned>;
  /**
   * Keeps a balance inquiry for `reconcile()`. Ask for all balances, without the filter `currency`, and record them as soon as
   * you have them: regularly, such as once a day.
   *
   * @throws {ConfigurationError} For wallets that were not returned by `getWalletBalances()`.
   *
   * @example
   * await inbox.recordBalances(await client.getWalletBalances());
   */
  readonly recordBalances: (wallets: readonly WalletBalance[]) => Promise<void>;
  /**
   * What was settled in a period, by currency and transaction type: the exact sum of your own expectations.
   *
   * @throws {ConfigurationError} Without `from` or `to`.
   *
   * @example
   * const [may] = await inbox.totals({ from: new Date('2026-05-01'), to: new Date('2026-06-01') });
   * console.info(may?.currency, may?.amount, may?.count);
   */
  readonly totals: (period: Period) => Promise<SettledTotal[]>;
  /**
   * Compares the snapshots nearest to `from` and `to` with what was settled between them. An unexplained difference is also
   * reported as the event `balance.unexplained`.
   *
   * @throws {ConfigurationError} Names a wrong option.
   * @throws {NotFoundError} If no two snapshots are near `from` and `to`.
   *
   * @example
   * const { isExplained, wallets } = await inbox.reconcile({
   *   from: new Date('2026-01-01'), to: new Date('2026-02-01'),
   *   creditedWithin: { secondsBefore: 600, secondsAfter: 600 },
   *   charges: { UGX: { least: '0', most: '0.03' } },
   * });
   */
  readonly reconcile: (options: BalanceOptions) => Promise<BalanceReport>;
  /**
   * Compares a statement of the service with what is known here, with a verdict for every line and for every settlement of the
   * period without a line. It changes nothing unless `dryRun` is false. Then an expected payment whose callback never arrived is
   * settled by its line, under the same rules and as the same transition: a later callback is a repetition. What the same file
   * takes back, or reports for two payments, settles nothing.
   *
   * Statements are not signed: trust one only as far as you trust its source.
   *
   * @throws {ConfigurationError} Names a wrong option. A wrong line is a verdict.
   *
   * @example
   * const period = { from: new Date('2026-01-01'), to: new Date('2026-02-01') };
   * const { counts, samples } = await inbox.reconcileStatement(rows, { ...period, by: 'dana', note: 'January' });
   */
  readonly reconcileStatement: (
    rows: readonly StatementRow[] | AsyncIterable<StatementRow | StatementLine>,
    options: StatementOptions,
  ) => Promise<StatementReport>;
  /**
   * How the files of each bank or wallet are read, by the name under which `keepStatementFormat()` keeps it.
   *
   * @example
   * const { 'First Bank': format } = await inbox.statementFormats();
   */
  readonly statementFormats: () => Promise<Readonly<Record<string, StatementFormat>>>;
  /**
   * Keeps how the files of a bank or a wallet are read, for next month; `undefined` forgets it.
   *
   * @throws {ConfigurationError} For a format that `readStatement()` would refuse.
   *
   * @example
   * await inbox.keepStatementFormat('First Bank', { map: { merchant_reference: 'Reference', amount: 'Amount' } });
   */
  readonly keepStatementFormat: (name: string, format: StatementFormat | undefined) => Promise<void>;
  /**
   * Ends `work()`, lets running handlers and transactions end, and closes what the inbox opened, such as the file of `sqlite()`;
   * a pool stays open. A second call waits for the same. Do not await it in a handler: it would wait for that handler.
   *
   * @example
   * process.once('SIGTERM', () => void inbox.close().then(() => pool.end()));
   */
  readonly close: () => Promise<void>;
  /**
   * As `close()`, for `await using`.
   *
   * @example
   * await using inbox = createInbox({ store: sqlite('shop.db') });
   */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * An inbox of any store, for a module that is not about transactions: a page of payments, a health check, a job that prunes.
 * Every inbox is assignable to it. `Inbox<Tx>` has `handle()`, `transaction()` and `expect({ tx })` as well.
 *
 * @example
 * export function paymentsPage(inbox: AnyInbox): Promise<PaymentPage> {
 *   return inbox.payments({ needed: true });
 * }
 */
export interface AnyInbox extends Omit<Inbox<never>, 'handle' | 'transaction'> {}
