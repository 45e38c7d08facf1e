import type { Parking, ParkingOutcome } from '../parking.ts';
import type { Session } from '../session.ts';
import type { Settlement } from '../settlement.ts';
import type { Lane } from '../store.ts';
import type { TransactionGuard } from '../transaction-guard.ts';
import type { Turn } from '../turn.ts';
import { merchantTransaction } from './merchant-transaction.ts';
import type { SqliteThread } from './sqlite-thread.ts';
import type { SqliteTransaction } from './sqlite-transaction.ts';
import { threadSession } from './thread-session.ts';

/** Works on one transition at a time: SQLite has one writer, and the lane is it from the claim to the commit. */
export class SqliteLane implements Lane<SqliteTransaction> {
  readonly session: Session;
  readonly countsAtClaim = false;
  readonly #thread: SqliteThread;
  readonly #turn: Turn;
  #endTurn: (() => void) | undefined;

  constructor(thread: SqliteThread, turn: Turn) {
    this.#thread = thread;
    this.#turn = turn;
    this.session = threadSession(thread);
  }

  async claim(account: string, now: number): Promise<Uint8Array | undefined> {
    this.#endTurn = await this.#turn.take();
    try {
      const id = await this.#thread.request({ kind: 'claim', account, now });
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
    try {
      await this.#thread.request({ kind });
    } finally {
      this.#leaveTurn();
    }
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
