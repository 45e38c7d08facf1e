/** Whether the paths of a database still name the files that this program has open (threat A74). */
import { statSync } from 'node:fs';

/** The `code` of an error that says that a file of the database was moved, removed or replaced. */
export const FILE_CHANGED = 'DATABASE_FILE_CHANGED';

/**
 * SQLite keeps writing to the files that it has opened, even if their paths name others or nothing. On Windows, a file that is
 * open can be neither moved nor removed.
 */
export class OpenedFiles {
  /** The database first: without it, its log is of no use. */
  readonly #paths: readonly string[];
  readonly #opened = new Map<string, string>();

  constructor(path: string) {
    this.#paths = process.platform === 'win32' ? [] : [path, `${path}-shm`, `${path}-wal`];
  }

  /** Before the first connection opens the database: the other files may still be those of an earlier one. */
  open(): void {
    this.#opened.clear();
    const [path] = this.#paths;
    const found = path === undefined ? undefined : identityOf(path);
    if (path !== undefined && found !== undefined) this.#opened.set(path, found);
  }

  /** A file that was not seen before is remembered. @returns What is no longer the same. */
  changed(): FileChange | undefined {
    const changes = this.#paths.flatMap((path) => {
      const [opened, found] = [this.#opened.get(path), identityOf(path)];
      if (opened === found) return [];
      if (opened !== undefined) return [{ path, isMissing: found === undefined }];
      if (found !== undefined) this.#opened.set(path, found);
      return [];
    });
    const [first] = changes;
    return first && { ...first, hasLocks: !changes.some(({ path }) => path.endsWith('-shm')) };
  }
}

/**
 * The device and the inode of what a path names, without its mode or its times; undefined if it names nothing. As long as a file
 * is open, no other one gets its inode.
 */
export function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined; // It is missing, or this user can no longer see it.
  }
}

interface FileChange {
  readonly path: string;
  readonly isMissing: boolean;
  /** Other programs still see the locks of this one, so it may write to the database file. */
  readonly hasLocks: boolean;
}

/** What was observed, and what to do. */
export function changedMessage({ path, isMissing }: FileChange): string {
  return (
    `${path} ${isMissing ? 'is missing' : 'is another file'}: it was moved, removed or replaced after this program had opened ` +
    'it. Until it is back, no callback is acknowledged and nothing is applied. End every program that uses the database, not ' +
    'with SIGKILL. Then put the file back with its -wal file, or restore a backup and remove the old -wal and -shm files, which do ' +
    'not belong to it. Start the programs again.'
  );
}
