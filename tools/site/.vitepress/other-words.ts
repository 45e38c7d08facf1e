import { posix } from 'node:path';

/**
 * The words of the glossary's last column, by the page that the first one links to. No document uses them, but readers search
 * for them.
 *
 * @param folder the glossary's folder, from the root.
 */
export function otherWords(glossary: string, folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, link = '', never = ''] of glossary.matchAll(
    /^\| \[[^\]]+\]\(([^)#]+)[^)]*\) \|.*\| ([^|]+) \|$/gm,
  )) {
    const page = posix.join(folder, link);
    found.set(page, [found.get(page), never].filter(Boolean).join(', '));
  }
  return found;
}
