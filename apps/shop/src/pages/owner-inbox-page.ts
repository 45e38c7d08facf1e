import type {
  InboxStats,
  OverdueExpectation,
  TransitionState,
  TransitionSummary,
} from '@payment-service/inbox';
import { html } from 'hono/html';
import { INBOX_STATES, wordsFor } from '../inbox-words.ts';
import { formatMoney } from '../money.ts';
import { heldCount } from './owner-orders-page.ts';
import { type Markup, type Page, page } from './page.ts';
import { searchForm, stateLinks } from './search.ts';
import { stateBadge } from './state-badge.ts';
import { time, times } from './time.ts';

interface InboxContent {
  /** The state that is asked for; all of them without it. */
  readonly state: TransitionState | undefined;
  /** The merchant_reference that is looked for. */
  readonly reference: string | undefined;
  readonly transitions: readonly TransitionSummary[];
  /** After this one there are older ones. */
  readonly older: string | undefined;
  readonly stats: InboxStats;
  readonly overdue: readonly OverdueExpectation[];
}

/** For the owner: what the payment service sent, and what became of it. Put it behind your own login. */
export function ownerInboxPage(content: InboxContent): Promise<Page> {
  const { state, reference, transitions, stats, overdue } = content;
  const all = Object.values(stats.states).reduce((sum, count) => sum + count, 0);
  return page({
    title: 'Inbox',
    count: heldCount(stats),
    section: '/owner/inbox',
    main: html`<h1>Inbox</h1>
<p>What the payment service sent, and what became of it. A repeated callback is one entry.</p>
${stateLinks(
  '/owner/inbox',
  INBOX_STATES.map((one) => [one, `${one} ${stats.states[one]}`]),
  `all ${all}`,
  state,
)}
${searchForm('/owner/inbox', reference)}
${overdue.length === 0 ? '' : overdueList(overdue, stats.overdue)}
${transitions.length === 0 ? html`<p>${nothingIn(content)}</p>` : ''}
<ul class="orders">
${transitions.map(transitionCard)}
</ul>
${olderLink(content)}`,
  });
}

function nothingIn({ state, reference }: InboxContent): string {
  if (reference === undefined) return 'Nothing here.';
  const among = state === undefined ? '' : ` that is ${state}`;
  return `Nothing came for “${reference}”${among}. The reference must be complete, letter by letter.`;
}

function olderLink({ state, reference, older }: InboxContent): Markup | string {
  if (older === undefined) return '';
  const query = new URLSearchParams({
    ...(state === undefined ? {} : { state }),
    ...(reference === undefined ? {} : { reference }),
    after: older,
  });
  return html`<p><a class="button" href="/owner/inbox?${query.toString()}">Older</a></p>`;
}

function transitionCard(transition: TransitionSummary): Markup {
  const { transitionId, signed, deliveries, bodyCount, attempts, changedAt } = transition;
  return html`<li class="card">
<h2><a href="/owner/inbox/${transitionId}">${signed.merchant_reference || 'no reference'}<span class="hidden"> ${signed.transaction_status} ${signed.internal_reference}</span></a> ${stateBadge(transition)}</h2>
<p>${wordsFor(transition).heading}</p>
<p class="quiet">${signed.transaction_type} ${signed.transaction_status}, received ${times(deliveries)}${bodyCount > 1 ? `, ${bodyCount} different bodies` : ''}${attempts > 1 ? `, ${attempts} attempts` : ''}</p>
<p class="quiet">${time(changedAt)}</p>
</li>`;
}

function overdueList(overdue: readonly OverdueExpectation[], count: number): Markup {
  return html`<section class="notice"><h2>Overdue</h2>
<p>Payments that were started, and whose outcome has not come: ${count}. Ask the payment service about them.</p>
<ul>${overdue.map(
    ({ merchant_reference: reference, currency, amount, deadline }) =>
      html`<li><a href="/orders/${encodeURIComponent(reference)}">${reference}</a>: ${formatMoney(currency, amount)}, expected by ${time(deadline)}</li>`,
  )}</ul></section>`;
}
