/** The Levenshtein distance: how many characters to insert, delete or replace. */
export function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const character of left.slice(0, 200)) {
    const next = [(row[0] ?? 0) + 1];
    for (let at = 1; at <= right.length; at++) {
      const kept = (row[at - 1] ?? 0) + (right[at - 1] === character ? 0 : 1);
      next.push(Math.min(kept, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/**
 * The known name that was probably meant: up to a third of it may be mistyped, and its first or last words may be missing.
 *
 * @example
 * nearName('amonut', ['currency', 'amount']); // 'amount'
 */
export function nearName(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const [near] = known
    .map((one) => ({ one, changes: distance(lower, one.toLowerCase()) }))
    .filter(({ one, changes }) => changes <= one.length / 3)
    .sort((left, right) => left.changes - right.changes);
  return near?.one ?? known.find((one) => one.endsWith(`_${lower}`) || one.startsWith(`${lower}_`));
}
