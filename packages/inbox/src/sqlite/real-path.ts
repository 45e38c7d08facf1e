import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** One name for a file that symbolic links give several, such as one for each release of a program. It may not exist yet. */
export function realPath(path: string): string {
  if (existsSync(path)) return realpathSync.native(path);
  return join(realpathSync.native(dirname(path)), basename(path));
}
