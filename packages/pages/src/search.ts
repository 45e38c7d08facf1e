import { html } from 'hono/html';
import { hiddenFields } from './form.ts';
import type { Markup } from './layout.ts';

type Parts = Readonly<Record<string, string | undefined>>;

/** What is set of the parts of an address. */
const set = (parts: Parts): Record<string, string> =>
  Object.fromEntries(Object.entries(parts).flatMap(([name, value]) => (value ? [[name, value]] : [])));

/** An address with a filter; parts without a value are left out. */
export function withQuery(path: string, parts: Parts): string {
  const query = new URLSearchParams(set(parts));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The page of a list that an address asks for, from 1. */
export const pageIn = (text: string | null | undefined): number => Math.max(1, Math.floor(Number(text) || 1));

const PAGE_SIZE = 25;

interface Paged<T> {
  /** The position of the first row. */
  readonly start: number;
  readonly rows: T[];
  readonly pages: number;
  readonly isLast: boolean;
  readonly links: Markup;
}

/** One page of a list, and the links to its neighbours. */
export function paged<T>(found: readonly T[], asked: number, to: (page: number) => string): Paged<T> {
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(asked, pages);
  const start = (page - 1) * PAGE_SIZE;
  const link = (other: number, label: string): Markup | string =>
    other < 1 || other > pages ? '' : html`<a class="button" href="${to(other)}">${label}</a>`;
  const links = html`${link(page - 1, 'Newer')}${link(page + 1, 'Older')}`;
  return { start, rows: found.slice(start, start + PAGE_SIZE), pages, isLast: page === pages, links };
}

/** The search of a list: its field, whose `words` stand in it while it is empty, and the rest of its filter. */
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

/** Narrows a search to one of its values. */
export const narrowing = (name: string, label: string, values: readonly string[], chosen = ''): Markup =>
  html`<label class="check">${label} <select name="${name}"><option value="">any</option>${values.map((one) => html`<option${one === chosen ? html` selected` : ''}>${one}</option>`)}</select></label>`;
