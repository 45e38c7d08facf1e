import { hash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { type Emit, failureCode } from '../events.ts';
import type { IntakeRecord } from './record.ts';

/** The smallest unit that a disk stores. */
const BLOCK = ' '.repeat(4096);

/**
 * The deliveries of one owner in a folder that several inboxes and processes may share, each in a file of its own. A file is
 * complete from the moment it has its name: `<hash of the owner>-<milliseconds since 1970>-<UUID>.json`
 */
export class SpoolFolder {
  readonly #path: string;
  readonly #owner: string;
  readonly #emit: Emit;

  constructor(path: string, owner: string, emit: Emit) {
    this.#path = path;
    this.#emit = emit;
    this.#owner = hash('sha256', owner).slice(0, 16);
  }

  /**
   * @throws {ConfigurationError} When the path is that of a file.
   * @throws What the file system says when the folder cannot be written, or its disk is full.
   */
  async check(): Promise<void> {
    await makeFolder(this.#path);
    // The process that made the folder may have ended before it could do this.
    await syncFolder(dirname(this.#path));
    await rm(await writeTemporary(this.#path, BLOCK));
  }

  /** In the order of time. */
  async names(): Promise<string[]> {
    if (!existsSync(this.#path)) return [];
    const names = await readdir(this.#path);
    return names.filter((name) => name.startsWith(`${this.#owner}-`)).sort();
  }

  /** Resolves when the file and its name are on the disk. */
  async write(record: IntakeRecord): Promise<void> {
    await makeFolder(this.#path);
    const name = `${this.#owner}-${Date.now()}-${randomUUID()}.json`;
    await rename(await writeTemporary(this.#path, JSON.stringify(record)), join(this.#path, name));
    await syncFolder(this.#path);
  }

  /** @returns undefined when another process has removed it, and when it is damaged, which is reported. */
  async read(name: string): Promise<IntakeRecord | undefined> {
    try {
      return JSON.parse(await readFile(join(this.#path, name), 'utf8')) as IntakeRecord;
    } catch (error) {
      const failure = failureCode(error);
      if (failure !== 'ENOENT') this.#emit({ name: 'spool.failed', failure });
      return undefined;
    }
  }

  /** Another process may have done so already. */
  async remove(name: string): Promise<void> {
    await rm(join(this.#path, name), { force: true });
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
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
    await writeFile(path, text, { flush: true });
    return path;
  } catch (error) {
    // On a full disk, what was written of it would take up the space.
    await rm(path, { force: true });
    throw error;
  }
}

/** The names in a folder: a synced file whose name is not on the disk is lost with a power failure. */
async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and its file systems log every name.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}
