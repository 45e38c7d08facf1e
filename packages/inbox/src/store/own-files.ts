import { chmodSync, closeSync, fchmodSync, openSync, statSync } from 'node:fs';

/**
 * The modes of all files and folders with bodies in them: they hold names and phone numbers, which other users of the machine
 * must not read (threat A65). Windows has no such modes.
 */
export const OWN_FILE = 0o600;
export const OWN_FOLDER = 0o700;
const OTHERS = 0o077;

/**
 * Creates a missing file, so that SQLite does not create a readable one: the files that SQLite keeps beside it get its mode.
 * Other errors than an existing file are left to SQLite, which reports them with the path.
 */
export function makeOwnFile(path: string): void {
  let file: number;
  try {
    // `x`: an existing file is not even opened, since closing it would drop the locks of this process.
    file = openSync(path, 'wx', OWN_FILE);
  } catch {
    return;
  }
  try {
    // A umask may have taken the rights of the owner as well.
    fchmodSync(file, OWN_FILE);
  } finally {
    closeSync(file);
  }
}

/** Those of these files and folders that a group or other users can use; none on Windows. */
export function openToOthers(paths: readonly string[]): string[] {
  if (process.platform === 'win32') return [];
  return paths.filter((path) => ((modeOf(path) ?? 0) & OTHERS) !== 0);
}

/** Corrects the modes of existing files and folders. @returns those that others can still use, such as those of another user. */
export function closeToOthers(paths: readonly string[]): string[] {
  const open = openToOthers(paths);
  for (const path of open) {
    try {
      chmodSync(path, statSync(path).isDirectory() ? OWN_FOLDER : OWN_FILE);
    } catch {
      // It is found again below.
    }
  }
  return openToOthers(open);
}

/** What a person should do about files that stay open to others. */
export function openFilesMessage([first = '', ...others]: readonly string[]): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return (
    `Other users of this machine can use ${first}${more}, which can contain names and phone numbers. Its mode could not be ` +
    'corrected: it belongs to another user, or it is a folder with files of other programs. Give the inbox its own files ' +
    'and folder, owned by the user of this process, with the modes 0600 and 0700.'
  );
}

function modeOf(path: string): number | undefined {
  try {
    return statSync(path).mode;
  } catch {
    return undefined; // It is missing, or this user cannot even see it.
  }
}
