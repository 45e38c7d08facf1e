import { existsSync, readlinkSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ConfigurationError } from '@payment-service/core';

/** File systems by their number in Linux. SQLite's write-ahead log needs shared memory and real locks. */
const UNSAFE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'a network file system (NFS)'],
  [0x517b, 'a network file system (SMB)'],
  [0xff534d42, 'a network file system (CIFS)'],
  [0xfe534d42, 'a network file system (SMB2)'],
  [0x01021994, 'memory (tmpfs)'],
  [0x858458f6, 'memory (ramfs)'],
]);

/**
 * The absolute path of a database file, without symbolic links.
 *
 * @throws {ConfigurationError} For memory, a URI, and a network file system as far as it can be detected.
 */
export function databasePath(
  path: unknown,
  option: string,
  typeOf: (folder: string) => number = fileSystemType,
): string {
  if (typeof path !== 'string' || path.trim() === '' || path.includes('\0')) throw refused(option);
  if (path.includes(':memory:') || /^file:/i.test(path)) throw refused(option, 'memory');
  if (/^(\\\\|\/\/)/.test(path)) throw refused(option, 'a network share');
  const real = realPath(resolve(path), option);
  const fileSystem = UNSAFE.get(typeOf(dirname(real)));
  if (fileSystem !== undefined) throw refused(option, fileSystem);
  return real;
}

/**
 * The absolute path of a folder, which may not exist yet.
 *
 * @throws {ConfigurationError} As `databasePath()` does.
 */
export function spoolPath(given: string): string {
  const path = databasePath(given, 'spool');
  // The folder can be the mount point of another file system than that of its parent.
  if (existsSync(path)) databasePath(join(path, 'file'), 'spool');
  return path;
}

/** The file may not exist yet. */
function realPath(path: string, option: string): string {
  if (existsSync(path)) return realpathSync.native(path);
  if (existsSync(dirname(path))) {
    const folder = realpathSync.native(dirname(path));
    const real = join(folder, basename(path));
    const target = linkTarget(real);
    if (target === undefined) return real;
    // SQLite would create the file that the link names: the folder of that file counts. Throws for a circle of links.
    statSync(real, { throwIfNoEntry: false });
    return realPath(resolve(folder, target), option);
  }
  throw new ConfigurationError(
    option,
    `The folder of ${option}, ${dirname(path)}, does not exist. Create it, or change ${option}.`,
  );
}

/** Undefined if it is not a symbolic link. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function fileSystemType(folder: string): number {
  return process.platform === 'linux' ? statfsSync(folder).type >>> 0 : 0;
}

function refused(option: string, where?: string): ConfigurationError {
  const why = where === undefined ? '' : ` This is ${where}, where acknowledged callbacks can be lost.`;
  return new ConfigurationError(option, `${option} must be the path of a file on a local disk.${why}`);
}
