import type { TransitionSummary } from '@payment-service/inbox';
import { html } from 'hono/html';
import { isClosed, needsAttention, wordsFor } from '../inbox-words.ts';
import { formatMoney } from '../money.ts';
import type { Order } from '../order.ts';
import type { StrayPayment } from '../order-store.ts';
import { type Markup, type Page, page } from './page.ts';
import { orderBadge } from './state-badge.ts';
import { time, times } from './time.ts';

interface OwnerOrders {
  readonly orders: readonly Order[];
  readonly strayPayments: readonly StrayPayment[];
  /** Of the inbox, the newest first. */
  readonly transitions: readonly TransitionSummary[];
  readonly refusals: ReadonlyMap<string, number>;
}

/** For the owner. It holds names and account numbers: put it behind your own login. */
export function ownerOrdersPage({
  orders,
  strayPayments,
  transitions,
  refusals,
}: OwnerOrders): Promise<Page> {
  const references = new Set(orders.map(({ reference }) => reference));
  const ofNoOrder = transitions.filter(({ signed }) => !references.has(signed.merchant_reference));
  const waiting = ofNoOrder.filter((transition) => !isClosed(transition));
  return page({
    title: 'Orders',
    section: '/owner/orders',
    main: html`<h1>Orders</h1>
${orders.length === 0 ? html`<p>No orders yet. <a href="/">Buy something</a>, and it will be here.</p>` : ''}
<ul class="orders">
${orders.map((order) => orderCard(order, ofOrder(order, transitions)))}
</ul>
${waiting.length === 0 ? '' : strayList(waiting)}
${strayPayments.length === 0 ? '' : strayPaymentList(strayPayments)}
${refusals.size === 0 ? '' : refusalList(refusals)}`,
  });
}

function ofOrder({ reference }: Order, transitions: readonly TransitionSummary[]): TransitionSummary[] {
  return transitions.filter(({ signed }) => signed.merchant_reference === reference);
}

/** What the inbox did not simply apply. */
function isNoted(transition: TransitionSummary): boolean {
  return !isClosed(transition) || (transition.state === 'settled' && transition.bodyCount > 1);
}

function orderCard(order: Order, transitions: readonly TransitionSummary[]): Markup {
  const notes = transitions.filter(isNoted);
  const { payment, reported } = order;
  const isLookedFor = notes.some((note) => needsAttention(note) || note.state === 'settled');
  return html`<li class="card" id="${order.reference}">
<h2><a href="/orders/${order.reference}">${order.reference}</a> ${orderBadge(order)}${isLookedFor ? html` <span class="badge bad">look at this</span>` : ''}</h2>
<dl>
<dt>Total</dt><dd>${formatMoney(order.total.currency, order.total.amount)}</dd>
<dt>Item</dt><dd>${order.quantity} × ${order.item}</dd>
<dt>Customer</dt><dd>${order.customerName}</dd>
<dt>Account</dt><dd>${order.account}</dd>
<dt>Provider</dt><dd>${order.providerName}</dd>
<dt>Ordered</dt><dd>${time(order.createdAt)}</dd>
${payment === undefined ? '' : html`<dt>Paid</dt><dd><a href="/owner/inbox/${payment.transitionId}">${time(payment.at)}</a></dd>`}
${payment?.charge === undefined ? '' : html`<dt>Charge</dt><dd>${formatMoney(order.total.currency, payment.charge)}, as its callback claims</dd>`}
${reported === undefined || payment !== undefined ? '' : html`<dt>Reported</dt><dd>${reported}</dd>`}
${order.start.state === 'refused' || order.start.state === 'unknown' ? html`<dt>${order.start.state === 'refused' ? 'Not started' : 'Start unknown'}</dt><dd>${order.start.why}</dd>` : ''}
${transitions.length === 0 ? '' : html`<dt>Inbox</dt><dd><a href="/owner/inbox?reference=${order.reference}">${transitions.length === 1 ? '1 callback' : `${transitions.length} callbacks`}</a></dd>`}
</dl>
${notes.map(note)}
</li>`;
}

function note(transition: TransitionSummary): Markup {
  const { state, signed, transitionId, bodyCount, deliveries, changedAt } = transition;
  const { heading, text } =
    state === 'settled'
      ? {
          heading: 'Suspicious: other bodies were received as well',
          text: `One signature was received with ${bodyCount} different bodies. Only the one with the amount of the order was applied.`,
        }
      : wordsFor(transition);
  return html`<div class="notice ${needsAttention(transition) || state === 'settled' ? 'bad' : ''}">
<h3>${heading}</h3>
<p>${text}</p>
<p class="quiet">${signed.transaction_type} ${signed.transaction_status}, received ${times(deliveries)}, ${time(changedAt)}</p>
<p><a href="/owner/inbox/${transitionId}">Look at it in the inbox</a></p>
</div>`;
}

function strayList(transitions: readonly TransitionSummary[]): Markup {
  return html`<section><h2>Callbacks of no order</h2>
<p>Genuine signatures for a reference that this shop does not know.</p>
<ul>${transitions.map(
    ({ transitionId, signed }) =>
      html`<li><a href="/owner/inbox/${transitionId}">${signed.merchant_reference || 'no reference'}: ${signed.transaction_status}</a></li>`,
  )}</ul></section>`;
}

function strayPaymentList(payments: readonly StrayPayment[]): Markup {
  return html`<section><h2>Payments of no order</h2>
<p>Accepted by a person in the inbox.</p>
<ul>${payments.map(
    ({ transitionId, reference, currency, amount }) =>
      html`<li><a href="/owner/inbox/${transitionId}">${reference}: ${formatMoney(currency, amount)}</a></li>`,
  )}</ul></section>`;
}

function refusalList(refusals: ReadonlyMap<string, number>): Markup {
  return html`<section><h2>Refused callbacks and redirects</h2>
<p>Since the shop was started.</p>
<ul>${[...refusals].map(([code, count]) => html`<li><code>${code}</code>: ${count}</li>`)}</ul></section>`;
}
