import {
  type Column,
  chips,
  count,
  html,
  list,
  type Markup,
  searchForm,
  tableOf,
  withQuery,
} from '@payment-service/pages';
import type { Context } from 'hono';

/**
 * The filter of a list: `?q=…&state=…&endpoint=…&cause=…&since=…&page=…`. `endpoint` is where callbacks were sent, `cause` why
 * they failed, in words, and `since` a time in milliseconds.
 */
export type Query = Readonly<
  Record<'path' | 'q' | 'state' | 'endpoint' | 'cause' | 'since', string> & { page: number }
>;

export function readQuery(c: Context): Query {
  const { q = '', state = '', endpoint = '', cause = '', since = '', page } = c.req.query();
  const isTime = /^\d{1,15}$/.test(since);
  const asked = Math.max(1, Math.floor(Number(page) || 1));
  return { path: c.req.path, q: q.trim(), state, endpoint, cause, since: isTime ? since : '', page: asked };
}

export const addressOf = ({ path, page, ...filter }: Query): string =>
  withQuery(path, { ...filter, page: page === 1 ? '' : String(page) });

/** Whether one of the values contains the search string, in any case. */
export const matches = ({ q }: Query, ...values: readonly (string | number)[]): boolean =>
  values.some((value) => String(value).toLowerCase().includes(q.toLowerCase()));

export type Example = Readonly<Record<string, Markup | string>>;

/** What an empty page shows: example rows. */
export const examples = (title: string, rows: readonly Example[]): Markup =>
  html`<section class="stack" id="example" aria-labelledby="example-title"><h2 class="quiet" id="example-title">${title}</h2>
${tableOf('examples', Object.keys(rows[0] ?? {}), rows, Object.values)}</section>`;

/** The name of a list, and what it shows besides its rows. */
interface ListOptions<T> {
  readonly name: string;
  /** The searched values. */
  readonly searched: string;
  readonly empty: Markup | string;
  /** One of what is listed, such as "delivery". */
  readonly one: string;
  /** An example row, by column name. */
  readonly example: Example;
  /** The addresses to filter by. */
  readonly endpoints?: readonly string[];
  readonly more?: (row: T) => Markup | string;
}

/**
 * The results, one page at a time, below the states as links with their counts and below the search. Works without scripts.
 *
 * @param states each with its rows, oldest first; the state `''` contains all rows.
 */
export function searchable<T extends { readonly id: number | string }>(
  query: Query,
  columns: readonly Column<T>[],
  states: readonly (readonly [value: string, label: string, rows: readonly T[]])[],
  options: ListOptions<T>,
): Markup {
  const { name, one, searched, empty, example, endpoints = [], more } = options;
  const [, , found = []] = states.find(([state]) => state === query.state) ?? [];
  const { rows, pager } = pageOf(query, found.toReversed());
  // A state without rows would lead to an empty list.
  const offered = states.filter(
    ([state, , { length }]) => length > 0 || state === '' || state === query.state,
  );
  const isAsked = [query.q, query.state, query.endpoint].some((part) => part !== '');
  const none = isAsked
    ? html`No ${one} matches this search. <a href="${query.path}">Show all ${name}</a>`
    : empty;
  return html`<div class="head">${chips(
    offered.map(([state, label, rows]) => ({
      href: addressOf({ ...query, state, page: 1 }),
      label,
      count: rows.length,
      isCurrent: state === query.state,
    })),
  )}
${searchForm(
  query.path,
  { name: 'q', value: query.q, words: `Search by ${searched}` },
  endpoints.length > 1 || query.endpoint !== '' ? narrowed(endpoints, query.endpoint) : '',
  { state: query.state },
)}</div>
${rows.length === 0 ? html`<p class="quiet">${none}</p>` : list(name, columns, rows, more)}
${rows.length === 0 && !isAsked ? examples('Example', [example]) : ''}
${pager}`;
}

/** Narrows a search to the callbacks of one endpoint. */
const narrowed = (endpoints: readonly string[], chosen: string): Markup =>
  html`<label class="check">Endpoint <select name="endpoint"><option value="">any</option>${endpoints.map((one) => html`<option${one === chosen ? html` selected` : ''}>${one}</option>`)}</select></label>`;

const PAGE_SIZE = 25;

/** One page of the results, and links to the others. */
export function pageOf<T>(query: Query, found: readonly T[]): { rows: T[]; pager: Markup | string } {
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(query.page, pages);
  const start = (page - 1) * PAGE_SIZE;
  const rows = found.slice(start, start + PAGE_SIZE);
  if (pages === 1) return { rows, pager: '' };
  const link = (other: number, label: string): Markup | string =>
    other < 1 || other > pages
      ? ''
      : html`<a class="button" href="${addressOf({ ...query, page: other })}">${label}</a>`;
  return {
    rows,
    pager: html`<nav class="actions" aria-label="Pages of the list">${link(page - 1, 'Newer')}${link(page + 1, 'Older')}
<span class="quiet">${count(start + 1)} to ${count(start + rows.length)} of ${count(found.length)}</span></nav>`,
  };
}
