import { fieldsOf, html } from '@payment-service/pages';
import { BALANCES, balances } from './balances.ts';
import { at, consolePage, forbiddenPage, type View } from './page.ts';
import { statementPart } from './statement.ts';

/** The unexplained part of the recorded balances, and a statement compared with what was settled. */
export async function reconcilePage(view: View, sent?: URLSearchParams): Promise<Response> {
  const { query, access } = view;
  if (!access.may.includes('reconcile')) return forbiddenPage(view, 'reconcile');
  const statement = await statementPart(view, sent);
  if (statement instanceof Response) return statement;
  const asked = fieldsOf('balances', { form: 'balances', typed: Object.fromEntries(query) });
  return consolePage(view, {
    title: 'Reconcile',
    section: '/reconcile',
    refused: statement.refused,
    isStill: true,
    body: html`<section class="stack"><h2>Balances</h2>
<p class="quiet">What was settled, and what the wallets gained between two recorded balances. All days on this page are days of ${view.timeZone}.</p>
<form class="form columns card" id="balances" action="${at(view, '/reconcile')}">${BALANCES.map(asked.field)}<div class="actions"><button>Compare the balances</button></div></form>
${query.has('from') ? await balances(view) : ''}</section>
${statement.body}`,
  });
}
