import { html } from 'hono/html';
import { hiddenFields } from '../form/form.ts';
import type { Markup } from '../frame/layout.ts';

type Parts = Readonly<Record<string, string | undefined>>;

/** The parts of an address that have a value. */
const set = (parts: Parts): Record<string, string> =>
  Object.fromEntries(Object.entries(parts).flatMap(([name, value]) => (value ? [[name, value]] : [])));

/** An address with a filter; parts without a value are left out. */
export function withQuery(path: string, parts: Parts): string {
  const query = new URLSearchParams(set(parts));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** A list's search form: its field, with `words` as the placeholder, and the rest of its filter. */
export const searchForm = (
  action: string,
  { name, value, words, label = words }: Record<'name' | 'value' | 'words', string> & { label?: string },
  more: Markup | string,
  kept: Parts,
): Markup => html`<form class="search" role="search" id="search" action="${action}">
<label class="hidden-text" for="search-${name}">${label}</label>
<input id="search-${name}" name="${name}" type="search" value="${value}" placeholder="${words}">
${more}${hiddenFields(set(kept))}
<button>Search</button></form>`;
