import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale';
import { html } from 'hono/html';
import type { Markup } from '../layout.ts';
import { at, type ChartWords, chart, hatch, type Look, label, moments, WIDTH } from './chart.ts';

const ROW = 40;
/** Between the words of a row and its drawing. */
const DOWN = 18;

interface Lengths extends ChartWords {
  readonly rows: readonly {
    readonly name: string;
    /** 0 or more. */
    readonly value: number;
    /** The value in words. */
    readonly text: string;
    readonly look: Look;
  }[];
  /** By orders of magnitude, from this value. */
  readonly least: number;
}

/** One bar for each thing, as long as its value is large by orders of magnitude. */
export function lengths(words: Lengths): Markup {
  const { id, rows, least } = words;
  const x = scaleLog([least, Math.max(least * 10, ...rows.map(({ value }) => value))], [6, WIDTH - 4]);
  const drawn = rows.map(({ name, value, text, look }, index) => {
    const y = index * ROW;
    return html`<g id="${id}-${index}">${label(0, y + 12, name, 'start', '')}${label(WIDTH, y + 12, text, 'end', 'strong')}
<rect class="mark ${look}"${hatch(id, look)} x="0" y="${y + DOWN}" width="${at(x(Math.max(value, least)))}" height="10"/></g>`;
  });
  return chart(words, rows.length * ROW, drawn);
}

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

interface Timeline extends ChartWords {
  readonly events: readonly { readonly at: number; readonly text: string; readonly look: Look }[];
}

const STEP = 17;

/** Events to scale, each with its words below the line. */
export function timeline(words: Timeline): Markup {
  const { id, events } = words;
  const [first = 0, last = first] = [events[0]?.at, events.at(-1)?.at];
  const x = scaleUtc([first, Math.max(last, first + 1000)], [6, WIDTH - 6]);
  const ticks = moments(x.ticks(3), last - first).map(
    ([ms, text]) =>
      html`<line class="rule" x1="${at(x(ms))}" x2="${at(x(ms))}" y1="14" y2="22"/>${label(x(ms), 10, text, 'middle')}`,
  );
  const drawn = events.map(({ at: ms, text, look }, index) => {
    const [left, y] = [x(ms), 44 + index * STEP];
    const isRight = left > WIDTH / 2;
    return html`<g id="${id}-${index}"><path class="rule" d="M${at(left)} 22V${y - 4}"/><circle class="mark ${look}" cx="${at(left)}" cy="22" r="5"/>${label(left + (isRight ? -5 : 5), y, text, isRight ? 'end' : 'start', '')}</g>`;
  });
  const base = html`<line class="rule" x1="0" x2="${WIDTH}" y1="22" y2="22"/>`;
  return chart(words, 44 + events.length * STEP, html`${base}${ticks}${drawn}`);
}
