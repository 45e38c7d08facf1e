import { scaleBand, scaleLinear } from 'd3-scale';
import { html } from 'hono/html';
import type { Markup } from '../layout.ts';
import {
  at,
  type ChartWords,
  chart,
  type Figures,
  hatch,
  type Look,
  label,
  moment,
  rule,
  short,
  WIDTH,
} from './chart.ts';

/** One kind of thing in every bar. */
export interface Series {
  readonly look: Look;
  readonly word: string;
  /** One value for each bar, 0 or more. */
  readonly values: readonly number[];
}

interface Bars extends ChartWords {
  /** The start of each bar, in milliseconds since 1970, evenly spaced. */
  readonly starts: readonly number[];
  readonly series: readonly Series[];
  /** A value with its unit, for the text over a bar. @default short */
  readonly textOf?: (value: number) => string;
  readonly figures: Figures;
}

/** So many bars lie between two words of the scale: full hours, half days or whole days if the bars allow it. */
const STRIDES = [1, 2, 4, 6, 12, 24];
const HEIGHT = 168;
const [TOP, BOTTOM, LEFT] = [8, 146, 44];

/** Bars over time, one part for each series, the first at the bottom. */
export function bars(words: Bars): Markup {
  const { id, starts, series, textOf = short, figures } = words;
  const totals = starts.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const x = scaleBand(starts, [LEFT, WIDTH]).padding(0.15);
  const y = scaleLinear([0, Math.max(1e-9, ...totals)], [BOTTOM, TOP]).nice(3);
  const spanMs = (starts.at(-1) ?? 0) - (starts[0] ?? 0);
  const isWhole = totals.every(Number.isInteger);
  const marks = y.ticks(3).filter((value) => !isWhole || Number.isInteger(value));
  const rules = marks.map((value) => rule(LEFT, WIDTH, y(value), short(value)));
  const stride = STRIDES.find((bars) => bars * 5 >= starts.length) ?? Math.ceil(starts.length / 5);
  const step = spanMs / Math.max(1, starts.length - 1) || 1;
  const first = Math.max(
    0,
    starts.findIndex((start) => start % (stride * step) === 0),
  );
  const times = starts.flatMap((start, index) =>
    (index - first) % stride === 0
      ? [label((x(start) ?? 0) + x.bandwidth() / 2, HEIGHT - 6, moment(start, spanMs), 'middle')]
      : [],
  );
  const drawn = starts.map((start, index) => {
    let below = 0;
    const parts = series.map(({ look, values }) => {
      const [from, to] = [below, below + (values[index] ?? 0)];
      below = to;
      if (from === to) return '';
      // A part is seen however small it is.
      const height = Math.max(1.5, y(from) - y(to));
      return html`<rect class="mark ${look}"${hatch(id, look)} x="${at(x(start) ?? 0)}" y="${at(y(from) - height)}" width="${at(x.bandwidth())}" height="${at(height)}"/>`;
    });
    const said = series
      .filter(({ values }) => (values[index] ?? 0) > 0)
      .map(({ word, values }) => `${word}: ${textOf(values[index] ?? 0)}`);
    return html`<g id="${id}-${start}"><title>${moment(start, spanMs)}. ${said.join(', ') || 'Nothing'}</title><rect class="over" fill="none" pointer-events="all" x="${at(x(start) ?? 0)}" y="${TOP}" width="${at(x.step())}" height="${BOTTOM - TOP}"/>${parts}</g>`;
  });
  const legend = series.map(({ look, word }) => [look, word] as const);
  return chart(words, HEIGHT, html`${rules}${drawn}${times}`, figures, legend);
}
