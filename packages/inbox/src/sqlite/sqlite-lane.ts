import type { Parking, ParkingOutcome } from '../parking.ts';
import type { Session } from '../session.ts';
import type { Settlement } from '../settlement.ts';
import type { Lane } from '../store.ts';
import type { TransactionGuard } from '../transaction-guard.ts';
import type { Turn } from '../turn.ts';
import { merchantTransaction } from './merchant-transaction.ts';
import { MOST_RETRY_MS } from './retry-interval.ts';
import type { SqliteThread } from './sqlite-thread.ts';
import type { SqliteTransaction } from './sqlite-transaction.ts';
import { threadSession } from './thread-session.ts';

/** Long enough that every other process that waits for the write lock tries again within it, and one of them gets it. */
const LONGEST_GAP_MS = 2 * MOST_RETRY_MS;
/** Of the time for which the lane kept the lock, this part is left to them. */
const GAP_PART = 1 / 8;

/** Works on one transition at a time: SQLite has one writer, and the lane is it from the claim to the commit. */
export class SqliteLane implements Lane<SqliteTransaction> {
  readonly session: Session;
  readonly #thread: SqliteThread;
  readonly #turn: Turn;
  #endTurn: (() => void) | undefined;
  #begunAt = 0;
  #gapMs = 0;

  constructor(thread: SqliteThread, turn: Turn) {
    this.#thread = thread;
    this.#turn = turn;
    this.session = threadSession(thread);
  }

  async claim(account: string, now: number): Promise<Uint8Array | undefined> {
    await this.#leaveGap();
    this.#endTurn = await this.#turn.take();
    try {
      const id = await this.#thread.request({ kind: 'claim', account, now });
      this.#begunAt = performance.now();
      if (id === undefined) this.#leaveTurn();
      return id;
    } catch (error) {
      this.#leaveTurn();
      throw error;
    }
  }

  /** In the transaction itself, and before the savepoint: what the handler does may be undone, its start not. */
  async countStart(transitionId: Uint8Array): Promise<void> {
    await this.#thread.request({ kind: 'startHandler', transitionId });
  }

  settle(settlement: Settlement): Promise<boolean> {
    return this.#thread.request({ kind: 'settle', settlement });
  }

  park(parking: Parking): Promise<ParkingOutcome> {
    return this.#thread.request({ kind: 'park', parking });
  }

  handlerTransaction(guard: TransactionGuard): SqliteTransaction {
    return merchantTransaction(this.#thread, guard);
  }

  async releaseSavepoint(): Promise<void> {
    await this.session.query('release payment_inbox_handler');
  }

  async rollbackToSavepoint(): Promise<void> {
    await this.session.query('rollback to payment_inbox_handler');
  }

  async commit(): Promise<void> {
    await this.#finish('commit');
  }

  async rollback(): Promise<void> {
    await this.#finish('rollback');
  }

  async #finish(kind: 'commit' | 'rollback'): Promise<void> {
    // The commit is not counted: how long it takes is the disk's affair, and no reason to wait as well.
    this.#gapMs = Math.min(LONGEST_GAP_MS, (performance.now() - this.#begunAt) * GAP_PART);
    try {
      await this.#thread.request({ kind });
    } finally {
      this.#leaveTurn();
    }
  }

  /** A worker with a backlog would take the lock again at once, and other processes would hardly ever find it free. */
  async #leaveGap(): Promise<void> {
    const gapMs = this.#gapMs;
    this.#gapMs = 0;
    if (gapMs >= 1) await new Promise((resolve) => setTimeout(resolve, gapMs));
  }

  async close(): Promise<void> {
    try {
      await this.#thread.close();
    } finally {
      this.#leaveTurn();
    }
  }

  #leaveTurn(): void {
    this.#endTurn?.();
    this.#endTurn = undefined;
  }
}
