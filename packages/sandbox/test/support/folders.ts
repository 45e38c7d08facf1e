import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder, removed when the test ends. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The modes of the files in a folder, by name; `.` is the folder itself. */
export async function modesIn(folder: string): Promise<Record<string, string>> {
  const names = ['.', ...(await readdir(folder))];
  const modes = names.map(async (name) => (await stat(join(folder, name))).mode & 0o777);
  return Object.fromEntries((await Promise.all(modes)).map((mode, at) => [names[at], mode.toString(8)]));
}

/** The modes of files that only the owner can read. Windows has no such modes. */
const isWindows = process.platform === 'win32';
export const OWN_FILE: string = isWindows ? '666' : '600';
export const OWN_FOLDER: string = isWindows ? '666' : '700';
