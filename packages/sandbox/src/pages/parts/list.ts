import { type Column, chips, count, html, list, type Markup, tableOf } from '@payment-service/pages';
import type { Context } from 'hono';

const PAGE_SIZE = 25;

/** The filter of a list: `?q=…&state=…&endpoint=…&page=…`. `endpoint` is where callbacks were sent. */
export type Query = Readonly<Record<'path' | 'q' | 'state' | 'endpoint', string> & { page: number }>;

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

/** Whether one of the values contains the search string, in any case. */
export const matches = ({ q }: Query, ...values: readonly (string | number)[]): boolean =>
  values.some((value) => String(value).toLowerCase().includes(q.toLowerCase()));

export type Example = Readonly<Record<string, Markup | string>>;

/** What a page shows as long as it is empty: rows as there will be. */
export const examples = (title: string, rows: readonly Example[]): Markup =>
  html`<section class="stack" id="example" aria-labelledby="example-title"><h2 class="quiet" id="example-title">${title}</h2>
${tableOf('examples', Object.keys(rows[0] ?? {}), rows, Object.values)}</section>`;

/** The title of a list, and what it shows beside its rows. */
interface ListOptions<T> {
  readonly name: string;
  /** The searched values. */
  readonly searched: string;
  readonly empty: Markup | string;
  /** A row as there will be, by the names of its columns. */
  readonly example: Example;
  /** The addresses to filter by. */
  readonly endpoints?: readonly string[];
  readonly more?: (row: T) => Markup | string;
}

/**
 * The results, one page at a time, below the states as links with their counts and below the search. Works without scripts.
 *
 * @param states each with its rows, oldest first; `''` has all of them.
 */
export function searchable<T extends { readonly id: number | string }>(
  query: Query,
  columns: readonly Column<T>[],
  states: readonly (readonly [value: string, label: string, rows: readonly T[]])[],
  options: ListOptions<T>,
): Markup {
  const { name, searched, empty, example, endpoints = [], more } = options;
  const [, , found = []] = states.find(([state]) => state === query.state) ?? [];
  const { rows, pager } = paged(query, found.toReversed());
  // A state without rows would lead to an empty list.
  const offered = states.filter(
    ([state, , { length }]) => length > 0 || state === '' || state === query.state,
  );
  const isAsked = query.q !== '' || query.state !== '' || query.endpoint !== '';
  return html`<div class="head">${chips(
    offered.map(([state, label, rows]) => ({
      href: addressOf({ ...query, state, page: 1 }),
      label,
      count: rows.length,
      isCurrent: state === query.state,
    })),
  )}
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
${rows.length === 0 && !isAsked ? examples('Example', [example]) : ''}
${pager}`;
}

/** One page of the results, and links to the others. */
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
    pager: html`<nav class="actions" aria-label="Pages of the list">${link(page - 1, 'Newer')}${link(page + 1, 'Older')}
<span class="quiet">${count(start + 1)} to ${count(start + rows.length)} of ${count(found.length)}</span></nav>`,
  };
}
