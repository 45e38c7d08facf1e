import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';
import { count } from '../text/text.ts';

/**
 * What a column contains. `title`: clear without its label. `number`. `wide`: fills the rest of a line. `minor`: hidden below 1,024
 * pixels. `reference` and `sentence`: keep room for one on a wide screen.
 */
type Kind = 'title' | 'number' | 'wide' | 'minor' | 'reference' | 'sentence';

/** A column of a list. On a phone, where a row has two lines, `label` is shown next to the cell. */
export interface Column<T> {
  readonly label: string;
  readonly kinds: readonly Kind[];
  readonly cell: (row: T) => Markup | string;
}

/** @example column<Order>('Reference', ['title', 'wide'], ({ id }) => id) */
export const column = <T>(label: string, kinds: Column<T>['kinds'], cell: Column<T>['cell']): Column<T> => ({
  label,
  kinds,
  cell,
});

const classOf = ({ kinds }: Pick<Column<never>, 'kinds'>): string =>
  kinds.filter((kind) => kind !== 'title').join(' ');

/**
 * A table on a wide screen, rows of two lines on a phone. Every row has an id, or its position, so that it stays the same when
 * the page is updated.
 *
 * @param name its id, and its caption for screen readers.
 * @param more what is shown below a row.
 */
export function list<T extends object>(
  name: string,
  columns: readonly Column<T>[],
  rows: readonly T[],
  more: (row: T) => Markup | string = () => '',
): Markup {
  return html`<table class="list" id="${name}"><caption class="hidden-text">${name.replaceAll('-', ' ')}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col" class="${classOf(column)}">${column.label}</th>`)}</tr></thead>
<tbody>${rows.map((row, index) => {
    const id = `${name}-${'id' in row ? row.id : index}`;
    return html`<tr id="${id}">${columns.map(
      (column) =>
        html`<td class="${classOf(column)}"${column.kinds.includes('title') ? '' : html` data-label="${column.label}"`}>${column.cell(row)}</td>`,
    )}</tr>${below(`${id}-below`, columns.length, more(row))}`;
  })}</tbody></table>`;
}

/** What belongs to a row, below it. */
const below = (id: string, columns: number, content: Markup | string): Markup | string =>
  content === '' ? '' : html`<tr class="below" id="${id}"><td colspan="${columns}">${content}</td></tr>`;

/**
 * A table of strings, whose first one names its row; nothing without rows.
 *
 * @param labels of the columns, each with its kind if it has one.
 * @param cells of one row, in the order of the labels.
 */
export function tableOf<T>(
  name: string,
  labels: readonly (string | readonly [label: string, kind: Kind])[],
  rows: readonly T[],
  cells: (row: T) => readonly (Markup | string)[],
): Markup {
  if (rows.length === 0) return html``;
  const columns = labels.map((named, at) => {
    const [label, ...kinds] = typeof named === 'string' ? [named] : named;
    return column<readonly (Markup | string)[]>(label, at === 0 ? ['title'] : kinds, (row) => row[at] ?? '');
  });
  return list(name, columns, rows.map(cells));
}

/**
 * One filter of a list: its address, its label, and its number of rows if they are counted; a string can say that there are
 * more.
 */
export interface Chip {
  readonly href: string;
  readonly label: string;
  readonly count?: number | string;
  readonly isCurrent: boolean;
}

/** The filters of a list, as links with their counts. */
export const chips = (choices: readonly Chip[], label = 'Filter'): Markup =>
  html`<nav aria-label="${label}"><ul class="chips">${choices.map(
    (one) =>
      html`<li><a class="button" href="${one.href}"${one.isCurrent ? html` aria-current="true"` : ''}>${one.label}${counter(one.count)}</a></li>`,
  )}</ul></nav>`;

function counter(found: Chip['count']): Markup | string {
  if (found === undefined) return '';
  return html` <span class="number">${typeof found === 'string' ? found : count(found)}</span>`;
}
