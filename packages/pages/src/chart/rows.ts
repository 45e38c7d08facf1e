import { scaleLinear } from 'd3-scale';
import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { at, type ChartWords, chart, label, WIDTH } from './chart.ts';

const ROW = 40;
/** Between the words of a row and its drawing. */
const DOWN = 18;

interface Bullets extends ChartWords {
  readonly rows: readonly {
    readonly name: string;
    /** The interval that the value should be in. */
    readonly least: number;
    readonly most: number;
    /** Undefined if it is not known. */
    readonly value: number | undefined;
    /** What lies outside of the interval, in words. */
    readonly text: string;
  }[];
}

/** For each thing, on a scale of its own: where its value should be, where it is, and what lies between the two. */
export function bullets(words: Bullets): Markup {
  const { id, rows } = words;
  const drawn = rows.map(({ name, least, most, value: known, text }, index) => {
    const y = index * ROW;
    const value = known ?? least;
    const x = scaleLinear(
      [Math.min(0, least, value), Math.max(least + 1e-9, most, value) * 1.05],
      [0, WIDTH],
    );
    const [nearest] = [least, most].sort((one, other) => Math.abs(one - value) - Math.abs(other - value));
    const isInside = value >= least && value <= most;
    const gap = [nearest ?? 0, value].sort((one, other) => one - other);
    const rest = isInside
      ? ''
      : html`<rect class="mark bad" fill="url(#${id}-hatch)" x="${at(x(gap[0] ?? 0))}" y="${y + DOWN + 3}" width="${at(Math.max(2, x(gap[1] ?? 0) - x(gap[0] ?? 0)))}" height="6"/>`;
    return html`<g id="${id}-${index}">${label(0, y + 12, name, 'start', '')}${label(WIDTH, y + 12, text, 'end', 'strong')}
<rect class="over" fill="none" pointer-events="all" x="0" y="${y + DOWN}" width="${WIDTH}" height="12"/><rect class="mark neutral" x="${at(x(least))}" y="${y + DOWN}" width="${at(Math.max(2, x(most) - x(least)))}" height="12"/>
${rest}${known === undefined ? '' : html`<rect class="value accent" x="${at(x(known) - 1.5)}" y="${y + DOWN - 3}" width="3" height="18"/>`}</g>`;
  });
  return chart(words, rows.length * ROW + 4, drawn);
}
