/** Files that hold the keys, and that other users of the computer must not read (threat A46). Windows has no such modes. */

const FILE = 0o600;
const FOLDER = 0o700;
const OTHERS = 0o077;

const fileSystem = (): typeof import('node:fs') | undefined =>
  globalThis.process?.getBuiltinModule?.('node:fs');

/** Makes a file that is not there, so that what writes into it next does not make it readable. */
export function makeForOwner(path: string): void {
  const fs = fileSystem();
  // Names of SQLite for a database without a file.
  if (fs === undefined || path === '' || path === ':memory:' || path.startsWith('file:')) return;
  try {
    // `x`: a file that is there is not even opened, since closing it would drop the locks that this process has on it.
    fs.closeSync(fs.openSync(path, 'wx', FILE));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Corrects the modes of files and folders that are there; warns where they are another user's, and stay readable. */
export function forOwnerOnly(...paths: readonly string[]): void {
  const fs = fileSystem();
  if (fs === undefined || globalThis.process.platform === 'win32') return;
  for (const path of paths) {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    if (found === undefined || (found.mode & OTHERS) === 0) continue;
    try {
      fs.chmodSync(path, found.isDirectory() ? FOLDER : FILE);
    } catch {
      console.warn(
        `${path} holds the keys of the sandbox, other users of this computer can read it, and its mode could not be changed. Choose a file of your own.`,
      );
    }
  }
}
