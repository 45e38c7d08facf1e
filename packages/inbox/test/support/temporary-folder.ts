import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const TMPFS = 0x01021994;

/** A folder on a disk: if /tmp is in memory, the inbox refuses it. */
export function folderOnDisk(): string {
  const isMemory = process.platform === 'linux' && statfsSync(tmpdir()).type === TMPFS;
  return mkdtempSync(join(isMemory && existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'inbox-test-'));
}

/** The same, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = folderOnDisk();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
