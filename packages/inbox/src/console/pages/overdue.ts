import { age, columnsOf, counted, html, list, type Markup } from '@payment-service/pages';
import type { OverdueExpectation } from '../../operator/health.ts';
import { table } from '../csv.ts';
import { at, consolePage, type View } from './page.ts';
import { money } from './summary.ts';

const SHOWN = 100;
const MAX_IN_TABLE = 100_000;

/** Payments that were started and whose callback has not arrived in time. */
export function overdueList(view: View, found: readonly OverdueExpectation[]): Markup {
  const now = Date.now();
  const columns = columnsOf<OverdueExpectation>({
    'Reference | title wide': ({ merchant_reference: reference }) =>
      html`<a href="${at(view, `/paid?${new URLSearchParams({ reference })}`)}">${reference}</a>`,
    'Expected | title number': money,
    Due: ({ deadline }) => age(deadline.getTime(), now),
  });
  return list('overdue', columns, found);
}

export async function overduePage(view: View): Promise<Response> {
  const found = await view.inbox.overdue({ limit: SHOWN + 1 });
  const shown = found.slice(0, SHOWN);
  return consolePage(view, {
    title: 'Overdue',
    section: '/overdue',
    body: html`<p>Payments whose callback did not arrive by the deadline, longest overdue first. Ask the service about them.</p>
${shown.length === 0 ? html`<p class="quiet">Nothing is overdue.</p>` : overdueList(view, shown)}
${found.length > SHOWN ? html`<p class="quiet">The ${counted(SHOWN, 'longest overdue', 'longest overdue')}. The table has all of them.</p>` : ''}
<nav class="actions" aria-label="Of the list"><a class="button" href="${at(view, '/overdue.csv')}" download>Download as CSV</a></nav>`,
  });
}

export async function overdueTable({ inbox }: View): Promise<Response> {
  const found = await inbox.overdue({ limit: MAX_IN_TABLE });
  const rows = found.map((one) => [
    one.merchant_reference,
    one.currency,
    one.amount,
    one.deadline.toISOString(),
  ]);
  return table('overdue', ['merchant_reference', 'currency', 'amount', 'deadline'], [rows]);
}
