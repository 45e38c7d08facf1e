/** A thread that owns the connections to one database file, so that no fsync ever blocks the event loop. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { makeOwnFile } from '../own-files.ts';
import { TransactionEnded } from '../store.ts';
import { changedMessage, FILE_CHANGED, OpenedFiles } from './opened-files.ts';
import type {
  Question,
  SqlitePart,
  SqliteResult,
  SqliteValues,
  ThreadData,
  ThreadFailure,
  ThreadReply,
  ThreadRequest,
} from './thread-messages.ts';

const MAX_STATEMENTS = 200;
const SLEEP = new Int32Array(new SharedArrayBuffer(4));
const { path, lockTimeoutMs } = workerData as ThreadData;
const LOCKED =
  `Another connection, probably of another process, holds a lock on ${path} and did not release it within ${lockTimeoutMs} ms. ` +
  'Let its transaction end, or end that process. To wait longer, set lockTimeoutMs of sqlite().';
const MAY_WRITE =
  'Let the user of this process write to this file and to its folder, which also holds the log';
/** What to do about SQLite's errors that concern the file itself, by their primary codes. */
const FILE_ERRORS: ReadonlyMap<number, string> = new Map([
  [8, MAY_WRITE],
  [10, 'Check its disk'],
  [11, 'Stop every program that uses it, keep a copy of it and of its -wal file, and restore a backup'],
  [13, 'Free space on its disk'],
  [14, MAY_WRITE],
  [26, 'If it is encrypted, the inbox cannot use it'],
]);

type Values = Readonly<Record<string | number, SQLInputValue>>;

function resultOf(rows: readonly object[]): SqliteResult {
  return { rows: rows as SqliteResult['rows'], rowCount: rows.length };
}

/** With `normal`, a commit is in the log, which is not synced: a crash of the machine may lose it. */
type Synchronous = 'full' | 'normal';

class Connection {
  readonly database = openDatabase();
  readonly #statements = new Map<string, StatementSync>();
  #synchronous: Synchronous = 'full';

  constructor() {
    whileBusy(() => this.database.exec('pragma journal_mode = wal'));
    this.database.exec('pragma synchronous = full; pragma foreign_keys = on');
    // Ten times the default: most pages are written to the log several times before they must be written to the database.
    this.database.exec('pragma wal_autocheckpoint = 10000');
    // Without it, macOS passes a commit to the drive without waiting for it.
    this.database.exec('pragma fullfsync = on; pragma checkpoint_fullfsync = on');
    const { journal_mode } = this.database.prepare('pragma journal_mode').get() ?? {};
    const { synchronous } = this.database.prepare('pragma synchronous').get() ?? {};
    if (journal_mode === 'wal' && synchronous === 2) return;
    this.database.close();
    throw refused(
      'This SQLite database does not support the write-ahead log with synchronous = FULL, without which acknowledged callbacks ' +
        'could be lost. Use a file on a local disk.',
      { option: 'path' },
    );
  }

  /** Set before a transaction: SQLite refuses it inside one. */
  set synchronous(wanted: Synchronous) {
    if (wanted === this.#synchronous) return;
    this.database.exec(`pragma synchronous = ${wanted}`);
    this.#synchronous = wanted;
  }

  get isInTransaction(): boolean {
    // Node 22.15 and earlier lack isTransaction; there SQLite refuses to begin one transaction inside another.
    const isKnown: boolean | undefined = this.database.isTransaction;
    if (isKnown !== undefined) return isKnown;
    try {
      this.database.exec('begin');
    } catch {
      return true;
    }
    this.database.exec('rollback');
    return false;
  }

  query(question: Question): SqliteResult {
    if ('text' in question) return this.#ask(question.text, question.values);
    const { parts, values, isForEach } = question;
    if (!isForEach) {
      const given = parts.map((part) => this.#run(part, Object.fromEntries(values.entries())));
      return resultOf(given.at(-1) ?? []);
    }
    const records = JSON.parse(String(values[0])) as readonly Values[];
    const rows = records.flatMap((record) => {
      const [first, ...others] = parts;
      const given = first === undefined ? [] : this.#run(first, record);
      if (given.length > 0) for (const other of others) this.#run(other, record);
      return given;
    });
    return resultOf(rows);
  }

  #run({ text, binds }: SqlitePart, values: Values): readonly object[] {
    return this.#statement(text).all(...binds.map((bind) => values[bind] ?? null));
  }

  /** A statement of the merchant, who gets the number of changed rows. */
  #ask(text: string, values: SqliteValues): SqliteResult {
    const before = this.#changes();
    const statement = this.#statement(text);
    const rows = Array.isArray(values)
      ? statement.all(...(values as SQLInputValue[]))
      : statement.all(values as Record<string, SQLInputValue>);
    const changed = this.#changes() - before;
    return {
      rows: rows as SqliteResult['rows'],
      rowCount: changed > 0 && rows.length === 0 ? changed : rows.length,
    };
  }

  #changes(): number {
    return Number(this.#statement('select total_changes() as changes').get()?.['changes'] ?? 0);
  }

  #statement(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    const statement = this.database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

function openDatabase(): DatabaseSync {
  if ((writer ?? reader) === undefined) {
    makeOwnFile(path);
    files.open();
  }
  // The second connection must open the same file as the first one.
  else checkFiles();
  return new DatabaseSync(path);
}

const files = new OpenedFiles(path);
let writer: Connection | undefined;
let reader: Connection | undefined;
/** As on PostgreSQL: after a statement that failed, a transaction can only be rolled back. Also true where none has begun. */
let hasFailed = true;

parentPort?.on('message', ({ id, request }: { readonly id: number; readonly request: ThreadRequest }) => {
  let reply: ThreadReply;
  try {
    reply = { id, result: answer(request) };
  } catch (error) {
    reply = { id, failure: failureOf(error) };
  }
  parentPort?.postMessage(reply);
  if (request.kind === 'close') parentPort?.close();
});

function answer(request: ThreadRequest): SqliteResult | undefined {
  switch (request.kind) {
    case 'first':
      begin();
      return queryIn(request);
    case 'next':
      return queryIn(request);
    case 'last': {
      const result = queryIn(request);
      if (result.rows.length > 0) commit();
      return result;
    }
    case 'write':
    case 'unsynced':
      try {
        begin(request.kind === 'write' ? 'full' : 'normal');
        const result = queryIn(request);
        commit();
        return result;
      } catch (error) {
        rollBack();
        throw error;
      }
    case 'commit':
      return commit();
    case 'rollback':
      // Refused if the handler has ended it.
      if (!hasFailed) transaction();
      return rollBack();
    case 'read':
      reader ??= new Connection();
      checkFiles();
      return whileBusy(() => reader?.query(request));
    case 'last read':
      return whileBusy(() => (reader ?? writer)?.query(request)) ?? answer({ ...request, kind: 'read' });
    case 'close':
      writer?.database.close();
      reader?.database.close();
      return undefined;
  }
}

function begin(synchronous: Synchronous = 'full'): void {
  // Unset until it has begun: after a failed begin there is no transaction that a handler could have ended.
  hasFailed = true;
  writer ??= new Connection();
  checkFiles();
  writer.synchronous = synchronous;
  // Immediate, so that nothing that this transaction reads can change before its end.
  whileBusy(() => writer?.database.exec('begin immediate'));
  hasFailed = false;
}

/** Tried often: SQLite's own wait grows to 100 ms, and a process that writes continuously would starve others. */
function whileBusy<T>(act: () => T): T {
  const until = performance.now() + lockTimeoutMs;
  for (; ; Atomics.wait(SLEEP, 0, 0, 2 + Math.random() * 8)) {
    try {
      return act();
    } catch (error) {
      if (Object(error).errcode % 256 !== 5) throw error;
      if (performance.now() >= until) throw Object.assign(new Error(LOCKED), error);
    }
  }
}

function commit(): undefined {
  const { database } = transaction();
  // Before the commit: some of its errors roll the transaction back.
  hasFailed = true;
  database.exec('commit');
  // What went into a file that no path names is not acknowledged.
  checkFiles();
}

/** @throws If a path no longer names the file that is open. */
function checkFiles(): void {
  const changed = files.changed();
  if (changed === undefined) return;
  // The log may end with this process: what is in it goes into the open file, as far as no other connection reads it.
  const idle = [writer, reader].find((connection) => connection?.isInTransaction === false);
  if (changed.hasLocks) idle?.database.exec('pragma wal_checkpoint');
  throw refused(changedMessage(changed), { code: FILE_CHANGED });
}

function rollBack(): undefined {
  hasFailed = true;
  if (writer?.isInTransaction) writer.database.exec('rollback');
}

function queryIn(question: Question): SqliteResult {
  const connection = transaction();
  try {
    return connection.query(question);
  } catch (error) {
    hasFailed = true;
    throw error;
  }
}

/** @throws If a statement in it has failed, or the handler has ended it. */
function transaction(): Connection {
  if (hasFailed) throw refused('A statement of this transaction failed, so it was rolled back.');
  if (writer?.isInTransaction) return writer;
  throw new TransactionEnded();
}

function refused(message: string, details: Pick<ThreadFailure, 'code' | 'option'> = {}): Error {
  return Object.assign(new Error(message), details);
}

/** With SQLite's own codes, and those of `refused()`. An error that concerns the file names it. */
function failureOf(error: unknown): ThreadFailure {
  if (!(error instanceof Error)) return { message: String(error) };
  const remedy = FILE_ERRORS.get(Object(error).errcode % 256);
  if (remedy === undefined) return { ...error, message: error.message };
  const other = 'or choose another file: the path of sqlite(), or --database of the command';
  return { ...error, message: `${path}: ${error.message}. ${remedy}, ${other}.` };
}
