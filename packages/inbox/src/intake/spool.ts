import { hash, randomUUID } from 'node:crypto';
import { existsSync, fchmod, fsync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigurationError } from '@payment-service/core';
import { failureCode } from '../events.ts';
import { backoff, type Settings, STORE_RETRY } from '../options.ts';
import { closeToOthers, OWN_FILE, OWN_FOLDER, openFilesMessage, openToOthers } from '../own-files.ts';
import { warn } from '../problems.ts';
import type { IntakeRecord } from '../records.ts';
import type { Place } from '../store/store.ts';
import { MAX_BODIES, recordIn } from './record.ts';

const MAX_GROUP = 64;
/** A round ends after this many failures: the store is unavailable, or refuses some of the deliveries. */
const MAX_FAILED = 3;
/** The smallest unit of a disk. */
const BLOCK = ' '.repeat(4096);

export interface SpoolOptions {
  /** A folder that several inboxes and processes may share. */
  readonly path: string;
  /** From `spoolOwner()`. */
  readonly owner: string;
  readonly settings: Settings;
  /** Stores a delivery, which no limit refuses. Rejects while the store is unavailable. */
  readonly store: (record: IntakeRecord) => Promise<unknown>;
}

/**
 * Keeps deliveries in a folder while the store is unavailable, each in a synced file, and stores them automatically afterwards.
 * A file is complete from the moment it has its name, `<owner>-<milliseconds since 1970>-<UUID>.json`, and is removed
 * after the store has its delivery. Two processes may store the same one at the same time: the store keeps it once.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #prefix: string;
  /** How many bodies of each transition are here, so that a flood of forged ones cannot fill the disk. */
  readonly #counts = new Map<string, number>();
  /** How many writes have begun. */
  #begun = 0;
  readonly #writing = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #failures = 0;
  #isClosed = false;
  /** What an earlier build left readable was looked for. */
  #isClosedToOthers = false;
  /** True until the folder is empty again: each outage is reported once, and so is its end. */
  #isReported = false;
  /**
   * While true, deliveries are spooled immediately, without waiting for the store again. Becomes false when the store accepts
   * one.
   */
  isStoreUnavailable = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#prefix = `${options.owner}-`;
  }

  /** Looks for what earlier processes left. */
  start(): void {
    this.#schedule(0);
  }

  /** Rejects if the path is that of a file, and with the error of the file system if nothing can be written. */
  async check(): Promise<void> {
    const { path } = this.#options;
    await makeFolder(path);
    // The process that created the folder may have ended before doing this.
    await syncFolder(dirname(path));
    await rm(await writeTemporary(path, BLOCK));
  }

  /** How many deliveries of this owner wait here. */
  async count(): Promise<number> {
    return (await this.#names()).length;
  }

  /**
   * @param failure Why the store did not accept it.
   * @returns false if it could not be kept here.
   */
  async keep(record: IntakeRecord, failure: string): Promise<boolean> {
    const count = this.#counts.get(record.transitionId) ?? 0;
    if (count >= MAX_BODIES) return false;
    this.#counts.set(record.transitionId, count + 1);
    this.#begun += 1;
    const writing = this.#write(JSON.stringify(record));
    this.#writing.add(writing);
    try {
      await writing;
      this.#schedule(this.#pause());
      this.#report(
        true,
        `The database did not accept a callback (${failure}), so callbacks are kept in the folder ${this.#options.path} and ` +
          'acknowledged. They are stored automatically once the database accepts them. Restore it, and do not delete files there.',
      );
      return true;
    } catch (error) {
      this.#options.settings.emit({ name: 'spool.failed', failure: failureCode(error) });
      return false;
    } finally {
      this.#writing.delete(writing);
    }
  }

  #report(isSpooling: boolean, message: string): void {
    if (this.#isReported === isSpooling) return;
    this.#isReported = isSpooling;
    const kind = isSpooling ? 'callbacks_spooled' : 'callbacks_stored';
    warn(this.#options.settings.report, kind, message);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.allSettled([this.#draining, ...this.#writing]);
  }

  /** In the order of time. */
  async #names(): Promise<string[]> {
    return (await namesIn(this.#options.path)).filter((name) => name.startsWith(this.#prefix));
  }

  /** Resolves when the file and its name are on the disk. */
  async #write(text: string): Promise<void> {
    const { path } = this.#options;
    await makeFolder(path);
    const temporary = await writeTemporary(path, text);
    await rename(temporary, join(path, `${this.#prefix}${Date.now()}-${randomUUID()}.json`));
    await syncFolder(path);
  }

  #pause(): number {
    return backoff(this.#failures + 1, { ...this.#options.settings, retry: STORE_RETRY });
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#draining = this.#drain();
    }, ms).unref();
  }

  /** The first alone, then larger and larger groups. A delivery that the store refuses fails with its whole group. */
  async #drain(): Promise<void> {
    const { emit, random } = this.#options.settings;
    let [taken, failed, size] = [0, 0, 1];
    let failure: string | undefined;
    try {
      await this.#closeToOthers();
      // A file that is being written has no name yet, so an empty folder proves nothing then.
      const [isQuiet, begun] = [this.#writing.size === 0, this.#begun];
      const names = await this.#names();
      if (names.length === 0 && isQuiet && begun === this.#begun) {
        this.#counts.clear();
        this.#report(false, 'All callbacks from the spool are now stored in the database.');
      }
      // After a failure, starting at a random one, since the store may never accept the first ones.
      const start = this.#failures === 0 ? 0 : Math.floor(random() * names.length);
      const left = [...names.slice(start), ...names.slice(0, start)];
      while (left.length > 0 && failed < MAX_FAILED && !this.#isClosed) {
        const results = await Promise.allSettled(left.splice(0, size).map((name) => this.#storeFile(name)));
        const rejected = results.find((result) => result.status === 'rejected');
        taken += results.filter((result) => result.status === 'fulfilled' && result.value).length;
        if (taken > 0) this.isStoreUnavailable = false;
        if (rejected === undefined) size = Math.min(MAX_GROUP, size * 2);
        else [failed, failure] = [failed + 1, failureCode(rejected.reason)];
        // The next callback gets this error instead of a file that nothing would ever store.
        if (rejected?.reason instanceof ConfigurationError) this.isStoreUnavailable = false;
      }
      if (failure === undefined) this.isStoreUnavailable = false;
      this.#failures = failure === undefined ? 0 : taken > 0 ? 1 : this.#failures + 1;
    } catch (error) {
      this.#failures += 1;
      emit({ name: 'spool.failed', failure: failureCode(error) });
    }
    const pauseMs = taken > 0 || failure !== undefined ? this.#pause() : STORE_RETRY.longestDelayMs;
    if (failure !== undefined) emit({ name: 'store.unavailable', failure, retryInMs: pauseMs });
    if (taken > 0) emit({ name: 'spool.drained', count: taken });
    this.#timer = undefined;
    this.#schedule(pauseMs);
  }

  /** Once: everything that is written from now on is closed to others from its first byte. */
  async #closeToOthers(): Promise<void> {
    if (this.#isClosedToOthers) return;
    const { path, settings } = this.#options;
    const open = await closeSpool(path);
    this.#isClosedToOthers = true;
    if (open.length > 0) warn(settings.report, 'files_readable', openFilesMessage(open));
  }

  /** @returns false if another process has stored it, and if it is damaged, which is reported. */
  async #storeFile(name: string): Promise<boolean> {
    const { path, settings, store } = this.#options;
    let record: IntakeRecord;
    try {
      record = recordIn(await readFile(join(path, name), 'utf8'));
    } catch (error) {
      const failure = failureCode(error);
      if (failure !== 'ENOENT') settings.emit({ name: 'spool.failed', failure });
      return false;
    }
    await store(record);
    await rm(join(path, name), { force: true });
    return true;
  }
}

/** Distinguishes the inboxes that share a folder, in the names of their files. */
export function spoolOwner(account: string, { dialect, prefix }: Place): string {
  return hash('sha256', JSON.stringify([account, dialect, prefix])).slice(0, 16);
}

/** All deliveries in a folder, of every owner, by the names of their files. */
export async function deliveriesIn(
  path: string,
): Promise<{ readonly owner: string; readonly keptAt: number }[]> {
  const matches = (await namesIn(path)).map((name) => /^([0-9a-f]{16})-(\d+)-.*\.json$/.exec(name));
  return matches.flatMap((match) =>
    match === null ? [] : [{ owner: match[1] ?? '', keptAt: Number(match[2]) }],
  );
}

/** The name of a file of a spool, of any owner, or of one that is being written. */
const OWN_NAME = /^([0-9a-f]{16}-\d+-.*\.json|[0-9a-f-]{36}\.tmp)$/;

/**
 * The folder of a spool and its files. Without a folder that holds anything else: the option may name one that other programs
 * share, such as /tmp.
 */
async function ownPaths(path: string): Promise<string[]> {
  const names = await namesIn(path);
  const own = names.filter((name) => OWN_NAME.test(name)).map((name) => join(path, name));
  return own.length === names.length && existsSync(path) ? [path, ...own] : own;
}

/** What other users can read of a spool, the folder included. A folder that is closed to them closes its files too. */
export async function openPathsIn(path: string): Promise<string[]> {
  const folder = await stat(path).catch(() => undefined);
  if (folder?.isDirectory() !== true || openToOthers([path]).length === 0) return [];
  return openToOthers([path, ...(await ownPaths(path))]);
}

/** Corrects what an earlier build has left. @returns what stays open to others. */
async function closeSpool(path: string): Promise<string[]> {
  closeToOthers(await ownPaths(path));
  return openPathsIn(path);
}

/** In the order of time for each owner. */
async function namesIn(path: string): Promise<string[]> {
  return existsSync(path) ? (await readdir(path)).sort() : [];
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: OWN_FOLDER });
    // A umask may have taken the rights of the owner as well.
    await chmod(path, OWN_FOLDER);
  } catch (error) {
    if (failureCode(error) !== 'EEXIST') throw error;
    if ((await stat(path)).isDirectory()) return;
    const message = `${path} is a file, but the spool is a folder. Move the file, or set spool to another path.`;
    throw new ConfigurationError('spool', message);
  }
  await syncFolder(dirname(path));
}

/** A synced file without its name. One that a killed process leaves was never acknowledged. */
async function writeTemporary(folder: string, text: string): Promise<string> {
  const path = join(folder, `${randomUUID()}.tmp`);
  try {
    const file = await open(path, 'wx', OWN_FILE);
    try {
      await promisify(fchmod)(file.fd, OWN_FILE);
      await file.writeFile(text);
      // Not file.sync(), which Yarn's Plug'n'Play does not implement.
      await promisify(fsync)(file.fd);
    } finally {
      await file.close();
    }
    return path;
  } catch (error) {
    // On a full disk, the part that was written would occupy space.
    await rm(path, { force: true });
    throw error;
  }
}

/** Syncs the names in a folder: a synced file whose name is not on the disk is lost in a power failure. */
async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and its file systems log every name.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  await promisify(fsync)(folder.fd).finally(() => folder.close());
}
