import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale';
import { area, curveStepAfter, line, type SeriesPoint, stack } from 'd3-shape';
import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { utc } from '../text/quantities.ts';
import {
  at,
  type ChartWords,
  chart,
  hatch,
  type Look,
  label,
  moments,
  rule,
  type Series,
  short,
  sum,
  WIDTH,
} from './chart.ts';

type Point = readonly [ms: number, value: number];

interface Plot extends ChartWords {
  readonly from: number;
  readonly to: number;
  /** How a value is written on the scale. @default short */
  readonly textOf?: (value: number) => string;
  /** Values above zero by their orders of magnitude. @default false */
  readonly isLog?: boolean;
  /** Single events, each with the text over it. */
  readonly dots?: readonly {
    readonly at: number;
    readonly value: number;
    readonly look: Look;
    readonly text: string;
  }[];
  /** Values that follow each other, each with its time over it. */
  readonly lines?: readonly {
    readonly look: Look;
    readonly word: string;
    readonly points: readonly Point[];
  }[];
  /** Values that add up; each holds until the next time, the first is at the bottom. */
  readonly areas?: {
    readonly times: readonly number[];
    readonly series: readonly Series[];
  };
  /** A value that must not be exceeded. */
  readonly limit?: { readonly value: number; readonly word: string };
}

const HEIGHT = 168;
const [TOP, BOTTOM, LEFT] = [12, 146, 48];

/** Values over time: as dots, lines or stacked areas. */
export function plot(words: Plot): Markup {
  const { id, from, to, textOf = short, isLog = false, lines = [], areas, limit } = words;
  const { times = [], series = [] } = areas ?? {};
  const pointsOf = ({ look, word, points }: (typeof lines)[number]) =>
    points.map(([at, value]) => ({ at, value, look, text: `${utc(at)}. ${word}: ${textOf(value)}` }));
  const dots = [...(words.dots ?? []), ...lines.flatMap(pointsOf)];
  const values = [
    ...dots.map(({ value }) => value),
    ...times.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0))),
    ...(limit === undefined ? [] : [limit.value]),
  ];
  const x = scaleUtc([from, to], [LEFT + 6, WIDTH - 6]);
  const above = values.filter((value) => value > 0);
  const y = isLog
    ? scaleLog([Math.min(1, ...above), Math.max(10, ...above)], [BOTTOM, TOP]).nice()
    : scaleLinear([Math.min(0, ...values), Math.max(1e-9, ...values)], [BOTTOM, TOP]).nice(3);
  y.clamp(true);
  const marks = isLog ? y.ticks(3).filter((value) => Number.isInteger(Math.log10(value))) : y.ticks(3);
  const rules = marks.map((value) => rule(LEFT, WIDTH, y(value), textOf(value)));
  const ticks = moments(x.ticks(4), to - from).map(([ms, text]) => label(x(ms), HEIGHT - 6, text, 'middle'));
  const layers = stack<number, number>()
    .keys(series.map((_, key) => key))
    .value((index, key) => series[key]?.values[index] ?? 0)(times.map((_, index) => index));
  const shapeOf = area<SeriesPoint<number>>()
    .x(({ data }) => x(times[data] ?? 0))
    .y0((part) => y(part[0]))
    .y1((part) => y(part[1]))
    .curve(curveStepAfter)
    .digits(1);
  const lineOf = line<Point>()
    .x(([ms]) => x(ms))
    .y(([, value]) => y(value))
    .digits(1);
  const drawn = [
    ...layers.map((layer, key) => {
      const { look = 'neutral', word = '' } = series[key] ?? {};
      return html`<path id="${id}-area-${key}" class="mark ${look}" d="${shapeOf(layer) ?? ''}"><title>${word}</title></path>`;
    }),
    ...lines.map(
      ({ look, word, points }, key) =>
        html`<path id="${id}-line-${key}" class="line ${look}" fill="none" stroke-width="2" d="${lineOf(points) ?? ''}"><title>${word}</title></path>`,
    ),
    ...dots.map(
      ({ at: ms, value, look, text }, key) =>
        html`<circle id="${id}-dot-${key}" class="mark ${look}"${hatch(id, look)} cx="${at(x(ms))}" cy="${at(y(value))}" r="${look === 'bad' ? 5 : 3}"><title>${text}</title></circle>`,
    ),
  ];
  const bound =
    limit === undefined
      ? ''
      : html`<line class="limit" x1="${LEFT}" x2="${WIDTH}" y1="${at(y(limit.value))}" y2="${at(y(limit.value))}"/>${label(WIDTH, y(limit.value) - 4, limit.word, 'end')}`;
  const legend = [...series, ...lines].map(({ look, word }) => [look, word] as const);
  return chart({ legend, ...words }, HEIGHT, html`${rules}${ticks}${drawn}${bound}`);
}
