import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UnavailableError } from '@payment-service/core';
import { failureCode } from '../events.ts';
import type { Settings } from '../options.ts';
import { Group } from './group.ts';
import type { IntakeOutcome } from './keep.ts';
import { type IntakeRecord, MAX_BODIES } from './record.ts';

const MAX_GROUP = 64;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** What a disk keeps at least for a file. */
const BLOCK = ' '.repeat(4096);

interface Line {
  /** Whose delivery it is, for a file that several inboxes share: the account, and where it is kept. */
  readonly owner: string;
  readonly record: IntakeRecord;
}

interface Failure {
  readonly error: unknown;
}

export interface SpoolOptions {
  readonly path: string;
  readonly owner: string;
  readonly settings: Settings;
  /** Hands a delivery over to the store. Rejects while the store is away. */
  readonly store: (record: IntakeRecord) => Promise<IntakeOutcome>;
}

/**
 * Keeps deliveries in a local file while the store is away, and hands them over by itself afterwards. A line leaves the file
 * only after the store has it: it is handed over twice at worst, which the store does not mind.
 *
 * Any number of inboxes and processes may append to one file. To drain it, it is renamed first: who appends looks, after
 * the fsync, whether the file is still at its path, and writes the line again if not.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #group: Group<IntakeRecord, boolean>;
  /** How many bodies of a transition are here: a flood of forged ones cannot fill the disk. */
  readonly #counts = new Map<string, number>();
  #file: FileHandle | undefined;
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();
  #failures = 0;
  /** How many are handed over together. */
  #chunk = MAX_GROUP;
  #isClosed = false;
  /** While true, deliveries come here at once, without waiting for the store again. */
  isStoreAway = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#group = new Group({ send: (records) => this.#append(records), lanes: 1, most: MAX_GROUP });
  }

  /** Looks for what an earlier process left. */
  start(): void {
    this.#schedule(0);
  }

  /** @throws When the file cannot be used, or its disk is full. */
  async check(): Promise<void> {
    const file = await open(this.#options.path, 'a');
    await file.close();
    const other = `${this.#options.path}.check-${randomUUID()}`;
    try {
      await writeFile(other, BLOCK, { flush: true });
    } finally {
      await isDone(unlink(other));
    }
  }

  /** @returns false when it could not be kept here. */
  async keep(record: IntakeRecord): Promise<boolean> {
    try {
      const isKept = await this.#group.add(record);
      if (isKept) this.#schedule(this.#pause());
      return isKept;
    } catch (error) {
      this.#options.settings.emit({ name: 'spool.failed', failure: failureCode(error) });
      return false;
    }
  }

  /** After the store has failed. */
  async keepInstead(record: IntakeRecord): Promise<boolean> {
    const isKept = await this.keep(record);
    if (isKept) this.isStoreAway = true;
    return isKept;
  }

  /** How many deliveries of this inbox wait here. */
  async count(): Promise<number> {
    let count = 0;
    for (const path of await this.#files()) {
      count += (await linesOf(path)).filter(({ owner }) => owner === this.#options.owner).length;
    }
    return count;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#draining;
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  async #append(records: readonly IntakeRecord[]): Promise<boolean[]> {
    const kept = records.map(({ transitionId }) => {
      const count = this.#counts.get(transitionId) ?? 0;
      this.#counts.set(transitionId, count + 1);
      return count < MAX_BODIES;
    });
    const lines = records.flatMap((record, index) =>
      kept[index] ? [lineOf({ owner: this.#options.owner, record })] : [],
    );
    if (lines.length > 0) await this.#write(lines.join(''));
    return kept;
  }

  /** One after the other: a line belongs to the file that was open when it was written, and that is the one to look at. */
  #write(text: string): Promise<void> {
    const written = this.#writing.then(() => this.#writeNow(text));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #writeNow(text: string): Promise<void> {
    for (;;) {
      this.#file ??= await opened(this.#options.path);
      try {
        await this.#file.appendFile(text);
        await this.#file.datasync();
        if (await isAt(this.#options.path, this.#file)) return;
      } catch (error) {
        await this.#reopen();
        throw error;
      }
      // Renamed to be drained: whether this line was read is not known.
      await this.#reopen();
    }
  }

  async #reopen(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#draining = this.#drain();
    }, ms);
    this.#timer.unref();
  }

  #pause(): number {
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures, 10));
    return Math.round(longest * (0.5 + this.#options.settings.random() / 2));
  }

  async #drain(): Promise<void> {
    const { emit } = this.#options.settings;
    try {
      const count = await this.#handOver();
      this.isStoreAway = false;
      this.#failures = 0;
      this.#counts.clear();
      if (count > 0) emit({ name: 'spool.drained', count });
      this.#timer = undefined;
      // Who drains the same file for another inbox may be about to write back what is ours.
      this.#schedule((await this.count()) > 0 ? this.#pause() : LONGEST_PAUSE_MS);
    } catch (error) {
      const retryInMs = this.#pause();
      emit({ name: 'store.unavailable', failure: failureCode(error), retryInMs });
      this.#failures += 1;
      this.#timer = undefined;
      this.#schedule(retryInMs);
    }
  }

  /** The spool, and what was being drained when a process ended. */
  async #files(): Promise<string[]> {
    const folder = dirname(this.#options.path);
    const own = basename(this.#options.path);
    const names = await readdir(folder);
    return names
      .filter((name) => name === own || name.startsWith(`${own}.draining-`))
      .map((name) => join(folder, name));
  }

  /** @returns how many deliveries were handed over. @throws What the store throws; the rest stays. */
  async #handOver(): Promise<number> {
    let count = 0;
    let failed: Failure | undefined;
    for (const path of await this.#files()) {
      const isDraining = path !== this.#options.path;
      const drained = isDraining ? path : `${path}.draining-${randomUUID()}`;
      if (!isDraining) {
        const owners = (await linesOf(path)).map(({ owner }) => owner);
        if (!owners.includes(this.#options.owner)) continue;
        if (!(await isDone(rename(path, drained)))) continue; // Another process is draining it.
      }
      const lines = await linesOf(drained);
      const left = lines.filter(({ owner }) => owner !== this.#options.owner);
      const own = lines.filter(({ owner }) => owner === this.#options.owner);
      while (own.length > 0 && failed === undefined) {
        const chunk = own.splice(0, this.#chunk);
        const failures = await Promise.all(chunk.map(({ record }) => this.#store(record)));
        failed = failures.find((failure) => failure !== undefined);
        count += failures.filter((failure) => failure === undefined).length;
        // To the end, and one by one: the store may never take one of them, which must hold back no other.
        left.push(...chunk.filter((_, index) => failures[index] !== undefined));
        this.#chunk = failed === undefined ? Math.min(MAX_GROUP, this.#chunk * 2) : 1;
      }
      // What stays is written again before the file that holds it is removed.
      if (own.length + left.length > 0) await this.#write([...own, ...left].map(lineOf).join(''));
      await isDone(unlink(drained));
    }
    if (failed !== undefined) throw failed.error;
    return count;
  }

  async #store(record: IntakeRecord): Promise<Failure | undefined> {
    try {
      const outcome = await this.#options.store({ ...record, isAcknowledged: true });
      if (outcome !== 'full') return undefined;
      return { error: new UnavailableError('The store did not take a delivery of the spool.') };
    } catch (error) {
      return { error };
    }
  }
}

/** Between line breaks of its own: the torn line of a process that was killed spoils no other. */
function lineOf(line: Line): string {
  return `\n${JSON.stringify(line)}\n`;
}

async function linesOf(path: string): Promise<Line[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (failureCode(error) === 'ENOENT') return '';
    throw error;
  });
  // Each one once: two that drain one file at the same time, in vain, both write again what it held.
  return [...new Set(text.split('\n'))].flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Line];
    } catch {
      return []; // Torn: its process was killed before the fsync, so it was never acknowledged.
    }
  });
}

/** The file, and its name in the folder: without that, a power failure could leave lines that nobody finds. */
async function opened(path: string): Promise<FileHandle> {
  const file = await open(path, 'a');
  if (process.platform === 'win32') return file; // Its folders cannot be opened, and need not be.
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
  return file;
}

/** False when the file is not there any more. */
async function isDone(change: Promise<void>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (failureCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function isAt(path: string, file: FileHandle): Promise<boolean> {
  const own = await file.stat();
  const there = await stat(path).catch(() => undefined);
  return there?.ino === own.ino && there.dev === own.dev;
}
