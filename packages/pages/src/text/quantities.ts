import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { count } from './text.ts';

export const utc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23).replace('T', ' ')} UTC`;

/** A time in UTC, which the live module can show in the local zone. */
export const time = (ms: number): Markup =>
  html`<time datetime="${new Date(ms).toISOString()}" title="${utc(ms)}">${utc(ms)}</time>`;

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

/** How long ago, or how far ahead, with the exact time as its title. */
export const age = (ms: number, now: number): Markup =>
  html`<time datetime="${new Date(ms).toISOString()}" data-age title="${utc(ms)}">${
    Math.abs(now - ms) < 1000 ? 'now' : ms <= now ? `${span(now - ms)} ago` : `in ${span(ms - now)}`
  }</time>`;
