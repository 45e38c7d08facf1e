import type { ExpectOutcome, StoredExpectation } from './expectation.ts';
import type { IntakeRecord } from './intake-record.ts';
import type { Parking, ParkingOutcome } from './parking.ts';
import type { Session } from './session.ts';
import type { Settlement } from './settlement.ts';
import type { Tables } from './tables.ts';
import type { TransactionGuard } from './transaction-guard.ts';

/** What became of one delivery. */
export type IntakeOutcome =
  /** The first of its transition. */
  | 'new'
  /** A body that differs from those kept before. */
  | 'new_body'
  /** Kept before. */
  | 'known'
  /** Not kept: the transition has `maxBodies` distinct bodies. */
  | 'full'
  /** Not kept: another writer holds the row, or was faster; to be tried again. */
  | 'busy';

/** A transaction in which one transition is worked on, on a session of its own. */
export interface Lane<Tx> {
  /**
   * Begins a transaction around the next due transition that nobody else works on, and gives its id. Without one, no
   * transaction is left open.
   */
  claim(account: string, now: number): Promise<Uint8Array | undefined>;
  /** Counts the start of a handler: the count outlives a process that ends now. The handler's savepoint is set then. */
  countStart(transitionId: Uint8Array): Promise<void>;
  /** Inside the transaction. */
  readonly session: Session;
  /** What the handler gets: the merchant's own statements, on the same session, as the guard lets them. */
  handlerTransaction(guard: TransactionGuard): Tx;
  /** Fails when an effect breaks a deferred constraint, or when the transaction is no longer the one that was begun. */
  releaseSavepoint(): Promise<void>;
  rollbackToSavepoint(): Promise<void>;
  /**
   * Marks the transition as applied, inside the transaction.
   *
   * @returns false when something has changed since it was read; then the effects must be rolled back.
   */
  settle(settlement: Settlement): Promise<boolean>;
  /** Leaves the transition to wait, inside the transaction. */
  park(parking: Parking): Promise<ParkingOutcome>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Ends the session; what is open is rolled back. */
  close(): Promise<void>;
}

export interface LaneOptions {
  readonly handlerTimeoutMs: number;
  readonly storeTimeoutMs: number;
}

/** What a worker has set aside. */
export interface Reservation {
  /** How many lanes to open. */
  readonly lanes: number;
  /** To be called once, when all of them have ended. */
  release(): void;
}

/** Whose it is, and when, in milliseconds since 1970. */
export interface Stamp {
  readonly account: string;
  readonly now: number;
}

/** What an engine does. Everything else is the same on all of them. */
export interface StoreEngine<Tx> {
  readonly tables: Tables;
  /** Tells this store from others, without a secret and without asking it: it may be away. The same in every process. */
  readonly identity: readonly string[];
  /**
   * What a select ends with whose rows are changed next: they are locked, and those that somebody holds are passed over.
   */
  lockRows(alias: string): string;
  /**
   * For calls that only add to the inbox, or tidy it, outside the merchant's own transaction.
   *
   * @throws {ConfigurationError} inside such a transaction, where the engine has one writer and it is that one.
   */
  checkCaller(): void;
  /**
   * Sets aside what so many concurrent handlers need.
   *
   * @throws {ConfigurationError} when they could not all have a connection.
   */
  reserveLanes(concurrency: number): Reservation;
  /** Refuses a database that would not keep what it acknowledges, and brings the tables up to date. */
  prepare(): Promise<void>;
  /** How many groups of deliveries may be under way at the same time. */
  readonly intakeLanes: number;
  /** Keeps deliveries; what it answers is on disk. Bounded by the caller. */
  receive(records: readonly IntakeRecord[], account: string): Promise<readonly IntakeOutcome[]>;
  /** A single statement in a transaction of its own. */
  readonly session: Session;
  /** The same, for a caller who waits no longer than `storeTimeoutMs`. */
  readonly briefSession: Session;
  /** @param timeoutMs for an engine that may not answer; without it, as long as an operation of a person may take. */
  transaction<T>(body: (session: Session) => Promise<T>, timeoutMs?: number): Promise<T>;
  /**
   * The merchant's own transaction: commits what the body did, or rolls it back when the body throws or does not end in
   * time.
   *
   * @throws what the body throws, whatever becomes of the rollback; what the commit throws.
   */
  merchantTransaction<T>(body: (tx: Tx) => T | Promise<T>, timeoutMs: number): Promise<T>;
  /**
   * Keeps an expectation, and wakes what was parked for want of it.
   *
   * @param tx the transaction that the merchant began; without it, one of its own.
   */
  expect(expectation: StoredExpectation, stamp: Stamp, tx: Tx | undefined): Promise<ExpectOutcome>;
  /** The same inside a transaction of the inbox. */
  expectIn(session: Session, expectation: StoredExpectation, stamp: Stamp): Promise<ExpectOutcome>;
  openLane(options: LaneOptions): Promise<Lane<Tx>>;
  close(): Promise<void>;
}

/** Where the inbox keeps its transitions: `postgres(pool)` or `sqlite(path)`. */
export interface Store<Tx> {
  /** `postgres` or `sqlite`. */
  readonly name: string;
  /** For `createInbox()`, which opens it: the machinery, not a public interface. */
  open(options: StoreOptions): StoreEngine<Tx>;
}

export interface StoreOptions {
  readonly storeTimeoutMs: number;
  readonly handlerTimeoutMs: number;
  /** The absolute path of the spool, which must not be the store itself. */
  readonly spool: string | undefined;
  readonly now: () => number;
  /** Told when a connection that nobody uses at this moment breaks. */
  readonly onConnectionLost: (code: string) => void;
}
