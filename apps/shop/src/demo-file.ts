import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * A database file of its own for each demo, since the sandbox starts afresh as well; it goes with the process. It stands
 * beside the sources, where git ignores it: the system's temporary folder may be memory, which the inbox refuses.
 */
export function demoFile(): string {
  const folder = mkdtempSync(join(dirname(import.meta.dirname), 'demo-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'shop.sqlite');
}
