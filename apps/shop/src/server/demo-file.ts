import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { sqlite } from '@payment-service/inbox';

/**
 * Each demo has its own database file, since the sandbox also starts empty; the file is removed with the process. It is beside
 * the sources, where git ignores it, or on another disk of this computer if those are in memory.
 */
export function demoFile(): string {
  const project = dirname(import.meta.dirname);
  const parent = [project, tmpdir(), '/var/tmp', homedir()].find(keepsFiles) ?? project;
  const folder = mkdtempSync(join(parent, 'demo-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'shop.sqlite');
}

/** The inbox refuses a folder that would lose what was acknowledged: memory, a network. */
function keepsFiles(folder: string): boolean {
  try {
    sqlite(join(folder, 'shop.sqlite'));
    return true;
  } catch (error) {
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}
