import type { AuthenticRefusal, VerifiedCallback } from '@payment-service/core';
import type { Resolution } from './desk.ts';
import type { Expectation } from './expectation.ts';
import type { InboxHealth, InboxStats, OverdueExpectation } from './figures.ts';
import type { CompletedTransition, HandledTransition } from './handler.ts';
import type { ListOptions, TransitionDetails, TransitionSummary } from './transition-views.ts';

/** Options of `work()`. */
export interface WorkerOptions {
  /** Aborted: no further transition is taken, running handlers end, and `work()` resolves. */
  readonly signal: AbortSignal;
  /** How many handlers may run at the same time; on SQLite it is one. Default 4. */
  readonly concurrency?: number | undefined;
  /** How often to look for what other processes have kept, in milliseconds; at most an hour. Default 250. */
  readonly pollMs?: number | undefined;
}

/**
 * A durable inbox of one merchant account. Every function sets the store up when that has not happened yet, and works
 * detached from the object, so that `inbox.receive` can be handed over as it is.
 */
export interface Inbox<Tx> {
  /**
   * Sets the store up now: brings its tables up to date, and refuses a database that would not keep what it
   * acknowledges. For the start of a program, so that a misconfiguration shows there.
   *
   * @throws {ConfigurationError} for such a database; what the database says when it does not answer, and what the spool's
   * file does when it cannot be used. Other calls go on without the spool then, and `health()` says so.
   */
  readonly ready: () => Promise<void>;
  /**
   * Runs `body` in a transaction of its own on the store, for what must be kept together: an order and its expectation.
   * Commits when the body resolves, and rolls back when it throws, or does not end within `handlerTimeoutMs`. The body
   * gets the same `tx` as a handler; wait for every statement in it.
   *
   * @returns what the body gives, after the commit.
   * @throws what the body throws; what the database says when it cannot commit, and on PostgreSQL an error when a
   * statement had failed and the body went on. Only a connection that breaks during the commit leaves open whether the
   * transaction is kept. ConfigurationError inside a handler or another `transaction()`: use the `tx` that is there.
   *
   * @example
   * await inbox.transaction(async (tx) => {
   *   await tx.query('insert into orders (reference, amount) values ($1, $2)', ['ORD-1001', '500']); // `?` on SQLite
   *   await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500' }, { tx });
   * });
   */
  readonly transaction: <T>(body: (tx: Tx) => T | Promise<T>) => Promise<T>;
  /**
   * Says what a payment must be; best before the transaction is started. May be repeated, and changed until it is
   * settled.
   *
   * @param options.tx the transaction to write it in: that of `transaction()` or of a handler, or one of your own, on
   * PostgreSQL as the client of `pg` that began it. Call `ready()` before.
   * @throws {InvalidStateError} when it is settled with other values; ConfigurationError that names a wrong field, before
   * `ready()` with `tx`, and inside a handler or `transaction()` without `tx`.
   *
   * @example
   * await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500' });
   */
  readonly expect: (expectation: Expectation, options?: { readonly tx?: Tx | undefined }) => Promise<void>;
  /**
   * Keeps a verified callback; resolves after the commit. For `onCallback` of every adapter.
   *
   * @throws {UnavailableError} When it could not be kept: the adapter answers `failureStatus` (429) with `Retry-After`, and
   * the sender still has it.
   * @throws {ConfigurationError} When the verifier and this inbox have different `account` options.
   *
   * @example
   * app.use('/callbacks', paymentCallbacks({ signingKey, onCallback: inbox.receive }));
   */
  readonly receive: (callback: VerifiedCallback) => Promise<void>;
  /**
   * Keeps a callback whose signature fits and that a rule refuses, as evidence for a person. For `onAuthenticRefusal`.
   *
   * @throws {UnavailableError} As `receive()` does.
   * @throws {ConfigurationError} As `receive()` does.
   */
  readonly quarantine: (refusal: AuthenticRefusal) => Promise<void>;
  /**
   * Sets what happens with a transition, once; called by `work()`. Effects in `tx` happen exactly once, whatever dies
   * when; effects elsewhere may be repeated, and take `transitionId` as their key. A handler that throws is rolled back
   * and tried again.
   *
   * Without `statuses` it gets completed transactions, each with `settled`. With them it gets those statuses.
   *
   * @throws {ConfigurationError} when there is a handler already.
   *
   * @example
   * inbox.handle(async ({ tx, signed, settled }) => {
   *   // On PostgreSQL; SQLite takes `?` for the values.
   *   await tx.query('update orders set paid = $1 where reference = $2', [settled.amount, signed.merchant_reference]);
   * });
   */
  readonly handle: {
    (handler: (transition: CompletedTransition<Tx>) => unknown): void;
    (
      handler: (transition: HandledTransition<Tx>) => unknown,
      options: { readonly statuses: readonly string[] },
    ): void;
  };
  /**
   * Works on transitions until the signal is aborted, through every outage of the store. Any number of processes may.
   *
   * @throws {ConfigurationError} without a handler, or when the pool has too few connections.
   */
  readonly work: (options: WorkerOptions) => Promise<void>;
  /** Counts all transitions: for a page that a person opens, not for every second. */
  readonly stats: () => Promise<InboxStats>;
  /**
   * For a health check; cheap, and never throws for a store that is away.
   *
   * @param options.maxPendingAgeSeconds how long a transition that is due may wait for a worker. Default 60.
   */
  readonly health: (options?: { readonly maxPendingAgeSeconds?: number | undefined }) => Promise<InboxHealth>;
  /**
   * Transitions, the newest first.
   *
   * @throws {ConfigurationError} that names the option.
   *
   * @example
   * // A customer says that they have paid:
   * const transitions = await inbox.list({ merchant_reference: 'ORD-1001' });
   */
  readonly list: (options?: ListOptions) => Promise<TransitionSummary[]>;
  /** One transition with its bodies, which hold personal data; undefined when there is none. */
  readonly show: (transitionId: string) => Promise<TransitionDetails | undefined>;
  /**
   * Back to work with all its attempts, under the same rules.
   *
   * @throws {InvalidStateError} when it is settled or resolved; ConfigurationError when no transition of the account has
   * this id, and inside a handler or `transaction()`.
   */
  readonly retry: (transitionId: string) => Promise<void>;
  /**
   * Closes a transition; or, with `body`, accepts that body and has it applied.
   *
   * @throws {InvalidStateError} when it is settled or resolved, and with `body` when an expectation is known;
   * ConfigurationError when no transition of the account has this id, without a note, with a `body` that is no verified one
   * of the transition or does not say one amount, and inside a handler or `transaction()`.
   */
  readonly resolve: (transitionId: string, resolution: Resolution) => Promise<void>;
  /**
   * Has a settled or resolved transition applied once more, or one that the order of statuses keeps back: for a person
   * who knows that the service repeats it rightly.
   *
   * @throws {InvalidStateError} when it is pending or retrying, or evidence that can be read in more than one way;
   * ConfigurationError when no transition of the account has this id, and inside a handler or `transaction()`.
   */
  readonly reopen: (transitionId: string) => Promise<void>;
  /** Expectations past their deadline whose callback has not come; the longest overdue first. */
  readonly overdue: (options?: { readonly limit?: number | undefined }) => Promise<OverdueExpectation[]>;
  /**
   * Removes the text of old bodies, where personal data is, from settled, resolved and unhandled transitions. The
   * transitions stay for ever, so that a repetition is still known.
   *
   * @param options.bodiesOlderThanDays counted from the last delivery. Default 90.
   */
  readonly prune: (options?: {
    readonly bodiesOlderThanDays?: number | undefined;
  }) => Promise<{ bodies: number }>;
  /**
   * Ends `work()`, lets running handlers and transactions end, and closes what the inbox opened; the pool stays the
   * merchant's.
   *
   * @throws {ConfigurationError} inside a handler or `transaction()`, for which it would wait.
   */
  readonly close: () => Promise<void>;
}
