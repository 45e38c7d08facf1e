import { html } from 'hono/html';
import type { Markup } from './page.ts';

/** "2026-11-21 08:30:00.123 UTC", which assets/times.js can show in the reader's zone. */
export function time(moment: number | Date): Markup {
  const iso = new Date(moment).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 23).replace('T', ' ')} UTC</time>`;
}
