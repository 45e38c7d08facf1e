import type { DatabaseSync } from 'node:sqlite';
import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import type { Persistence } from './store.ts';

/** "pays" in ASCII: marks our files, so that another program's database is never written into. */
const APPLICATION_ID = 0x70617973;
const VERSION = 7;
const NOT_OURS = 'is not a state file of the sandbox. Choose another one.';
const OTHER_VERSION =
  'was written by another version of the sandbox, so this one cannot read it. Delete it, or choose another file.';
const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;

/**
 * Records in a SQLite file: WAL and synchronous=FULL, so that an answered operation survives kill -9 and a power cut. It contains
 * the keys, so only its owner can read it and the files that SQLite keeps beside it (threat A46). Only one process can use it
 * at a time: the exclusive lock belongs to the operating system, and ends with the process that holds it.
 */
export function sqliteFile(path: string): Persistence {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  if (sqlite === undefined) {
    const message =
      'Keeping state in a file needs Node 22.13 or later. Elsewhere, leave file out, or use --memory.';
    throw new ConfigurationError('file', message);
  }
  const database = open(sqlite, path);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec('BEGIN EXCLUSIVE');
    const state =
      'SELECT *, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id, pragma_user_version';
    const { application_id: id, user_version: version, tables } = database.prepare(state).get() ?? {};
    if (tables !== 0 && id !== APPLICATION_ID) throw new InvalidStateError(`The file ${path} ${NOT_OURS}`);
    if (tables !== 0 && version !== VERSION) throw new InvalidStateError(`The file ${path} ${OTHER_VERSION}`);
    database.exec(
      `CREATE TABLE IF NOT EXISTS record (kind TEXT, id TEXT, body TEXT NOT NULL, PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID;
       PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION}; COMMIT;`,
    );
    forOwnerOnly(path, `${path}-wal`, `${path}-shm`);
  } catch (error) {
    database.close();
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
    if (code === SQLITE_BUSY) {
      const message = `The file ${path} is in use by another sandbox. Stop that one first, or choose another file.`;
      throw new InvalidStateError(message, { cause: error });
    }
    if (code === SQLITE_NOTADB) throw new InvalidStateError(`The file ${path} ${NOT_OURS}`, { cause: error });
    throw error;
  }
  const all = database.prepare('SELECT kind, id, body FROM record ORDER BY kind, length(id), id');
  const put = database.prepare('INSERT OR REPLACE INTO record (kind, id, body) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM record WHERE kind = ? AND id = ?');
  return {
    load(into) {
      for (const { kind, id, body } of all.iterate())
        into(String(kind), String(id), JSON.parse(String(body)));
    },
    save(changes) {
      database.exec('BEGIN');
      try {
        for (const { kind, id, value } of changes) {
          if (value === undefined) remove.run(kind, id);
          else put.run(kind, id, JSON.stringify(value));
        }
        database.exec('COMMIT');
      } catch (error) {
        // SQLite rolls back automatically after some errors; Node before 22.16 cannot tell.
        if (database.isTransaction !== false) database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => database.close(),
  };
}

function open(sqlite: typeof import('node:sqlite'), path: string): DatabaseSync {
  try {
    makeForOwner(path);
    return new sqlite.DatabaseSync(path);
  } catch (cause) {
    const message = `The file ${path} could not be opened. Its directory must exist and be writable.`;
    throw new InvalidStateError(message, { cause });
  }
}

/** Files that contain the keys, which other users of the computer must not read (threat A46). Windows has no such modes. */

const FILE = 0o600;
const FOLDER = 0o700;
const OTHERS = 0o077;

/** Creates a missing file, so that its next writer does not create a readable one. */
function makeForOwner(path: string): void {
  const fs = globalThis.process.getBuiltinModule('node:fs');
  // SQLite's names for a database without a file.
  if (path === '' || path === ':memory:' || path.startsWith('file:')) return;
  try {
    // `x`: an existing file is not even opened, since closing it would drop the locks of this process.
    fs.closeSync(fs.openSync(path, 'wx', FILE));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Corrects the modes of existing files and folders; warns if they belong to another user and stay readable. */
export function forOwnerOnly(...paths: readonly string[]): void {
  if (globalThis.process.platform === 'win32') return;
  const fs = globalThis.process.getBuiltinModule('node:fs');
  for (const path of paths) {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    if (found === undefined || (found.mode & OTHERS) === 0) continue;
    try {
      fs.chmodSync(path, found.isDirectory() ? FOLDER : FILE);
    } catch {
      console.warn(
        `${path} contains the sandbox's keys, and other users of this computer can read it: its mode could not be changed. Choose a file that you own.`,
      );
    }
  }
}
