import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';

/** Longer ones are cut in lists, where a column has no room for all of it. */
const MAX_SHOWN = 24;
/** How many characters of its end are always shown: references of one system often differ only there. */
const END = 8;

/** A reference in a list: cut in its middle if it is long, and whole in its title and where it is copied. */
export function referenceLink(href: string, text: string): Markup {
  const letters = Array.from(text);
  if (letters.length <= MAX_SHOWN) return html`<a href="${href}">${text}</a>`;
  const [start, end] = [letters.slice(0, -END), letters.slice(-END)].map((part) => part.join(''));
  return html`<a class="cut" href="${href}" title="${text}"><span>${start}</span>${end}</a>`;
}
