import { readFileSync } from 'node:fs';

/** The content of a file in sql/. The build replaces the call with it, so that a bundle needs no files. */
export function readSql(name: string): string {
  return readFileSync(new URL(`../../sql/${name}.sql`, import.meta.url), 'utf8');
}
