import { canonicalAmount } from '@payment-service/core';
import type { TransitionSummary } from '@payment-service/inbox';
import {
  badge,
  columnsOf,
  counted,
  html,
  list,
  type Markup,
  type Tone,
  tableOf,
  time,
} from '@payment-service/pages';
import { formatMoney, isHeld, type Order, type OrderState, orderState } from '../books/order.ts';
import { type Page, page } from '../web/page.ts';
import { INBOX } from './console.ts';

type OrderRow = { readonly id: string; readonly order: Order; readonly transitions: TransitionSummary[] };

const TONES: Readonly<Record<OrderState, Tone>> = {
  open: 'wait',
  paid: 'good',
  failed: 'bad',
  'not started': 'neutral',
};

/**
 * The last orders, for the owner; the console of the inbox shows what became of their callbacks. This page contains names and
 * account numbers: put it behind your own login.
 *
 * @param orders with the transitions of each in the inbox.
 * @param refusals how often the adapter gave each hint.
 */
export function ordersPage(
  orders: readonly OrderRow[],
  refusals: ReadonlyMap<string, number>,
): Promise<Page> {
  return page({
    title: 'Orders',
    section: '/owner/orders',
    main: html`${orders.length === 0 ? html`<p>No orders yet. <a href="/">Buy something</a>, and it will be here.</p>` : orderList(orders)}
${refusals.size === 0 ? '' : refusalList(refusals)}`,
  });
}

const aside = (text: string | Markup): Markup => html` <span class="quiet small">${text}</span>`;

function orderList(orders: readonly OrderRow[]): Markup {
  const columns = columnsOf<OrderRow>({
    'Order | wide': ({ id, order: { quantity, item, createdAt } }) =>
      html`<a href="/orders/${id}">${id}</a>${aside(html`${quantity} × ${item}, ${time(createdAt)}`)}`,
    'State | title': stateCell,
    'Total | title': moneyCell,
    Customer: ({ order: { customerName, account, providerName } }) =>
      html`${customerName}${aside(`${account}, ${providerName}`)}`,
    Callbacks: callbackCell,
  });
  return list('orders', columns, orders);
}

function stateCell({ order }: OrderRow): Markup {
  const { payment, reported, start } = order;
  const state = orderState(order);
  const unknown = start.state === 'unknown' ? 'Start unknown: ' : '';
  const why =
    payment !== undefined
      ? time(payment.at)
      : reported !== undefined
        ? `Reported ${reported}`
        : 'why' in start
          ? `${unknown}${start.why}`
          : '';
  return html`${badge(TONES[state], state)}${aside(why)}`;
}

function moneyCell({ order: { total, payment } }: OrderRow): Markup {
  const { currency, amount } = total;
  const { settled: paid, charge } = payment ?? {};
  const isOther =
    paid !== undefined && (paid.currency !== currency || paid.amount !== canonicalAmount(amount));
  return html`${formatMoney(currency, amount)}
${isOther ? aside(`Paid ${formatMoney(paid.currency, paid.amount)}`) : ''}
${charge === undefined ? '' : aside(`Charge ${formatMoney(currency, charge)}, as its callback claims`)}`;
}

/** Their number, and a link to them in the console. */
function callbackCell({ id, transitions }: OrderRow): Markup | string {
  if (transitions.length === 0) return '–';
  return html`<a href="${INBOX}/transitions?reference=${id}">${counted(transitions.length, 'callback')}<span class="hidden-text"> of ${id}</span></a>${
    transitions.some(needsAttention) ? html` ${badge('bad', 'needs attention')}` : ''
  }`;
}

/** A settled one is suspicious if other bodies were received as well. */
function needsAttention(transition: TransitionSummary): boolean {
  const { state, bodyCount } = transition;
  return isHeld(transition) || state === 'retrying' || (state === 'settled' && bodyCount > 1);
}

function refusalList(refusals: ReadonlyMap<string, number>): Markup {
  return html`<section class="stack"><h2>Refused callbacks and redirects since the shop started</h2>
${tableOf('refusals', ['Why', 'Count'], [...refusals], ([hint, count]) => [hint, String(count)])}</section>`;
}
