import { canonicalAmount } from '@payment-service/core';
import type { Wallet } from '@payment-service/core/client';
import type { TransitionSummary } from '@payment-service/inbox';
import { inboxConsole, type NodeListener, nodeListener } from '@payment-service/inbox/console';
import { badge, columnsOf, counted, html, list, type Markup, time } from '@payment-service/pages';
import { formatMoney, HELD_STATES, isHeld, type Order } from '../books/order.ts';
import type { Context } from '../context.ts';
import { stateOf } from '../orders/order-routes.ts';
import { errorText, json, page, seeOther } from '../web/page.ts';
import { get, isOwnHost, type Route, reportOutage } from '../web/route.ts';
import { ownerOfSession } from '../web/session.ts';

/** The path of the inbox's console. */
const INBOX = '/owner/inbox';

/**
 * The inbox for its owner. It is protected like the owner's own page: by the addresses under which the shop answers, without a
 * login. Names and account numbers in bodies stay hidden, since the orders show them.
 */
export function ownerConsole({ inbox, log, ...own }: Context): NodeListener {
  const console = inboxConsole(inbox, {
    basePath: INBOX,
    authorize: ({ headers }) =>
      isOwnHost(headers.get('host') ?? undefined, own) && {
        by: ownerOfSession(),
        may: ['read', 'retry', 'resolve', 'reopen', 'expect', 'reconcile'],
      },
    onError: (error) => log(errorText(error)),
  });
  return nodeListener(console);
}

/** Which column of the sandbox's statement is which. */
const COLUMNS =
  'merchant_reference=Reference,internal_reference=Internal reference,transaction_type=Type,transaction_status=Status,currency=Currency,amount=Amount,event==transaction.completed';

/** The console's comparison of today. */
function todaysBooks(): string {
  const day = (ahead: number): string => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10);
  const query = { from: day(0), to: day(1), before: '0', after: '0', charges: 'UGX=0..0.03', map: COLUMNS };
  return `${INBOX}/reconcile?${new URLSearchParams(query)}`;
}

/** The owner's only page beside the console, and the health of the inbox for a monitor. */
export function ownerRoutes({ client, orders, inbox, log }: Context): Route[] {
  const balances = () =>
    client
      .getWalletBalances({}, { signal: AbortSignal.timeout(1000) })
      .catch((error: unknown) => reportOutage(error, log));
  return [
    // It contains names and account numbers: put it behind your own login.
    get('/owner/orders', async () => {
      const rowOf = async (order: Order) => ({
        id: order.reference,
        order,
        transitions: await inbox.list({ merchant_reference: order.reference }),
      });
      const rows = await Promise.all(orders.list().map(rowOf));
      const none = html`<p>No orders yet. <a href="/">Buy something</a>, and it will be here.</p>`;
      return page({
        title: 'Orders and wallets',
        section: '/owner/orders',
        main: html`${rows.length === 0 ? none : orderList(rows)}
<section class="stack"><h2>Wallets</h2>${walletsIn(await balances())}</section>`,
      });
    }),
    get('/owner/reconcile', async () => {
      // Up to now. A shop in production records them on a schedule.
      const wallets = await balances();
      if (wallets?.length) await inbox.recordBalances(wallets);
      return seeOther(todaysBooks());
    }),
    get('/healthz', async () => {
      const health = await inbox.health();
      // Callbacks that wait for an operator are not a reason to take the shop out of service, but a monitor may alert on them.
      const { states } = health.problems.includes('store_unavailable') ? {} : await inbox.stats();
      const needsPerson = states && Object.fromEntries(HELD_STATES.map((state) => [state, states[state]]));
      return json(health.ok ? 200 : 503, { ...health, needsPerson });
    }),
  ];
}

/** The balances as reported by the payment service. */
function walletsIn(wallets: readonly Wallet[] | undefined): Markup {
  if (wallets === undefined) return html`<p class="note wait">The payment service is unavailable.</p>`;
  if (wallets.length === 0)
    return html`<p>The account has no wallets yet. The first payment creates one.</p>`;
  const money = (name: `${'available' | 'uncleared' | 'reserve' | 'actual'}_balance`) => (wallet: Wallet) =>
    formatMoney({ currency: wallet.currency, amount: wallet[name] });
  const columns = columnsOf<Wallet & { id: string }>({
    'Wallet | title wide': ({ currency, wallet_type: type }) =>
      `${currency}, ${type.replace('MERCHANT_', '').toLowerCase()}`,
    'Available | number': money('available_balance'),
    'Uncleared | number': money('uncleared_balance'),
    'Reserve | number': money('reserve_balance'),
    'Actual | number': money('actual_balance'),
  });
  const rows = wallets.map((wallet) => ({ ...wallet, id: `${wallet.currency}-${wallet.wallet_type}` }));
  return list('wallets', columns, rows);
}

/** An order with its transitions in the inbox. */
interface OrderRow {
  readonly id: string;
  readonly order: Order;
  readonly transitions: TransitionSummary[];
}

const aside = (text: string | Markup): Markup | '' => text && html`<div class="quiet small">${text}</div>`;

/** Orders for the owner; the console of the inbox shows what became of their callbacks. */
function orderList(orders: readonly OrderRow[]): Markup {
  const columns = columnsOf<OrderRow>({
    'Order | wide': ({ id, order: { quantity, item, createdAt } }) =>
      html`<a href="/orders/${id}">${id}</a>${aside(html`${quantity} × ${item}, ${time(createdAt)}`)}`,
    'State | title': ({ order }) => html`${stateOf(order)}${aside(whyOf(order))}`,
    'Total | title number': ({ order: { total, payment } }) => {
      const paid = formatMoney(payment?.settled ?? total);
      const isOther = payment && paid !== formatMoney({ ...total, amount: canonicalAmount(total.amount) });
      return html`${formatMoney(total)}${aside(isOther ? `Paid ${paid}` : '')}`;
    },
    // A claim: it is not signed.
    'Charge, as claimed | minor number': ({ order: { total, payment } }) =>
      payment?.charge ? formatMoney({ ...total, amount: payment.charge }) : '',
    Customer: ({ order: { customerName, account, providerName } }) =>
      html`${customerName}${aside(`${account}, ${providerName}`)}`,
    Callbacks: ({ id, transitions }) =>
      transitions.length === 0
        ? '–'
        : html`<a class="number" href="${INBOX}/transitions?reference=${id}">${counted(transitions.length, 'callback')}<span class="hidden-text"> of ${id}</span></a>${
            transitions.some(needsAttention) ? html` ${badge('bad', 'Needs attention')}` : ''
          }`,
  });
  return list('orders', columns, orders);
}

function whyOf({ payment, reported, start }: Order): string {
  if (payment !== undefined) return '';
  if (reported !== undefined) return `Reported ${reported}`;
  return 'why' in start ? `${start.state === 'unknown' ? 'Start unknown: ' : ''}${start.why}` : '';
}

/** A settled one is suspicious if other bodies were received as well. */
function needsAttention(transition: TransitionSummary): boolean {
  const { state, bodyCount } = transition;
  return isHeld(transition) || state === 'retrying' || (state === 'settled' && bodyCount > 1);
}
