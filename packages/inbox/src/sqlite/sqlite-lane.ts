import type { Session } from '../session.ts';
import type { Lane } from '../store.ts';
import { isDue } from './due.ts';
import { refuseSeveralStatements } from './several-statements.ts';
import { tables } from './sqlite-tables.ts';
import type { SqliteThread } from './sqlite-thread.ts';
import type { SqliteTransaction } from './sqlite-transaction.ts';
import { threadSession } from './thread-session.ts';
import type { WriteTurn } from './write-turn.ts';

/** Works on one transition at a time: SQLite has one writer, and the lane is it from the claim to the commit. */
export class SqliteLane implements Lane<SqliteTransaction> {
  readonly session: Session;
  readonly countsAtClaim = true;
  readonly #thread: SqliteThread;
  readonly #turn: WriteTurn;
  #endTurn: (() => void) | undefined;
  /** Counted, and then the write lock was not to be had: the next claim does not count it again. */
  #countedInVain: string | undefined;

  constructor(thread: SqliteThread, turn: WriteTurn) {
    this.#thread = thread;
    this.#turn = turn;
    this.session = threadSession(thread);
  }

  async claim(account: string, now: number): Promise<Uint8Array | undefined> {
    const due = await this.#nextDue(account, now);
    if (due === undefined) return undefined;
    this.#endTurn = await this.#turn.take();
    try {
      await this.#count(due);
      await this.#thread.request({ kind: 'begin' });
    } catch (error) {
      this.#leaveTurn();
      throw error;
    }
    this.#countedInVain = undefined;
    if (await isDue(this.session, due, now)) return due;
    // Another process was faster: this start never happened.
    await this.session.query(`update ${tables.start} set starts = starts - 1 where transition_id = $1`, [
      due,
    ]);
    await this.commit();
    return this.claim(account, now);
  }

  async #nextDue(account: string, now: number): Promise<Uint8Array | undefined> {
    const { rows } = await this.session.query(
      `select transition_id from ${tables.transition}
       where account = $1 and state in ('pending', 'retrying') and next_at <= $2 order by next_at, id limit 1`,
      [account, now],
    );
    const id = rows[0]?.['transition_id'];
    return id instanceof Uint8Array ? id : undefined;
  }

  async #count(transitionId: Uint8Array): Promise<void> {
    const id = Buffer.from(transitionId).toString('hex');
    if (this.#countedInVain === id) return;
    await this.#thread.request({ kind: 'countStart', transitionId });
    this.#countedInVain = id;
  }

  /** Done in `claim()`: once the transaction is open, nothing else can be written. */
  async countStart(): Promise<void> {}

  async forgetStart(transitionId: Uint8Array): Promise<void> {
    await this.session.query(`update ${tables.start} set starts = starts - 1 where transition_id = $1`, [
      transitionId,
    ]);
  }

  /** The write lock covers every expectation. */
  async lockReference(): Promise<boolean> {
    return true;
  }

  handlerTransaction(check: (text: unknown) => void): SqliteTransaction {
    return {
      query: async (text, values = []) => {
        check(text);
        refuseSeveralStatements(text);
        return this.#thread.request({ kind: 'query', text, values });
      },
    };
  }

  async savepoint(): Promise<void> {
    await this.session.query('savepoint payment_inbox_handler');
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
