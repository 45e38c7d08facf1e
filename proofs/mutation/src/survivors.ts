import type { Fault } from './plant-faults.ts';

/** The entry in survivors.md for a fault that no test finds. */
export type Explained = Pick<Fault, 'file' | 'code'>;

/** `- name.ts: the line`, both in backticks. */
const ENTRY = /^- `([^`]+)`: (`+) ?(.+?) ?\2(?!`)/gm;

export function explainedIn(markdown: string): Explained[] {
  return [...markdown.matchAll(ENTRY)].map(([, file = '', , code = '']) => ({ file, code }));
}

/** As an entry. */
export function entryOf({ file, code }: Explained): string {
  const [longest = ''] = (code.match(/`+/g) ?? []).toSorted().reverse();
  const fence = longest.padEnd(longest.length + 1, '`');
  return `- \`${file}\`: ${longest === '' ? `\`${code}\`` : `${fence} ${code} ${fence}`}`;
}

/**
 * Compares the survivors of a whole run with their entries.
 *
 * @returns the survivors without an entry, and the entries whose fault is now found or no longer exists.
 */
export function compareSurvivors(
  faults: readonly Fault[],
  explained: readonly Explained[],
): { readonly unexplained: readonly Fault[]; readonly outdated: readonly Explained[] } {
  const files = new Set(faults.map(({ file }) => file));
  const survivors = faults.filter(({ isFound }) => !isFound);
  const isIn = (list: readonly Explained[], one: Explained): boolean =>
    list.some(({ file, code }) => file === one.file && code === one.code);
  return {
    unexplained: survivors.filter((fault) => !isIn(explained, fault)),
    outdated: explained.filter((one) => files.has(one.file) && !isIn(survivors, one)),
  };
}
