import { scaleBand, scaleLinear, scaleUtc } from 'd3-scale';
import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { time } from '../text/quantities.ts';
import { count } from '../text/text.ts';
import {
  at,
  below,
  type ChartWords,
  chart,
  type Figures,
  hatch,
  moment,
  moments,
  rule,
  type Series,
  sum,
  tickText,
  WIDTH,
} from './chart.ts';

interface Bars extends Omit<ChartWords, 'figures'> {
  /** The start of each bar, in milliseconds since 1970, evenly spaced. */
  readonly starts: readonly number[];
  /** One value for each bar. */
  readonly series: readonly Series[];
  /** A value with its unit, for the text over a bar. @default count */
  readonly textOf?: (value: number) => string;
  /** @default the values of each bar that has any, and their sums */
  readonly figures?: Figures;
}

const HEIGHT = 168;
const [TOP, BOTTOM, LEFT] = [8, 146, 44];

/** Bars over time, one part for each series, the first at the bottom. */
export function bars(words: Bars): Markup {
  const { id, starts, textOf = count } = words;
  const series = words.series.filter(({ values }) => values.some((value) => value > 0));
  const totals = starts.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
  const x = scaleBand(starts, [LEFT, WIDTH]).padding(0.15);
  const y = scaleLinear([0, Math.max(1e-9, ...totals)], [BOTTOM, TOP]).nice(3);
  const spanMs = (starts.at(-1) ?? 0) - (starts[0] ?? 0);
  const isWhole = totals.every(Number.isInteger);
  const marks = y.ticks(3).filter((value) => !isWhole || Number.isInteger(value));
  const rules = marks.map((value) => rule(LEFT, WIDTH, y(value), tickText(value)));
  // Full hours, half days or whole days, each at the bar that it falls into.
  const ticks = scaleUtc([starts[0] ?? 0, starts.at(-1) ?? 0], [LEFT, WIDTH]).ticks(4);
  const begun = ticks.map((tick) => new Date(starts.findLast((start) => start <= tick.getTime()) ?? tick));
  const middles = moments(begun, spanMs).map(
    ([start, text]) => [(x(start) ?? 0) + x.bandwidth() / 2, text] as const,
  );
  const drawn = starts.map((start, index) => {
    let base = 0;
    const parts = series.map(({ look, values }) => {
      const [from, to] = [base, base + (values[index] ?? 0)];
      base = to;
      if (from === to) return '';
      // Even the smallest part is visible.
      const height = Math.max(1.5, y(from) - y(to));
      return html`<rect class="mark ${look}"${hatch(id, look)} x="${at(x(start) ?? 0)}" y="${at(y(from) - height)}" width="${at(x.bandwidth())}" height="${at(height)}"/>`;
    });
    const said = series
      .filter(({ values }) => (values[index] ?? 0) > 0)
      .map(({ word, values }) => `${word}: ${textOf(values[index] ?? 0)}`);
    return html`<g id="${id}-${start}"><title>${moment(start, spanMs)}. ${said.join(', ') || 'Nothing'}</title><rect class="over" fill="none" pointer-events="all" x="${at(x(start) ?? 0)}" y="${TOP}" width="${at(x.step())}" height="${BOTTOM - TOP}"/>${parts}</g>`;
  });
  const legend = series.map(({ look, word }) => [look, word] as const);
  const exact: Figures = [
    ['From', ...words.series.map(({ word }) => word)],
    ...starts.flatMap((start, index) =>
      totals[index] === 0
        ? []
        : [[time(start), ...words.series.map(({ values }) => count(values[index] ?? 0))]],
    ),
    ['All', ...words.series.map(({ values }) => count(sum(values)))],
  ];
  return chart(
    { figures: exact, legend, ...words },
    HEIGHT,
    html`${rules}${drawn}${below(middles, HEIGHT - 6)}`,
  );
}
