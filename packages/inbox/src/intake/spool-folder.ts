import { hash, randomUUID } from 'node:crypto';
import { existsSync, fchmod, fsync } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigurationError } from '@payment-service/core';
import { failureCode } from '../reporting/events.ts';
import { closeToOthers, OWN_FILE, OWN_FOLDER, openToOthers } from '../store/own-files.ts';
import type { Place } from '../store/store.ts';

/** The end of the name of a file that nothing is stored from. */
export const REFUSED = '.refused';
/** Distinguishes the inboxes that share a folder, in the names of their files. */
export function spoolOwner(account: string, { dialect, prefix }: Place): string {
  return hash('sha256', JSON.stringify([account, dialect, prefix])).slice(0, 16);
}

/** The name of a delivery, refused or not. */
export const DELIVERY: RegExp = /^([0-9a-f]{16})-(\d+)-.*\.json(\.refused)?$/;
/** Of one that is being written. */
const TEMPORARY = /^[0-9a-f-]{36}\.tmp$/;

interface FoundDelivery {
  readonly owner: string;
  readonly keptAt: number;
  readonly isRefused: boolean;
}

/** All deliveries in a folder, of every owner, by the names of their files. */
export async function deliveriesIn(path: string): Promise<FoundDelivery[]> {
  const matches = (await namesIn(path)).map((name) => DELIVERY.exec(name));
  return matches.flatMap((match) => {
    if (match === null) return [];
    const [, owner = '', keptAt, refused] = match;
    return [{ owner, keptAt: Number(keptAt), isRefused: refused !== undefined }];
  });
}

/**
 * The folder of a spool and its files. Without a folder that holds anything else: the option may name one that other programs
 * share, such as /tmp.
 */
async function ownPaths(path: string): Promise<string[]> {
  const names = await namesIn(path);
  const own = names.filter((name) => DELIVERY.test(name) || TEMPORARY.test(name));
  const paths = own.map((name) => join(path, name));
  return own.length === names.length && existsSync(path) ? [path, ...paths] : paths;
}

/** What other users can read of a spool, the folder included. A folder that is closed to them closes its files too. */
export async function openPathsIn(path: string): Promise<string[]> {
  const folder = await stat(path).catch(() => undefined);
  if (folder?.isDirectory() !== true || openToOthers([path]).length === 0) return [];
  return openToOthers([path, ...(await ownPaths(path))]);
}

/** Corrects what an earlier build has left. @returns what stays open to others. */
export async function closeSpool(path: string): Promise<string[]> {
  closeToOthers(await ownPaths(path));
  return openPathsIn(path);
}

/** In the order of time for each owner. */
export async function namesIn(path: string): Promise<string[]> {
  return existsSync(path) ? (await readdir(path)).sort() : [];
}

export async function makeFolder(path: string): Promise<void> {
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
export async function writeTemporary(folder: string, text: string): Promise<string> {
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

/** Kept as evidence, where no round finds it. @returns false if another process has done it. */
export async function refuseFile(folder: string, name: string): Promise<boolean> {
  const path = join(folder, name);
  try {
    closeToOthers([path]);
    await rename(path, `${path}${REFUSED}`);
    await syncFolder(folder);
    return true;
  } catch (error) {
    if (failureCode(error) !== 'ENOENT') throw error;
    return false;
  }
}

/** Syncs the names in a folder: a synced file whose name is not on the disk is lost in a power failure. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and its file systems log every name.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  await promisify(fsync)(folder.fd).finally(() => folder.close());
}
