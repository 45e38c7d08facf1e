import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { SqlValue } from '../session.ts';
import { fileIdentity } from './file-identity.ts';
import { MovedDatabase } from './moved-database.ts';
import { RefusedDatabase } from './refused-database.ts';
import { LEAST_RETRY_MS, MOST_RETRY_MS } from './retry-interval.ts';
import type { SqliteResult, SqliteValues } from './thread-messages.ts';

const SQLITE_BUSY = 5;
const MOST_STATEMENTS = 200;
const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/** One connection to the database file, owned by one thread: every call blocks that thread, and no other. */
export class SqliteConnection {
  /** Which file is open; the one at the path may become another one. */
  readonly identity: string | undefined;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #waitMs: number;
  readonly #statements = new Map<string, StatementSync>();
  #hasBegun = false;

  /**
   * @param identity of the file that an earlier connection has opened at this path; without it, a file is made where
   * there is none.
   */
  constructor(path: string, waitMs: number, identity?: string) {
    this.#path = path;
    this.#waitMs = waitMs;
    if (identity !== undefined && fileIdentity(path) !== identity) throw new MovedDatabase();
    this.#database = new DatabaseSync(path);
    try {
      this.identity = identity ?? fileIdentity(path);
      this.#setUp();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Settings are read back: SQLite keeps silent about one that it cannot take. */
  #setUp(): void {
    // The wait for other writers is ours: SQLite's own backs off to 100 ms, and a busy writer would starve the other.
    this.#database.exec('pragma busy_timeout = 0');
    this.#whileBusy(() => this.#database.exec('pragma journal_mode = wal'));
    this.#database.exec('pragma synchronous = full; pragma foreign_keys = on');
    // Without it macOS hands a commit to the drive and does not wait for the drive.
    this.#database.exec('pragma fullfsync = on; pragma checkpoint_fullfsync = on');
    this.#require('journal_mode', 'wal', 'the write-ahead log');
    this.#require('synchronous', 2, 'synchronous = FULL');
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
    if (!this.#hasBegun) this.#requireFile();
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
    this.#requireFile();
    this.#whileBusy(() => this.#database.exec('begin immediate'));
    this.#hasBegun = true;
  }

  /** @throws {MovedDatabase} when nobody would find what is committed. */
  commit(): void {
    this.#requireFile();
    this.#database.exec('commit');
    this.#hasBegun = false;
  }

  /** Ends the transaction, unless a statement that failed badly (a full disk) has ended it already. */
  rollback(): void {
    this.#hasBegun = false;
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

  /** SQLite looks at its path only when it opens the file. */
  #requireFile(): void {
    if (fileIdentity(this.#path) !== this.identity) throw new MovedDatabase();
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
        Atomics.wait(sleepCell, 0, 0, LEAST_RETRY_MS + Math.random() * (MOST_RETRY_MS - LEAST_RETRY_MS));
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
