import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { count } from './text.ts';

const text = (ms: number, length: number): string =>
  `${new Date(ms).toISOString().slice(0, length).replace('T', ' ')} UTC`;

/** To the second. */
export const utc = (ms: number): string => text(ms, 19);

/** A time in UTC, which the live module can show in the local zone; with its milliseconds as its title. */
export const time = (ms: number): Markup =>
  html`<time datetime="${new Date(ms).toISOString()}" title="${text(ms, 23)}">${utc(ms)}</time>`;

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const;

/** A span of time in its largest unit. */
export function span(ms: number): string {
  const [size, unit] = units.find(([one]) => Math.abs(ms) >= one) ?? [1000, 's'];
  return `${count(Math.round(Math.abs(ms) / size))} ${unit}`;
}

/** A duration in its largest unit and the next one: "250 ms", "2.4 s", "1 min 40 s", "2 h 46 min", "3 d 4 h". */
export function exactSpan(ms: number): string {
  if (Math.round(ms) < 1000) return `${count(Math.round(ms))} ms`;
  if (ms < 59_995) return `${count(Math.round(ms / 10) / 100)} s`;
  const at = units.findIndex(([size], index) => index === units.length - 2 || ms >= size);
  const [[size, unit] = [60_000, 'min'], [small, part] = [1000, 's']] = units.slice(at);
  const rounded = Math.round(ms / small) * small;
  const rest = Math.round((rounded % size) / small);
  return `${count(Math.floor(rounded / size))} ${unit}${rest === 0 ? '' : ` ${rest} ${part}`}`;
}

/** How long ago, or how far ahead, with the exact time as its title. */
export const age = (ms: number, now: number): Markup =>
  html`<time datetime="${new Date(ms).toISOString()}" data-age title="${text(ms, 23)}">${
    Math.abs(now - ms) < 1000 ? 'now' : ms <= now ? `${span(now - ms)} ago` : `in ${span(ms - now)}`
  }</time>`;
