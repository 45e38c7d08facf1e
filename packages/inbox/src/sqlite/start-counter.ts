import type { SqliteConnection } from './connection.ts';
import { STEP_TABLE, tables } from './sqlite-tables.ts';
import type { StartNote } from './start-note.ts';

const COUNT = `insert into ${tables.start} (transition_id, starts) values (?, 1)
  on conflict (transition_id) do update set starts = starts + 1`;
const COUNT_UNFINISHED = `insert into ${tables.start} (transition_id, starts)
  select transition_id, 1 from ${tables.transition} where transition_id = ? and state in ('pending', 'retrying')
  on conflict (transition_id) do update set starts = starts + 1`;

/**
 * Counts starts of handlers in a way that outlives the process. The count is written in the handler's own transaction,
 * and goes with it when the process ends; a note beside the database then says whose start it was. Every start has the
 * number of a step, which its transaction raises: a note that is one step ahead of the database is of a transaction that
 * was never committed. All of this happens under the write lock, which the system takes from a process that has ended,
 * and from no other: no clock is asked, and who only waits for the lock has written nothing yet.
 */
export class StartCounter {
  readonly #connection: SqliteConnection;
  readonly #note: StartNote;
  #isUnderWay = false;

  constructor(connection: SqliteConnection, note: StartNote) {
    this.#connection = connection;
    this.#note = note;
  }

  /** Inside the transaction of the handler, before its savepoint. */
  count(transitionId: Uint8Array): void {
    const step = this.#step() + 1;
    this.#setStep(step);
    this.#connection.change(COUNT, [transitionId]);
    this.#note.write({ step, transitionId });
    this.#isUnderWay = true;
  }

  /**
   * Counts a start whose transaction ended with its process, once.
   *
   * @returns whether there was one; it is to be committed before the next start takes its place in the note.
   */
  countUnfinished(): boolean {
    const noted = this.#note.read();
    if (noted === undefined || noted.step !== this.#step() + 1) return false;
    this.#setStep(noted.step);
    this.#connection.change(COUNT_UNFINISHED, [noted.transitionId]);
    return true;
  }

  /** The transaction was committed, and the count with it. */
  keep(): void {
    this.#isUnderWay = false;
  }

  /** The transaction is about to be rolled back through no fault of its handler. */
  forget(): void {
    if (this.#isUnderWay) this.#note.clear();
    this.#isUnderWay = false;
  }

  #step(): number {
    const [row] = this.#connection.query(`select step from ${STEP_TABLE}`).rows;
    return Number(row?.['step']);
  }

  #setStep(step: number): void {
    this.#connection.change(`update ${STEP_TABLE} set step = ?`, [step]);
  }
}
