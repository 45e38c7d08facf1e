import { hash, randomUUID } from 'node:crypto';
import { existsSync, fsync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigurationError } from '@payment-service/core';
import { failureCode } from '../reporting/events.ts';
import { OWN_FILE, OWN_FOLDER } from '../store/own-files.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import { SqliteThread } from '../store/sqlite/sqlite.ts';
import type { SqliteValues } from '../store/sqlite/thread-messages.ts';
import { type Place, type Row, textOf } from '../store/store.ts';
import { MAX_BODIES } from './verified-record.ts';

/** How long to wait for the other processes that use the file, in milliseconds: each holds its lock for one commit. */
const LOCK_TIMEOUT_MS = 3000;
/** The smallest unit of a disk. */
const BLOCK = ' '.repeat(4096);
/** The id is never used again, not even in another file: what is removed by its id was read by it. */
const TABLE = [
  `create table if not exists delivery (
    place integer primary key,
    id text not null unique,
    owner text not null,
    transition_id text not null,
    kept_at integer not null,
    is_refused integer not null default 0,
    text text not null
  ) strict`,
  'create index if not exists delivery_transition on delivery (owner, transition_id)',
];
/** The name of a file of an earlier version, which had one for each delivery: `<owner>-<milliseconds since 1970>-<UUID>.json`. */
const FORMER = /^([0-9a-f]{16})-(\d+)-.*\.json(\.refused)?$/;

/** Distinguishes the inboxes that share a spool. */
export function spoolOwner(account: string, { dialect, prefix }: Place): string {
  return hash('sha256', JSON.stringify([account, dialect, prefix])).slice(0, 16);
}

/** The database file of a spool. */
export function spoolFile(folder: string): string {
  return join(folder, 'spool.db');
}

/** The database file and those that SQLite keeps beside it. */
export function spoolFiles(folder: string): string[] {
  return ['', '-wal', '-shm'].map((end) => spoolFile(folder) + end);
}

/** All deliveries in a spool, of every owner. Creates and changes nothing. Rejects if it cannot be read. */
export async function deliveriesIn(folder: string): Promise<readonly Row[]> {
  if (!existsSync(spoolFile(folder))) return [];
  // Not a static import: on Node 22, loading it prints a warning to programs that use no SQLite.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(spoolFile(folder), { readOnly: true });
  try {
    database.exec(`pragma busy_timeout = ${LOCK_TIMEOUT_MS}`);
    // A process may be creating it, or was killed then.
    const isCreated = database.prepare("select 1 from sqlite_schema where name = 'delivery'").get();
    return isCreated ? database.prepare('select owner, kept_at, is_refused from delivery').all() : [];
  } finally {
    database.close();
  }
}

export interface KeptDelivery {
  readonly id: string;
  readonly isRefused: boolean;
  readonly text: string;
}

/**
 * The deliveries of one owner in the file of a spool. Each write is a transaction that is on the disk before its promise resolves
 * (decision D39). The file is opened, or created, when it is first needed.
 */
export class SpoolFile {
  readonly #folder: string;
  readonly #owner: string;
  readonly #thread: SqliteThread;
  #opening: Promise<void> | undefined;
  #isOpen = false;

  constructor(folder: string, owner: string) {
    this.#folder = folder;
    this.#owner = owner;
    this.#thread = new SqliteThread({ path: spoolFile(folder), lockTimeoutMs: LOCK_TIMEOUT_MS });
  }

  /** Rejects if the path is that of a file, and with the error of the file system if nothing can be written. */
  async check(): Promise<void> {
    // A new folder would prevent an operator from restoring the one that is missing.
    if (await this.isMoved()) return;
    await makeFolder(this.#folder);
    const probe = join(this.#folder, `${randomUUID()}.tmp`);
    await writeFile(probe, BLOCK, { mode: OWN_FILE }).finally(() => rm(probe, { force: true }));
  }

  /** The file that is open was moved, removed or replaced: nothing is written to it, and what it holds can still be read. */
  async isMoved(): Promise<boolean> {
    if (!this.#isOpen) return false;
    return this.#ask('read', 'select 1', {}).then(
      () => false,
      (error: unknown) => {
        if (failureCode(error) === FILE_CHANGED) return true;
        throw error;
      },
    );
  }

  /** @returns false if the limit of its transition is reached. */
  async add(transitionId: string, text: string): Promise<boolean> {
    return this.#add(this.#owner, transitionId, Date.now(), text);
  }

  /** In the order in which they were added. */
  async list(): Promise<readonly Pick<KeptDelivery, 'id' | 'isRefused'>[]> {
    if (this.#opening === undefined && !existsSync(spoolFile(this.#folder))) return [];
    const rows = await this.#ask(
      'last read',
      'select id, is_refused from delivery where owner = $owner order by place',
      {
        owner: this.#owner,
      },
    );
    return rows.map(keptIn);
  }

  /** The given deliveries that are still there. */
  async read(ids: readonly string[]): Promise<readonly KeptDelivery[]> {
    const text =
      'select id, is_refused, text from delivery where id in (select value from json_each($ids)) order by place';
    const rows = await this.#ask('last read', text, { ids: JSON.stringify(ids) });
    return rows.map((row) => ({ ...keptIn(row), text: textOf(row, 'text') }));
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const text = 'delete from delivery where id in (select value from json_each($ids))';
    await this.#ask('write', text, { ids: JSON.stringify(ids) });
  }

  /** Keeps it as evidence. @returns false if it was refused before. */
  async refuse(id: string): Promise<boolean> {
    const text = 'update delivery set is_refused = 1 where id = $id and is_refused = 0 returning id';
    return (await this.#ask('write', text, { id })).length > 0;
  }

  /** Returns the space of removed deliveries to the disk, and leaves nothing of their bodies there. */
  async shrink(): Promise<void> {
    // A read has no transaction around it, in which SQLite refuses both.
    await this.#ask('read', 'vacuum', {});
    await this.#ask('read', 'pragma wal_checkpoint(truncate)', {});
  }

  /** Takes over the files of an earlier version. */
  async takeFormer(): Promise<void> {
    const names = existsSync(this.#folder) ? (await readdir(this.#folder)).sort() : [];
    for (const name of names) {
      const [, owner, keptAt] = FORMER.exec(name) ?? [];
      if (owner === undefined) continue;
      const path = join(this.#folder, name);
      const text = await readFile(path, 'utf8');
      // Its name in place of a transition, since each of them was within the limit.
      await this.#add(owner, name, Number(keptAt), text);
      await rm(path, { force: true });
    }
  }

  /** Closes the file, which is opened again when it is needed. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#opening = undefined;
    await this.#thread.close();
  }

  async #add(owner: string, transitionId: string, keptAt: number, text: string): Promise<boolean> {
    const insert = `insert into delivery (id, owner, transition_id, kept_at, text)
      select $id, $owner, $transitionId, $keptAt, $text
      where (select count(*) from delivery where owner = $owner and transition_id = $transitionId and is_refused = 0) < ${MAX_BODIES}
      returning id`;
    const values = { id: randomUUID(), owner, transitionId, keptAt, text };
    return (await this.#ask('write', insert, values)).length > 0;
  }

  /** `last read` reads what is open, even if it was moved. */
  async #ask(
    kind: 'read' | 'last read' | 'write',
    text: string,
    values: SqliteValues,
  ): Promise<readonly Row[]> {
    this.#opening ??= this.#open();
    await this.#opening;
    return (await this.#thread.request({ kind, text, values })).rows;
  }

  async #open(): Promise<void> {
    try {
      await makeFolder(this.#folder);
      for (const text of TABLE) await this.#thread.request({ kind: 'write', text, values: [] });
      this.#isOpen = true;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}

function keptIn(row: Row): Pick<KeptDelivery, 'id' | 'isRefused'> {
  return { id: textOf(row, 'id'), isRefused: row['is_refused'] === 1 };
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: OWN_FOLDER });
    // A umask may have taken the rights of the owner as well.
    await chmod(path, OWN_FOLDER);
  } catch (error) {
    if (failureCode(error) !== 'EEXIST') throw error;
    if (!(await stat(path)).isDirectory()) {
      const message = `${path} is a file, but the spool is a folder. Move the file, or set spool to another path.`;
      throw new ConfigurationError('spool', message);
    }
  }
  // Also of a folder that exists: the process that created it may have ended before doing this.
  await syncFolder(dirname(path));
}

/** Syncs the names in a folder: one that is not on the disk is lost in a power failure. SQLite syncs the folder of its files. */
async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and its file systems log every name.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  // Not folder.sync(), which Yarn's Plug'n'Play does not implement.
  await promisify(fsync)(folder.fd).finally(() => folder.close());
}
