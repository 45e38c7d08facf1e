import { html } from 'hono/html';
import { plainLines } from './json.ts';
import type { Markup } from './layout.ts';

type Step = readonly [sign: ' ' | '-' | '+', line: string];

/** A comma belongs to the line after it. */
const bare = (line: string): string => line.replace(/,$/, '');

/** The shortest way from one list of lines to another. */
function steps(before: readonly string[], after: readonly string[]): Step[] {
  // lengths[i][j]: how many lines the rests from i and from j have in common.
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  const isSame = (i: number, j: number): boolean => bare(before[i] ?? '') === bare(after[j] ?? '');
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const row = lengths[i];
    for (let j = after.length - 1; j >= 0 && row !== undefined; j -= 1) {
      row[j] = isSame(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: Step[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && isSame(i, j)) {
      found.push([' ', after[j] ?? '']);
      i += 1;
      j += 1;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1))) {
      found.push(['-', before[i] ?? '']);
      i += 1;
    } else {
      found.push(['+', after[j] ?? '']);
      j += 1;
    }
  }
  return found;
}

/** Longer bodies would take a table of many millions of numbers. */
const MAX_LINES = 1000;

/** Two bodies line by line: what only the first has, what only the second has, and what both have. */
export function difference(before: string, after: string): Markup {
  const [old, now] = [plainLines(before), plainLines(after)];
  if (old.length > MAX_LINES || now.length > MAX_LINES) {
    return html`<p class="quiet">The bodies are too long to be compared here.</p>`;
  }
  return html`<div class="wire json">${steps(old, now).map(([sign, line]) =>
    sign === ' '
      ? html`<span><span>  ${line}</span></span>`
      : sign === '-'
        ? html`<span class="gone"><del>- ${line}</del><small>before</small></span>`
        : html`<span class="new"><ins>+ ${line}</ins><small>now</small></span>`,
  )}</div>`;
}
