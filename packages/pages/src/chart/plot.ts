import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale';
import { area, curveStepAfter, line, type SeriesPoint, stack } from 'd3-shape';
import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { exactSpan, utc } from '../text/quantities.ts';
import {
  at,
  below,
  type ChartWords,
  chart,
  hatch,
  type Look,
  label,
  moments,
  rule,
  type Series,
  sum,
  tickText,
  WIDTH,
} from './chart.ts';

type Point = readonly [ms: number, value: number];

interface Plot extends ChartWords {
  readonly from: number;
  readonly to: number;
}

interface Durations extends Plot {
  /** Milliseconds above zero, on a logarithmic scale. */
  readonly lines: readonly {
    readonly look: Look;
    readonly word: string;
    readonly points: readonly Point[];
  }[];
  /** No line is drawn between points that are further apart: there was nothing between them. */
  readonly everyMs: number;
  /** A duration that must not be exceeded. */
  readonly limit?: { readonly value: number; readonly word: string };
}

interface Amounts extends Plot {
  /** Each value holds until the next time. */
  readonly times: readonly number[];
  /** They add up; the first is at the bottom. */
  readonly series: readonly Series[];
}

const HEIGHT = 168;
const [TOP, BOTTOM, LEFT] = [12, 146, 56];
/** The durations at which a scale may have a line: each has a short and exact name. */
const MARKS_MS = [1, 10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 86_400_000, 864_000_000];
/** Between two lines of a scale, so that their words do not touch. */
const APART = 20;

const timesOf = (from: number, to: number) => scaleUtc([from, to], [LEFT + 6, WIDTH - 6]);

/** The times below a drawing. */
const timeWords = (x: ReturnType<typeof timesOf>, spanMs: number): Markup[] =>
  below(
    moments(x.ticks(4), spanMs).map(([ms, text]) => [x(ms), text] as const),
    HEIGHT - 6,
  );

/** Durations over time: a line of points for each series, and the value of each point in its figures. */
export function durations(words: Durations): Markup {
  const { id, from, to, lines, everyMs, limit } = words;
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  const all = [...values, ...(limit === undefined ? [] : [limit.value])];
  const x = timesOf(from, to);
  // From the mark below the shortest to the one above the longest.
  const least = MARKS_MS.findLast((ms) => ms <= Math.min(...all)) ?? Math.min(...all);
  const most = MARKS_MS.find((ms) => ms > Math.max(...all)) ?? 2 * Math.max(...all);
  const y = scaleLog([least, most], [BOTTOM, TOP]).clamp(true);
  let last = Number.POSITIVE_INFINITY;
  const marks = MARKS_MS.filter((ms) => {
    const isShown = ms >= least && ms <= most && last - y(ms) >= APART;
    if (isShown) last = y(ms);
    return isShown;
  });
  const lineOf = line<Point | undefined>()
    .defined((point) => point !== undefined)
    .x((point) => x(point?.[0] ?? 0))
    .y((point) => y(point?.[1] ?? 0))
    .digits(1);
  const drawn = lines.map(({ look, word, points }, key) => {
    const joined = points.flatMap((point, index) =>
      point[0] - (points[index - 1]?.[0] ?? point[0]) > everyMs ? [undefined, point] : [point],
    );
    const dots = points.map(
      ([ms, value], index) =>
        html`<circle id="${id}-dot-${key}-${index}" class="mark ${look}"${hatch(id, look)} cx="${at(x(ms))}" cy="${at(y(value))}" r="3"><title>${utc(ms)}. ${word}: ${exactSpan(value)}</title></circle>`,
    );
    return html`<path id="${id}-line-${key}" class="line ${look}" fill="none" stroke-width="2" d="${lineOf(joined) ?? ''}"><title>${word}</title></path>${dots}`;
  });
  const bound =
    limit &&
    html`<line class="limit" x1="${LEFT}" x2="${WIDTH}" y1="${at(y(limit.value))}" y2="${at(y(limit.value))}"/>${label(WIDTH, y(limit.value) - 4, limit.word, 'end')}`;
  const rules = marks.map((ms) => rule(LEFT, WIDTH, y(ms), exactSpan(ms)));
  const legend = lines.map(({ look, word }) => [look, word] as const);
  return chart({ legend, ...words }, HEIGHT, html`${rules}${timeWords(x, to - from)}${drawn}${bound ?? ''}`);
}

/** Amounts that add up, over time, as stacked areas. */
export function areas(words: Amounts): Markup {
  const { id, from, to, times, series } = words;
  const sums = times.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
  const x = timesOf(from, to);
  const y = scaleLinear([Math.min(0, ...sums), Math.max(1e-9, ...sums)], [BOTTOM, TOP]).nice(3);
  const rules = y.ticks(3).map((value) => rule(LEFT, WIDTH, y(value), tickText(value)));
  const layers = stack<number, number>()
    .keys(series.map((_, key) => key))
    .value((index, key) => series[key]?.values[index] ?? 0)(times.map((_, index) => index));
  const shapeOf = area<SeriesPoint<number>>()
    .x(({ data }) => x(times[data] ?? 0))
    .y0((part) => y(part[0]))
    .y1((part) => y(part[1]))
    .curve(curveStepAfter)
    .digits(1);
  const drawn = layers.map((layer, key) => {
    const { look = 'neutral', word = '' } = series[key] ?? {};
    return html`<path id="${id}-area-${key}" class="mark ${look}" d="${shapeOf(layer) ?? ''}"><title>${word}</title></path>`;
  });
  const legend = series.map(({ look, word }) => [look, word] as const);
  return chart({ legend, ...words }, HEIGHT, html`${rules}${timeWords(x, to - from)}${drawn}`);
}
