import { statSync } from 'node:fs';

/** Tells the file at a path from every other one, as long as it exists; undefined when there is none. */
export function fileIdentity(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file === undefined ? undefined : `${file.dev}:${file.ino}`;
}
