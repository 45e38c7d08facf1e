import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { SqlValue } from '../session.ts';
import { RefusedDatabase } from './refused-database.ts';
import type { SqliteResult, SqliteValues } from './thread-messages.ts';

const SQLITE_BUSY = 5;
const MOST_STATEMENTS = 200;
const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/** One connection to the database file, owned by one thread: every call blocks that thread, and no other. */
export class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #waitMs: number;
  readonly #statements = new Map<string, StatementSync>();

  /**
   * @param synchronous FULL: a commit returns when it is on disk. NORMAL: it survives the end of the process, not that
   * of the machine.
   */
  constructor(path: string, waitMs: number, synchronous: 'FULL' | 'NORMAL' = 'FULL') {
    this.#waitMs = waitMs;
    this.#database = new DatabaseSync(path);
    try {
      this.#setUp(synchronous);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Settings are read back: SQLite keeps silent about one that it cannot take. */
  #setUp(synchronous: 'FULL' | 'NORMAL'): void {
    // The wait for other writers is ours: SQLite's own backs off to 100 ms, and a busy writer would starve the other.
    this.#database.exec('pragma busy_timeout = 0');
    this.#whileBusy(() => this.#database.exec('pragma journal_mode = wal'));
    this.#database.exec(`pragma synchronous = ${synchronous}; pragma foreign_keys = on`);
    // Without it macOS hands a commit to the drive and does not wait for the drive.
    this.#database.exec('pragma fullfsync = on; pragma checkpoint_fullfsync = on');
    this.#require('journal_mode', 'wal', 'the write-ahead log');
    this.#require('synchronous', synchronous === 'FULL' ? 2 : 1, `synchronous = ${synchronous}`);
  }

  #require(pragma: string, expected: string | number, what: string): void {
    const row = this.#database.prepare(`pragma ${pragma}`).get();
    if (row?.[pragma] === expected) return;
    throw new RefusedDatabase(
      'path',
      `This SQLite database does not take ${what}, without which acknowledged callbacks could be lost. Use a file on a ` +
        'local disk.',
    );
  }

  query(text: string, values: SqliteValues = []): SqliteResult {
    return this.#whileBusy(() => {
      const statement = this.#statement(text);
      const before = this.#totalChanges();
      const rows = run(statement, values) as Record<string, SqlValue>[];
      const changed = this.#totalChanges() - before;
      return { rows, rowCount: changed > 0 && rows.length === 0 ? changed : rows.length };
    });
  }

  /** Runs a statement that gives no rows, inside a transaction. */
  change(text: string, values: readonly SqlValue[]): { readonly changes: number; readonly rowId: number } {
    const { changes, lastInsertRowid } = this.#statement(text).run(...(values as readonly SQLInputValue[]));
    return { changes: Number(changes), rowId: Number(lastInsertRowid) };
  }

  /** Several statements without values, such as a migration. */
  execute(script: string): void {
    this.#database.exec(script);
  }

  /** Takes the write lock at once, so that nothing read in this transaction can change before its end. */
  begin(): void {
    this.#whileBusy(() => this.#database.exec('begin immediate'));
  }

  commit(): void {
    this.#database.exec('commit');
  }

  /** Ends the transaction, unless a statement that failed badly (a full disk) has ended it already. */
  rollback(): void {
    if (this.isInTransaction()) this.#database.exec('rollback');
  }

  /** Some failures of a statement end the whole transaction: a full disk, or ON CONFLICT ROLLBACK. */
  isInTransaction(): boolean {
    // Node 22.15 and earlier do not know isTransaction; there SQLite tells by refusing to begin one inside another.
    const isKnown: boolean | undefined = this.#database.isTransaction;
    if (isKnown !== undefined) return isKnown;
    try {
      this.#database.exec('begin');
    } catch {
      return true;
    }
    this.#database.exec('rollback');
    return false;
  }

  close(): void {
    this.#database.close();
  }

  #totalChanges(): number {
    return Number(this.#statement('select total_changes() as changes').get()?.['changes'] ?? 0);
  }

  #statement(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const [oldest] = this.#statements.keys();
    if (this.#statements.size >= MOST_STATEMENTS && oldest !== undefined) this.#statements.delete(oldest);
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  /** Another process is writing: tried again every few milliseconds, at uneven intervals. */
  #whileBusy<T>(attempt: () => T): T {
    const until = performance.now() + this.#waitMs;
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw error;
        Atomics.wait(sleepCell, 0, 0, 1 + Math.random() * 3);
      }
    }
  }
}

function run(statement: StatementSync, values: SqliteValues): unknown[] {
  return Array.isArray(values)
    ? statement.all(...(values as readonly SQLInputValue[]))
    : statement.all(values as Record<string, SQLInputValue>);
}

/** The lower eight bits are the code; the others tell busy from busy in recovery. */
function isBusy(error: unknown): boolean {
  const code = error instanceof Error ? Reflect.get(error, 'errcode') : undefined;
  return typeof code === 'number' && (code & 0xff) === SQLITE_BUSY;
}
