import type { AuthenticRefusal, VerifiedCallback } from '@payment-service/core';
import type { WalletBalance } from '@payment-service/core/reconcile';
import type { ActionNote, Resolution, TransitionSelection } from './operator/actions.ts';
import type { KnownPayment } from './operator/expectations.ts';
import type { Forgotten } from './operator/forget.ts';
import type { InboxHealth, InboxStats, OverdueExpectation } from './operator/health.ts';
import type { Pruned, PruneOptions } from './operator/prune.ts';
import type { ListOptions } from './operator/search.ts';
import type { TransitionDetails, TransitionSummary } from './operator/views.ts';
import type { BalanceOptions, BalanceReport, Period, SettledTotal } from './reconciliation/balances.ts';
import type { StatementOptions, StatementReport, StatementRow } from './reconciliation/statement.ts';
import type { Migration } from './store/schema.ts';
import type { CompletedTransition, HandledTransition, HandlerSelector } from './work/attempt/handlers.ts';
import type { Drained, DrainOptions } from './work/drain.ts';
import type { Expectation } from './work/verdict/expectation.ts';
import type { WorkerOptions } from './work/worker.ts';

/**
 * A durable inbox of one merchant account. Every function sets the store up when that has not happened yet, and works
 * detached from the object, so `inbox.receive` can be passed as it is.
 *
 * `list`, `show`, `retry`, `resolve`, `reopen` and `forget` do not check who calls them: the application must.
 */
export interface Inbox<Tx> {
  /**
   * Sets the store up now: brings its tables up to date, and refuses a database that would not keep what it acknowledges. For
   * the start of a program, so that a misconfiguration shows there.
   *
   * @throws {ConfigurationError} For such a database, and when `spool` is the path of a file.
   * @throws What the database or the file system says when no callback can be kept.
   */
  readonly ready: () => Promise<void>;
  /** The SQL of the inbox's tables, for a DBA who runs it. `ready()` takes tables that are there. */
  readonly migrations: () => readonly Migration[];
  /**
   * Runs `body` in a transaction of its own on the store, for what must be kept together: an order and its expectation. The
   * body gets the same kind of `tx` as a handler. Gives what the body returns, and rejects as it or the commit does.
   *
   * @example
   * await inbox.transaction(async (tx) => {
   *   await tx.query('insert into orders (reference, amount) values ($1, $2)', ['ORD-1001', '500']); // `?` on SQLite
   *   await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500' }, { tx });
   * });
   */
  readonly transaction: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;
  /**
   * Says what a payment must be, before the transaction is started. The same call may be repeated.
   *
   * @param options.tx The transaction to write it in, as your library knows it. Call `ready()` before.
   * @param options.replace Replaces another currency, amount or comparison of this reference. A transition with a body that
   * equals the earlier one becomes `conflict: contradicting_bodies` (threat A31). @default false
   * @throws {ConfigurationError} Names a wrong field.
   * @throws {InvalidStateError} When the reference has other values, and is settled or `replace` is not set.
   *
   * @example
   * await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500' });
   */
  readonly expect: (
    expectation: Expectation,
    options?: { readonly tx?: Tx | undefined; readonly replace?: boolean | undefined },
  ) => Promise<void>;
  /**
   * Keeps a verified callback; resolves after the commit. For `onCallback` of every adapter.
   *
   * @throws {UnavailableError} When it could not be kept: the adapter answers `failureStatus` (429), and the sender has it.
   * @throws {ConfigurationError} When the verifier has another `account`, or the body is larger than 64 KiB.
   *
   * @example
   * app.use('/callbacks', paymentCallbacks({ signingKey, onCallback: inbox.receive }));
   */
  readonly receive: (callback: VerifiedCallback) => Promise<void>;
  /**
   * Keeps a callback whose signature fits and that a rule refuses, as evidence for a person. For `onAuthenticRefusal`.
   * Rejects as `receive()` does.
   */
  readonly quarantine: (refusal: AuthenticRefusal) => Promise<void>;
  readonly handle: {
    /**
     * Sets what happens with completed transactions, each of which has `settled`; called by `work()`. Effects in `tx` happen
     * exactly once, even if processes or the database crash; effects elsewhere may be repeated, and take `transitionId` as
     * their key. A handler that throws is rolled back and tried again. Await every statement, and leave COMMIT and ROLLBACK
     * to the inbox.
     *
     * @throws {ConfigurationError} When there is a handler for this type and status already.
     *
     * @example
     * inbox.handle(async ({ tx, signed, settled }) => {
     *   await tx.query('update orders set paid = $1 where reference = $2', [settled.amount, signed.merchant_reference]);
     * });
     */
    (
      handler: (transition: CompletedTransition<Tx>) => unknown,
      selector?: { readonly type?: string | undefined; readonly status?: 'COMPLETED' | undefined },
    ): void;
    /**
     * The same for transitions of another status, or with `'*'` of every one. `settled` is there for completed transactions
     * only.
     *
     * @throws {ConfigurationError} When there is a handler for this type and status already.
     *
     * @example
     * inbox.handle(async ({ signed }) => console.info(signed.transaction_status), { status: '*' });
     */
    (handler: (transition: HandledTransition<Tx>) => unknown, selector: HandlerSelector): void;
  };
  /**
   * Works on transitions until the signal is aborted, through every outage of the store. Any number of processes may, and
   * inboxes of several accounts may share a store, and with it the connections.
   *
   * @throws {ConfigurationError} Without a handler, when it works already, or when the pool has too few connections.
   */
  readonly work: (options: WorkerOptions) => Promise<void>;
  /**
   * Works once on everything that is due now: for functions, cron and tests, where no process stays up. The same attempts as
   * those of `work()`, and safe beside it; what fails is retried by a later pass.
   *
   * @throws {ConfigurationError} Without a handler, or when the pool has too few connections.
   * @throws What the database says when it does not answer.
   *
   * @example
   * const { left } = await inbox.drain({ limit: 500, deadlineMs: 20_000 });
   * if (left > 0) console.info(`${left} transitions are left for the next run.`);
   */
  readonly drain: (options?: DrainOptions) => Promise<Drained>;
  /** Counts what is open, by its index and up to 10,000 of each; how many are settled follows from how many there are. */
  readonly stats: () => Promise<InboxStats>;
  /**
   * For a health check. Keeps a callback in a transaction that is rolled back, and commits a few bytes, so it fails wherever a
   * callback could not be kept, also on a full disk (threat A52); never throws when the database is unavailable.
   *
   * @param options.maxPendingAgeSeconds How long a transition that is due may wait for a worker. @default 60
   */
  readonly health: (options?: { readonly maxPendingAgeSeconds?: number | undefined }) => Promise<InboxHealth>;
  /**
   * Transitions, the newest first: by the last change with a state, a reason or a time, and by the first delivery otherwise. What
   * is `pending` comes in the order in which workers take it, and is looked for among the first 10,000 of what is due.
   *
   * @example
   * const transitions = await inbox.list({ merchant_reference: 'ORD-1001' });
   */
  readonly list: (options?: ListOptions) => Promise<TransitionSummary[]>;
  /** One transition with its bodies, which hold personal data; undefined when there is none. */
  readonly show: (transitionId: string) => Promise<TransitionDetails | undefined>;
  /**
   * Back to work with all attempts, under the same rules: one transition, or all of a state and reason.
   *
   * @returns how many.
   * @throws {InvalidStateError} When the one that is named is settled, superseded or resolved.
   * @throws {ConfigurationError} When no transition of the account has this id, and without `by` or `note`.
   *
   * @example
   * await inbox.retry({ state: 'dead', reason: 'attempts_used_up' }, { by: 'dana', note: 'the ledger is back' });
   */
  readonly retry: (which: string | TransitionSelection, note: ActionNote) => Promise<number>;
  /**
   * Closes a transition, or all of a state and reason; or, with `body`, accepts that body and has it applied.
   *
   * @returns how many.
   * @throws {InvalidStateError} As `retry()` does, and with `body` when an expectation is known.
   * @throws {ConfigurationError} As `retry()` does, and for a `body` that is not verified or does not claim one amount.
   */
  readonly resolve: (which: string | TransitionSelection, resolution: Resolution) => Promise<number>;
  /**
   * Has a closed transition applied once more, or one that the order of statuses or a contradicting body keeps back: for a
   * person who has asked the service.
   *
   * @throws {InvalidStateError} When it is pending or retrying, or evidence that can be read in more than one way.
   * @throws {ConfigurationError} As `retry()` does.
   */
  readonly reopen: (transitionId: string, note: ActionNote) => Promise<void>;
  /** What is expected under this reference, one for each transaction type. */
  readonly expectations: (merchant_reference: string) => Promise<KnownPayment[]>;
  /**
   * Removes what is personal from all that is kept under a merchant_reference: the texts of bodies and the hashes of them, the
   * errors of attempts, and the notes of earlier actions. What prevents a second payment stays, with the signed fields and the claimed amounts.
   * Later bodies of these transitions are kept without their text. Recorded as an action, so write no name into the note. A
   * second call changes nothing.
   *
   * @returns how much was removed.
   * @throws {ConfigurationError} Without `by` or `note`.
   *
   * @example
   * await inbox.forget('ORD-1001', { by: 'dana', note: 'erasure request 2026-17' });
   */
  readonly forget: (merchantReference: string, note: ActionNote) => Promise<Forgotten>;
  /** Expectations past their deadline whose callback has not come; the longest overdue first. At most 1000 without a limit. */
  readonly overdue: (options?: { readonly limit?: number | undefined }) => Promise<OverdueExpectation[]>;
  /**
   * Removes the text of old bodies, where personal data is, and old errors of attempts, from settled, superseded, resolved and unhandled transitions; and,
   * with `archiveOlderThanDays`, moves what is settled or superseded into the archive. A repetition stays known permanently, and
   * is never applied again; `list()` by a reference and `show()` say what became of it.
   *
   * @example
   * await inbox.prune({ bodiesOlderThanDays: 90, archiveOlderThanDays: 400 });
   */
  readonly prune: (options?: PruneOptions) => Promise<Pruned>;
  /**
   * Keeps a balance inquiry for `reconcile()`. Ask for all balances, without the filter `currency`, and record them when the
   * answer is there: regularly, such as once a day.
   *
   * @throws {ConfigurationError} For wallets that are not those of `getWalletBalances()`.
   *
   * @example
   * await inbox.recordBalances(await client.getWalletBalances());
   */
  readonly recordBalances: (wallets: readonly WalletBalance[]) => Promise<void>;
  /** What was settled in a period, by currency and transaction type: the sum of your own expectations, exactly. */
  readonly totals: (period: Period) => Promise<SettledTotal[]>;
  /**
   * Holds the snapshots nearest to `from` and `to` against what was settled between them. What stays unexplained is reported as
   * the event `balance.unexplained` as well.
   *
   * @throws {ConfigurationError} Names a wrong option; `from` when there are no two snapshots.
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
   * Holds a statement of the service against what is known here, with a verdict for every row and for every settlement of the
   * period that has none. It changes nothing unless `dryRun` is false. Then a payment that is expected here, and whose callback
   * never came, is settled by its row, under the same rules and as the same transition: a later callback is a repetition.
   *
   * The statement is trusted as far as you trust where it comes from: nothing signs it.
   *
   * @throws {ConfigurationError} Names a wrong option. A wrong row is a verdict, and nothing is applied from its file.
   *
   * @example
   * const period = { from: new Date('2026-01-01'), to: new Date('2026-02-01') };
   * const { counts, samples } = await inbox.reconcileStatement(rows, { ...period, by: 'dana', note: 'January' });
   */
  readonly reconcileStatement: (
    rows: readonly StatementRow[],
    options: StatementOptions,
  ) => Promise<StatementReport>;
  /** Ends `work()`, lets running handlers and transactions end, and closes what the inbox opened. Not from a handler. */
  readonly close: () => Promise<void>;
}
