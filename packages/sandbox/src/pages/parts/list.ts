import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Markup } from './layout.ts';
import { count } from './quantities.ts';

const PAGE_SIZE = 25;

/** A column of a list. On a phone, where a row has two lines, `label` stands beside the cell. */
export interface Column<T> {
  readonly label: string;
  readonly cell: (row: T) => Markup | string;
  readonly isNumber?: boolean;
  /** True where the cell explains itself without its label. */
  readonly isTitle?: boolean;
  /** True where the cell takes the rest of a line. */
  readonly isWide?: boolean;
  /** True where the cell is left out below 1,024 pixels. */
  readonly isMinor?: boolean;
}

const classOf = ({ isNumber, isWide, isMinor }: Omit<Column<never>, 'label' | 'cell'>): string =>
  [isNumber ? 'number' : '', isWide ? 'wide' : '', isMinor ? 'minor' : ''].filter(Boolean).join(' ');

/**
 * A table on a wide screen, rows of two lines on a phone. Every row has an id, so that it stays the same when the page is
 * updated.
 *
 * @param name its id, and its caption for screen readers.
 * @param more what stands below a row.
 */
export function list<T extends { readonly id: number | string }>(
  name: string,
  columns: readonly Column<T>[],
  rows: readonly T[],
  more: (row: T) => Markup | string = () => '',
): Markup {
  return html`<table class="list" id="${name}"><caption class="hidden-text">${name.replaceAll('-', ' ')}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col" class="${classOf(column)}">${column.label}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr id="${name}-${row.id}">${columns.map(
        (column) =>
          html`<td class="${classOf(column)}"${column.isTitle ? '' : html` data-label="${column.label}"`}>${column.cell(row)}</td>`,
      )}</tr>${below(`${name}-${row.id}-below`, columns.length, more(row))}`,
  )}</tbody></table>`;
}

/** What belongs to a row, below it. */
const below = (id: string, columns: number, content: Markup | string): Markup | string =>
  content === '' ? '' : html`<tr class="below" id="${id}"><td colspan="${columns}">${content}</td></tr>`;

/** What a list is asked for: `?q=…&state=…&endpoint=…&page=…`. */
export interface Query {
  readonly path: string;
  readonly q: string;
  readonly state: string;
  /** Where callbacks went. */
  readonly endpoint: string;
  readonly page: number;
}

export function readQuery(c: Context): Query {
  const page = Number(c.req.query('page') ?? 1);
  return {
    path: c.req.path,
    q: (c.req.query('q') ?? '').trim(),
    state: c.req.query('state') ?? '',
    endpoint: c.req.query('endpoint') ?? '',
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

function addressOf({ path, q, state, endpoint, page }: Query): string {
  const given = Object.entries({ q, state, endpoint, page: page === 1 ? '' : String(page) });
  const query = new URLSearchParams(given.filter(([, value]) => value !== ''));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Whether one of the texts holds what is searched for, in any case. */
export const matches = ({ q }: Query, ...texts: readonly (string | number)[]): boolean =>
  texts.some((text) => String(text).toLowerCase().includes(q.toLowerCase()));

/**
 * What was found, a page at a time, below its states as links with their counts and below the search. All of it works
 * without script.
 *
 * @param states each with the rows that are in it, the oldest first; `''` holds all of them.
 */
export function searchable<T extends { readonly id: number | string }>(
  query: Query,
  columns: readonly Column<T>[],
  states: readonly (readonly [value: string, label: string, rows: readonly T[]])[],
  {
    name,
    searched,
    empty,
    endpoints = [],
    more,
  }: {
    name: string;
    searched: string;
    empty: Markup | string;
    /** The addresses to filter by. */
    endpoints?: readonly string[];
    more?: (row: T) => Markup | string;
  },
): Markup {
  const [, , found = []] = states.find(([state]) => state === query.state) ?? [];
  const { rows, pager } = paged(query, found.toReversed());
  // A state that no row has would lead to an empty list.
  const offered = states.filter(
    ([state, , { length }]) => length > 0 || state === '' || state === query.state,
  );
  const isAsked = query.q !== '' || query.state !== '' || query.endpoint !== '';
  return html`<div class="filters"><nav aria-label="Filter"><ul class="chips">${offered.map(
    ([state, label, { length }]) =>
      html`<li><a href="${addressOf({ ...query, state, page: 1 })}"${state === query.state ? html` aria-current="true"` : ''}>${label} <span class="number">${count(length)}</span></a></li>`,
  )}</ul></nav>
<form class="search" role="search" id="search" action="${query.path}">
<label class="hidden-text" for="search-q">Search by ${searched}</label>
<input id="search-q" name="q" type="search" value="${query.q}" placeholder="Search by ${searched}">
${query.state === '' ? '' : html`<input type="hidden" name="state" value="${query.state}">`}
${
  endpoints.length < 2 && query.endpoint === ''
    ? ''
    : html`<select name="endpoint" aria-label="Endpoint"><option value="">Every endpoint</option>${endpoints.map(
        (url) => html`<option${url === query.endpoint ? html` selected` : ''}>${url}</option>`,
      )}</select>`
}
<button>Search</button></form></div>
${rows.length === 0 ? html`<p class="quiet">${isAsked ? 'Nothing matches this search.' : empty}</p>` : list(name, columns, rows, more)}
${pager}`;
}

/** One page of what was found, and the links to the others. */
export function paged<T>(query: Query, found: readonly T[]): { rows: T[]; pager: Markup | string } {
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(query.page, pages);
  const start = (page - 1) * PAGE_SIZE;
  const rows = found.slice(start, start + PAGE_SIZE);
  const link = (to: number, label: string): Markup | string =>
    to < 1 || to > pages
      ? ''
      : html`<a class="button" href="${addressOf({ ...query, page: to })}">${label}</a>`;
  if (pages === 1) return { rows, pager: '' };
  return {
    rows,
    pager: html`<nav class="pager" aria-label="Pages of the list">${link(page - 1, 'Newer')}${link(page + 1, 'Older')}
<span class="quiet">${count(start + 1)} to ${count(start + rows.length)} of ${count(found.length)}</span></nav>`,
  };
}
