import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import type { Tone } from '../text/state.ts';

/** In units of the drawing, which are about pixels: a chart is at most 30rem wide. */
export const WIDTH = 400;

/** What a chart says, in words and as figures: a picture alone does not reach every reader. */
export interface ChartWords {
  /** Its id, which stays the same when the page is updated. */
  readonly id: string;
  /** What it shows, as a sentence: "UGX 4.2 M settled in 30 days, 2 % waits". */
  readonly title: string;
  /** What is measured, in which unit and period. */
  readonly note: Markup | string;
  readonly figures: Figures;
  /** @default that of its series and lines */
  readonly legend?: Legend | undefined;
}

/** The figures of a chart, exact, with their column headings first. */
export type Figures = readonly (readonly (Markup | string)[])[];

/** How marks of a tone are drawn, so that none is known by its colour alone: filled, hatched, hollow, light. */
export type Look = Tone | 'accent';

/** Values of one kind, 0 or more, that are drawn on top of those of the series before it. */
export interface Series {
  readonly look: Look;
  readonly word: string;
  readonly values: readonly number[];
}

/** A word of the legend, beside a mark like those it explains. */
export type Legend = readonly (readonly [look: Look, word: string])[];

/**
 * A chart: its finding, the drawing, what its marks mean, and its figures as a table.
 *
 * @param height of the drawing, whose width is WIDTH.
 */
export function chart(
  { id, title, note, figures: [head = [], ...rows], legend = [] }: ChartWords,
  height: number,
  drawing: Markup | readonly Markup[],
): Markup {
  return html`<figure class="chart card" id="${id}"><figcaption><h3>${title}</h3><p class="quiet small">${note}</p></figcaption>
<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}"><defs><pattern id="${id}-hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="bad" d="M0 0V4" stroke-width="4"/></pattern></defs>${drawing}</svg>
${
  legend.length > 0 &&
  html`<ul class="legend small">${legend.map(
    ([look, word]) =>
      html`<li><svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><rect class="mark ${look}"${hatch(id, look)} x="1" y="1" width="10" height="10"/></svg> ${word}</li>`,
  )}</ul>`
}
<details id="${id}-figures"><summary>Figures</summary><table class="list"><caption class="hidden-text">${title}</caption>
<thead><tr>${head.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((one, at) => html`<td${at === 0 ? '' : html` data-label="${head[at]}"`}>${one}</td>`)}</tr>`)}</tbody></table></details></figure>`;
}

/** Bad marks are hatched, with the chart's own pattern. */
export const hatch = (id: string, look: Look): Markup | string =>
  look === 'bad' ? html` fill="url(#${id}-hatch)"` : '';

const rounded = (value: number): number => Math.round(value * 10) / 10;

/** A coordinate: a tenth of a pixel is enough, and the same drawing has the same text. */
export const at = (value: number): string => String(rounded(value));

/** A word in a drawing. */
export const label = (
  x: number,
  y: number,
  text: string,
  anchor: 'start' | 'middle' | 'end' = 'start',
  kind = 'quiet',
): Markup => html`<text class="${kind}" x="${at(x)}" y="${at(y)}" text-anchor="${anchor}">${text}</text>`;

/** A line of a scale, with its value in front of it. */
export const rule = (left: number, right: number, y: number, text: string): Markup =>
  html`<line class="rule" x1="${at(left)}" x2="${at(right)}" y1="${at(y)}" y2="${at(y)}"/>${label(left - 4, y + 4, text, 'end')}`;

/** The width of the widest character of a drawing, about, in its units: on a phone, where words are largest. */
const CHARACTER = 8;

/** The words below a drawing, each under its place; one that would overlap another or fall outside is left out. */
export function below(words: readonly (readonly [x: number, text: string])[], y: number): Markup[] {
  let end = 0;
  return words.flatMap(([x, text]) => {
    const half = (text.length * CHARACTER) / 2;
    // The card has some space around the drawing.
    if (x - half < end || x + half > WIDTH + CHARACTER) return [];
    end = x + half + CHARACTER;
    return [label(x, y, text, 'middle')];
  });
}

const TICK = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
/** The value at a line of a scale. */
export const tickText = (value: number): string => TICK.format(value).replace(/(?<=\d)(?=[A-Z])/, '\u00a0');

const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** For lengths and shares: money is added up exactly elsewhere. */
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** 4,200,000 as "4.2 M": for sentences. Tables have all digits. */
export const short = (value: number): string => SHORT.format(value).replace(/(?<=\d)(?=[A-Z])/, '\u00a0');

/** "2 %"; "0.2 %" below one, and never 0 or 100 for a part that is neither. */
export function share(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (part / whole) * 100;
  const digits = percent < 1 || percent > 99 ? 1 : 0;
  const shown = Number(percent.toFixed(digits));
  if (part > 0 && shown === 0) return 'under 0.1 %';
  if (part < whole && shown === 100) return 'over 99.9 %';
  return `${shown} %`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const HOUR = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const SECOND = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });

/** "28 Nov", "14:00" or "14:00:05": whichever tells the marks of a scale apart. All times of drawings are UTC. */
export const moment = (ms: number, spanMs: number): string =>
  (spanMs > 2 * 86_400_000 || ms % 86_400_000 === 0 ? DAY : spanMs < 300_000 ? SECOND : HOUR).format(ms);

/** The marks of a scale with their words; of neighbours with the same words, the first. */
export const moments = (times: readonly Date[], spanMs: number): (readonly [ms: number, text: string])[] =>
  times
    .map((time) => [time.getTime(), moment(time.getTime(), spanMs)] as const)
    .filter(([, text], index, all) => text !== all[index - 1]?.[1]);
