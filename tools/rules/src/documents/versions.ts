import type { TextFile } from '../repository.ts';

/** The versions of pnpm that the files name, such as `pnpm@12.21.0`, with the files for each. */
export function pnpmVersions(files: readonly TextFile[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { path, text } of files) {
    if (path === 'pnpm-lock.yaml') continue;
    for (const [, version = ''] of text.matchAll(/(?<![\w/-])pnpm@(\d[\w.-]*)/g))
      found.set(version, [...(found.get(version) ?? []), path]);
  }
  return found;
}
