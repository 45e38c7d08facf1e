import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { time } from './quantities.ts';

/** The meaning of a state for the reader. Each has a shape, a word and a colour: colour alone is never enough. */
export type Tone = 'good' | 'bad' | 'wait' | 'info' | 'neutral';

const outlines: Readonly<Record<Tone, string>> = {
  good: 'M3 8.5l3.5 3.5L13 4.5',
  bad: 'M4 4l8 8M12 4l-8 8',
  wait: 'M8 1.8a6.2 6.2 0 1 0 .01 0M8 4.6V8l2.4 1.6',
  info: 'M8 6.8V13.5M8 2.2v2.6',
  neutral: 'M3.5 8h9',
};

/** The shape of a tone, drawn because fonts differ in their symbols. */
export const shape = (tone: Tone): Markup =>
  html`<svg viewBox="0 0 16 16" width="0.9em" height="0.9em" fill="none" stroke="currentcolor" stroke-width="2.4" aria-hidden="true"><path d="${outlines[tone]}"/></svg>`;

/** A state as shape, word and colour. With `href` it is a link. */
export const badge = (tone: Tone, word: string | Markup, href?: string): Markup =>
  href === undefined
    ? html`<span class="state ${tone}">${shape(tone)}${word}</span>`
    : html`<a class="state ${tone}" href="${href}">${shape(tone)}${word}</a>`;

/** Something that happened. */
export interface Step {
  readonly at: number;
  readonly tone: Tone;
  readonly title: Markup | string;
  readonly detail?: Markup | string | undefined;
}

/** What happened, oldest first. */
export const story = (steps: readonly Step[]): Markup =>
  html`<ol class="story stack" id="story">${steps.map(
    ({ at, tone, title, detail }, index) =>
      html`<li id="step-${index}"><span class="state ${tone}">${shape(tone)}</span><div><strong>${title}</strong>
${detail && html`<div>${detail}</div>`}<div class="quiet small">${time(at)}</div></div></li>`,
  )}</ol>`;

/** A sentence that the reader must not miss, with what to do about it. */
export const note = (tone: Tone, title: string | Markup, ...rest: readonly (string | Markup)[]): Markup =>
  html`<div class="note ${tone}"><strong>${title}</strong>${rest.map((part) => html`<div>${part}</div>`)}</div>`;
