import { canonicalAmount } from '@payment-service/core';
import type { InboxStats, TransitionSummary } from '@payment-service/inbox';
import { wordsOf } from '@payment-service/inbox/console';
import {
  badge,
  type Column,
  chips,
  column,
  counted,
  list,
  type Markup,
  type Tone,
  tableOf,
  time,
} from '@payment-service/pages';
import { html } from 'hono/html';
import {
  formatMoney,
  HELD_STATES,
  isHeld,
  ORDER_STATES,
  type Order,
  type OrderState,
  orderState,
} from '../books/order.ts';
import type { StrayPayment } from '../books/order-store.ts';
import { type Page, page } from '../web/page.ts';
import { INBOX, storyOf } from './console.ts';

type OrderRow = readonly [order: Order, transitions: readonly TransitionSummary[]];

interface OwnerOrders {
  /** With the transitions of each in the inbox. */
  readonly orders: readonly OrderRow[];
  /** The filter; without either, all orders. */
  readonly state: OrderState | undefined;
  readonly reference: string | undefined;
  /** Whether there are newer ones. */
  readonly isLater: boolean;
  /** The last order here, if there are older ones. */
  readonly older: string | undefined;
  readonly strayPayments: readonly StrayPayment[];
  readonly stats: InboxStats;
  /** How often the adapter gave each hint. */
  readonly refusals: ReadonlyMap<string, number>;
}

const PATH = '/owner/orders';
const TONES: Readonly<Record<OrderState, Tone>> = {
  open: 'wait',
  paid: 'good',
  failed: 'bad',
  'not started': 'neutral',
};
const CLOSED: readonly string[] = ['settled', 'superseded', 'resolved'];

/** For the owner. It contains names and account numbers: put it behind your own login. */
export function ordersPage(content: OwnerOrders): Promise<Page> {
  const { orders, state, reference, isLater, older, strayPayments, stats, refusals } = content;
  const isFiltered = state !== undefined || reference !== undefined || isLater;
  return page({
    title: 'Orders',
    count: HELD_STATES.reduce((sum, one) => sum + stats.states[one], 0),
    section: PATH,
    main: html`${inboxSummary(stats)}
<div class="head">${chips([
      { href: PATH, label: 'all', isCurrent: state === undefined },
      ...ORDER_STATES.map((one) => ({
        href: addressOf({ state: one }),
        label: one,
        isCurrent: state === one,
      })),
    ])}${searchForm(reference, state)}</div>
${orders.length > 0 ? orderList(orders) : isFiltered ? html`<p>No order matches.</p>` : html`<p>No orders yet. <a href="/">Buy something</a>, and it will be here.</p>`}
<nav class="actions" aria-label="Pages of the list">${isLater ? html`<a class="button" href="${addressOf({ state, reference })}">Newest</a>` : ''}
${older === undefined ? '' : html`<a class="button" href="${addressOf({ state, reference, before: older })}">Older</a>`}</nav>
${strayPayments.length === 0 ? '' : strayPaymentList(strayPayments)}
${refusals.size === 0 ? '' : refusalList(refusals)}`,
  });
}

function addressOf(asked: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? PATH : `${PATH}?${query}`;
}

/** The rest of this page does not show callbacks that belong to no order. */
function inboxSummary({ states }: InboxStats): Markup | '' {
  const open = [...HELD_STATES, 'unhandled' as const].filter((state) => states[state] > 0);
  if (open.length === 0) return '';
  return html`<div class="note wait"><p>The inbox holds callbacks that were not applied:
${open.map((state, index) => html`${index === 0 ? '' : ', '}<a href="${INBOX}/transitions?state=${state}">${states[state]} ${state}</a>`)}.</p></div>`;
}

/** Searches for a reference, in the chosen state if there is one. */
function searchForm(reference: string | undefined, state: OrderState | undefined): Markup {
  return html`<form action="${PATH}" class="search" role="search">
${state === undefined ? '' : html`<input type="hidden" name="state" value="${state}">`}
<label class="hidden-text" for="reference">Reference of the order</label>
<input id="reference" name="reference" type="search" value="${reference ?? ''}" placeholder="Reference of the order" autocomplete="off" autocapitalize="off" spellcheck="false">
<button>Search</button></form>`;
}

function orderList(orders: readonly OrderRow[]): Markup {
  const columns: readonly Column<{ id: string; row: OrderRow }>[] = [
    column(
      'Order',
      'wide',
      ({ id, row: [{ quantity, item, createdAt }] }) =>
        html`<a href="/orders/${id}">${id}</a> <span class="quiet small">${quantity} × ${item}, ${time(createdAt)}</span>`,
    ),
    column('State', 'title', ({ row }) => stateCell(row)),
    column('Total', 'title', ({ row: [order] }) => moneyCell(order)),
    column(
      'Customer',
      '',
      ({ row: [{ customerName, account, providerName }] }) =>
        html`${customerName} <span class="quiet small">${account}, ${providerName}</span>`,
    ),
    column('Callbacks', '', ({ row }) => callbackCell(row)),
  ];
  return list(
    'orders',
    columns,
    orders.map((row) => ({ id: row[0].reference, row })),
  );
}

function stateCell([order, transitions]: OrderRow): Markup {
  const { payment, reported, start } = order;
  const state = orderState(order);
  const isLookedFor = transitions.some(
    (one) => isHeld(one) || one.state === 'retrying' || isContradicted(one),
  );
  const why =
    payment !== undefined
      ? html`<a href="${storyOf(payment.transitionId)}">${time(payment.at)}</a>`
      : reported !== undefined
        ? html`<span class="quiet small">Reported ${reported}</span>`
        : start.state === 'refused' || start.state === 'unknown'
          ? html`<span class="quiet small">${start.state === 'refused' ? '' : 'Start unknown: '}${start.why}</span>`
          : '';
  return html`${badge(TONES[state], state)}${isLookedFor ? html` ${badge('bad', 'needs attention')}` : ''} ${why}`;
}

function moneyCell({ total: { currency, amount }, payment }: Order): Markup {
  const paid = payment?.settled;
  const isOther =
    paid !== undefined && (paid.currency !== currency || paid.amount !== canonicalAmount(amount));
  return html`${formatMoney(currency, amount)}${
    isOther ? html` <span class="quiet small">Paid ${formatMoney(paid.currency, paid.amount)}</span>` : ''
  }${
    payment?.charge === undefined
      ? ''
      : html` <span class="quiet small">Charge ${formatMoney(currency, payment.charge)}, as its callback claims</span>`
  }`;
}

/** A link to all of them, and to each that was not simply applied. */
function callbackCell([{ reference }, transitions]: OrderRow): Markup | string {
  const noted = transitions.filter((one) => !CLOSED.includes(one.state) || isContradicted(one));
  if (transitions.length === 0) return '–';
  return html`<a href="${INBOX}/transitions?reference=${reference}">${counted(transitions.length, 'callback')}<span class="hidden-text"> of ${reference}</span></a>${noted.map(note)}`;
}

function note(transition: TransitionSummary): Markup {
  const { signed, transitionId } = transition;
  const heading = isContradicted(transition)
    ? 'Suspicious: other bodies were received as well'
    : wordsOf(transition).heading;
  return html` <a href="${storyOf(transitionId)}">${heading}<span class="hidden-text">, ${signed.transaction_type} ${signed.transaction_status} of ${signed.merchant_reference}, ${signed.internal_reference}</span></a>`;
}

function isContradicted({ state, bodyCount }: TransitionSummary): boolean {
  return state === 'settled' && bodyCount > 1;
}

function strayPaymentList(payments: readonly StrayPayment[]): Markup {
  return html`<section class="card"><h2>Payments without an order</h2>
<p>Accepted by a person in the inbox.</p>
<ul>${payments.map(
    ({ transitionId, reference, currency, amount }) =>
      html`<li><a href="${storyOf(transitionId)}">${reference}: ${formatMoney(currency, amount)}</a></li>`,
  )}</ul></section>`;
}

function refusalList(refusals: ReadonlyMap<string, number>): Markup {
  return html`<section class="stack"><h2>Refused callbacks and redirects since the shop started</h2>
${tableOf('refusals', ['Why', 'Count'], [...refusals], ([hint, count]) => [hint, String(count)])}</section>`;
}
