import { html } from 'hono/html';
import { formatMoney } from '../money.ts';
import { type Concern, type Order, orderState } from '../order.ts';
import type { Stray } from '../order-store.ts';
import { type Markup, type Page, page } from './page.ts';

/** For the owner. It holds names and account numbers: put it behind your own login. */
export function ownerOrdersPage(
  orders: readonly Order[],
  strays: readonly Stray[],
  refusals: ReadonlyMap<string, number>,
): Promise<Page> {
  return page({
    title: 'Orders',
    section: '/owner/orders',
    main: html`<h1>Orders</h1>
${orders.length === 0 ? html`<p>No orders yet. <a href="/">Buy something</a>, and it will be here.</p>` : ''}
<ul class="orders">
${orders.map(orderCard)}
</ul>
${strays.length === 0 ? '' : strayList(strays)}
${refusals.size === 0 ? '' : refusalList(refusals)}`,
  });
}

function orderCard(order: Order): Markup {
  const state = orderState(order);
  return html`<li class="card">
<h2><a href="/orders/${order.reference}">${order.reference}</a> <span class="badge ${state === 'paid' ? 'on' : 'off'}">${state}</span>${order.concerns.length === 0 ? '' : html` <span class="badge bad">look at this</span>`}</h2>
<dl>
<dt>Total</dt><dd>${formatMoney(order.total.currency, order.total.amount)}</dd>
<dt>Item</dt><dd>${order.quantity} × ${order.item}</dd>
<dt>Customer</dt><dd>${order.customerName}</dd>
<dt>Account</dt><dd>${order.account}</dd>
<dt>Provider</dt><dd>${order.providerName}</dd>
<dt>Ordered</dt><dd>${time(order.createdAt)}</dd>
${order.payment === undefined ? '' : html`<dt>Paid</dt><dd>${time(order.payment.at)}, ${order.payment.internalReference}</dd>`}
${order.reported === undefined ? '' : html`<dt>Reported</dt><dd>${order.reported.status}: ${order.reported.message}</dd>`}
${order.start.state === 'refused' || order.start.state === 'unknown' ? html`<dt>Start failed</dt><dd>${order.start.why}</dd>` : ''}
</dl>
${order.concerns.map(concernNote)}
</li>`;
}

const HEADINGS: Record<Concern['kind'], string> = {
  amount: 'Suspicious: the amount differs',
  not_a_collection: 'Suspicious: not a collection',
  paid_twice: 'Paid twice',
  outcome_after_payment: 'Another outcome after the payment',
};

function concernNote(concern: Concern): Markup {
  return html`<div class="notice bad">
<h3>${HEADINGS[concern.kind]}</h3>
<p>${explanation(concern)}</p>
<p class="quiet">${concern.internalReference}, ${time(concern.at)}${concern.times > 1 ? `, came ${concern.times} times` : ''}</p>
</div>`;
}

function explanation({ kind, claims, status }: Concern): string {
  switch (kind) {
    case 'amount': {
      const list = claims.map(({ field, value, reason }) => `${field}: ${value} (${reason})`).join(', ');
      return `A callback with a valid signature is not the payment of this order: ${list}. Amounts are not signed, so somebody may have changed it. It paid nothing.`;
    }
    case 'not_a_collection':
      return 'A callback of another transaction type came under the reference of this order. It paid nothing.';
    case 'paid_twice':
      return 'A second transaction was completed for this order. The customer may have to get money back.';
    case 'outcome_after_payment':
      return `After the payment, the service reported ${status}. The order stays paid until you decide otherwise.`;
  }
}

function strayList(strays: readonly Stray[]): Markup {
  return html`<section><h2>Callbacks of no order</h2>
<p>Genuine signatures for a reference that this shop does not know. Orders live in memory, so a restart forgets them.</p>
<ul>${strays.map(({ reference, status, at }) => html`<li>${reference}: ${status}, ${time(at)}</li>`)}</ul></section>`;
}

function refusalList(refusals: ReadonlyMap<string, number>): Markup {
  return html`<section><h2>Refused callbacks and redirects</h2>
<ul>${[...refusals].map(([code, times]) => html`<li><code>${code}</code>: ${times}</li>`)}</ul></section>`;
}

function time(milliseconds: number): string {
  return new Date(milliseconds)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}
