import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { plainLines } from './json.ts';

type Step = readonly [sign: ' ' | '-' | '+', line: string];

/** A comma belongs to the line after it. */
const bare = (line: string): string => line.replace(/,$/, '');

/** The shortest way from one list of lines to another. */
function steps(before: readonly string[], after: readonly string[]): Step[] {
  // lengths[i][j]: how many lines the remainders from i and from j have in common.
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
    const isCommon = i < before.length && j < after.length && isSame(i, j);
    const isGone = !isCommon && i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1));
    if (isGone) found.push(['-', before[i] ?? '']);
    else found.push([isCommon ? ' ' : '+', after[j] ?? '']);
    if (isCommon || isGone) i += 1;
    if (!isGone) j += 1;
  }
  return found;
}

/** Longer bodies would need a table of many millions of numbers. */
const MAX_LINES = 1000;
/** How many unchanged lines are shown around a change. */
const CONTEXT = 1;

/**
 * Compares two bodies line by line: shows the lines of only one of them and common lines around them. The rest is folded.
 *
 * @param words the labels of lines that only one of them has.
 */
export function differenceOf(
  before: readonly string[],
  after: readonly string[],
  words: readonly [before: string, after: string] = ['was', 'added'],
): Markup {
  if (before.length > MAX_LINES || after.length > MAX_LINES) {
    return html`<p class="quiet">They are too long to compare here.</p>`;
  }
  const found = steps(before, after);
  const changed = found.flatMap(([sign], index) => (sign === ' ' ? [] : [index]));
  if (changed.length === 0) return html`<p class="quiet">No difference.</p>`;
  const shown: (Markup | Markup[])[] = [];
  for (let index = 0; index < found.length; ) {
    const next = changed.find((one) => one >= index - CONTEXT) ?? Number.POSITIVE_INFINITY;
    const end = Math.min(Math.max(next - CONTEXT, index + 1), found.length);
    const lines = found.slice(index, end).map((step) => lineOf(step, words));
    // A fold is as high as two lines. Each changed line is on its own.
    const folded = html`<details><summary>${lines.length} unchanged lines</summary>${lines}</details>`;
    shown.push(lines.length > 2 ? folded : lines);
    index = end;
  }
  return html`<div class="wire json">${shown}</div>`;
}

function lineOf([sign, line]: Step, [before, after]: readonly [string, string]): Markup {
  if (sign === ' ') return html`<span><span>  ${line}</span></span>`;
  return sign === '-'
    ? html`<span class="gone"><del>- ${line}</del><small>${before}</small></span>`
    : html`<span class="new"><ins>+ ${line}</ins><small>${after}</small></span>`;
}

/** Two bodies, as `differenceOf` compares them. */
export const difference = (before: string, after: string): Markup =>
  differenceOf(plainLines(before), plainLines(after));
