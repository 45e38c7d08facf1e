import type { InboxStats, TransitionSummary } from '@payment-service/inbox';
import { wordsOf } from '@payment-service/inbox/console';
import { html } from 'hono/html';
import { HELD_STATES, isHeld } from '../held.ts';
import { formatMoney } from '../money.ts';
import { ORDER_STATES, type Order, type OrderState, orderState } from '../order.ts';
import type { StrayPayment } from '../order-store.ts';
import { INBOX, storyOf } from '../owner-console.ts';
import { type Markup, type Page, page } from './page.ts';
import { searchForm, stateLinks } from './search.ts';
import { time } from './time.ts';

interface OwnerOrders {
  /** With what the inbox holds of each. */
  readonly orders: readonly (readonly [Order, readonly TransitionSummary[]])[];
  /** What is asked for; all of them without both. */
  readonly state: OrderState | undefined;
  readonly reference: string | undefined;
  /** Whether these are not the newest. */
  readonly isLater: boolean;
  /** Before this one there are older ones. */
  readonly older: string | undefined;
  readonly strayPayments: readonly StrayPayment[];
  readonly stats: InboxStats;
  /** How often the adapter gave each hint. */
  readonly refusals: ReadonlyMap<string, number>;
}

const PATH = '/owner/orders';

/** For the owner. It holds names and account numbers: put it behind your own login. */
export function ownerOrdersPage(content: OwnerOrders): Promise<Page> {
  const { orders, state, reference, isLater, older, strayPayments, stats, refusals } = content;
  const asked = {
    ...(state === undefined ? {} : { state }),
    ...(reference === undefined ? {} : { reference }),
  };
  const isFiltered = state !== undefined || reference !== undefined || isLater;
  return page({
    title: 'Orders',
    count: heldCount(stats),
    section: PATH,
    main: html`<h1>Orders</h1>
${inboxSummary(stats)}
${stateLinks(
  PATH,
  ORDER_STATES.map((one) => [one, one]),
  'all',
  state,
)}
${searchForm(PATH, reference, state)}
${orders.length > 0 ? orderTable(orders) : isFiltered ? html`<p>No order matches.</p>` : html`<p>No orders yet. <a href="/">Buy something</a>, and it will be here.</p>`}
<p>${isLater ? html`<a class="button" href="${PATH}?${new URLSearchParams(asked).toString()}">Newest</a>` : ''}
${older === undefined ? '' : html`<a class="button" href="${PATH}?${new URLSearchParams({ ...asked, before: older }).toString()}">Older</a>`}</p>
${strayPayments.length === 0 ? '' : strayPaymentList(strayPayments)}
${refusals.size === 0 ? '' : refusalTable(refusals)}`,
  });
}

/** How many transitions wait for a person. */
export function heldCount({ states }: InboxStats): number {
  return HELD_STATES.reduce((sum, state) => sum + states[state], 0);
}

/** Callbacks of no order are seen nowhere else on this page. */
function inboxSummary({ states }: InboxStats): Markup | '' {
  const open = [...HELD_STATES, 'unhandled' as const].filter((state) => states[state] > 0);
  if (open.length === 0) return '';
  return html`<p class="notice">The inbox holds callbacks that were not applied:
${open.map((state, index) => html`${index === 0 ? '' : ', '}<a href="${INBOX}/transitions?state=${state}">${states[state]} ${state}</a>`)}.</p>`;
}

function orderTable(orders: OwnerOrders['orders']): Markup {
  return html`<table class="stack">
<caption class="hidden">Orders, the newest first</caption>
<thead><tr>${['Order', 'State', 'Total', 'Customer', 'Ordered', 'Callbacks'].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${orders.map(([order, transitions]) => orderRow(order, transitions))}</tbody>
</table>`;
}

const CLOSED: readonly string[] = ['settled', 'superseded', 'resolved'];

/** What the inbox did not simply apply. */
function isNoted(transition: TransitionSummary): boolean {
  return !CLOSED.includes(transition.state) || isContradicted(transition);
}

function isContradicted({ state, bodyCount }: TransitionSummary): boolean {
  return state === 'settled' && bodyCount > 1;
}

function orderRow(order: Order, transitions: readonly TransitionSummary[]): Markup {
  const { reference, payment, total } = order;
  const notes = transitions.filter(isNoted);
  const isLookedFor = notes.some((note) => isHeld(note) || note.state === 'retrying' || isContradicted(note));
  const count = transitions.length === 1 ? '1 callback' : `${transitions.length} callbacks`;
  return html`<tr id="${reference}">
<th scope="row"><a href="/orders/${reference}">${reference}</a> <span class="quiet">${order.quantity} × ${order.item}</span></th>
<td data-label="State">${orderBadge(order)}${isLookedFor ? html` <span class="badge bad">needs attention</span>` : ''} ${whyState(order)}</td>
<td data-label="Total">${formatMoney(total.currency, total.amount)}${payment?.charge === undefined ? '' : html` <span class="quiet">Charge ${formatMoney(total.currency, payment.charge)}, as its callback claims</span>`}</td>
<td data-label="Customer">${order.customerName} <span class="quiet">${order.account}, ${order.providerName}</span></td>
<td data-label="Ordered">${time(order.createdAt)}</td>
<td data-label="Callbacks">${transitions.length === 0 ? '–' : html`<a href="${INBOX}/transitions?reference=${reference}">${count}<span class="hidden"> of ${reference}</span></a>`}${notes.map(note)}</td>
</tr>`;
}

function orderBadge(order: Order): Markup {
  const state = orderState(order);
  const mood = state === 'paid' ? 'on' : state === 'failed' ? 'bad' : 'off';
  return html`<span class="badge ${mood}">${state}</span>`;
}

function whyState({ payment, reported, start }: Order): Markup | '' {
  if (payment !== undefined) {
    return html`<a href="${storyOf(payment.transitionId)}">${time(payment.at)}</a>`;
  }
  if (reported !== undefined) return html`<span class="quiet">Reported ${reported}</span>`;
  if (start.state !== 'refused' && start.state !== 'unknown') return '';
  return html`<span class="quiet">${start.state === 'refused' ? '' : 'Start unknown: '}${start.why}</span>`;
}

function note(transition: TransitionSummary): Markup {
  const { signed, transitionId } = transition;
  const heading = isContradicted(transition)
    ? 'Suspicious: other bodies were received as well'
    : wordsOf(transition).heading;
  return html` <a href="${storyOf(transitionId)}">${heading}<span class="hidden">, ${signed.transaction_type} ${signed.transaction_status} of ${signed.merchant_reference}, ${signed.internal_reference}</span></a>`;
}

function strayPaymentList(payments: readonly StrayPayment[]): Markup {
  return html`<section><h2>Payments of no order</h2>
<p>Accepted by a person in the inbox.</p>
<ul>${payments.map(
    ({ transitionId, reference, currency, amount }) =>
      html`<li><a href="${storyOf(transitionId)}">${reference}: ${formatMoney(currency, amount)}</a></li>`,
  )}</ul></section>`;
}

function refusalTable(refusals: ReadonlyMap<string, number>): Markup {
  return html`<section><h2 id="refused">Refused callbacks and redirects since the shop was started</h2>
<table aria-labelledby="refused"><thead><tr><th scope="col">Why</th><th scope="col">Count</th></tr></thead>
<tbody>${[...refusals].map(([hint, count]) => html`<tr><th scope="row">${hint}</th><td>${count}</td></tr>`)}</tbody></table></section>`;
}
