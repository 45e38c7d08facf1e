import { canonicalAmount } from '@payment-service/core';
import type { TransitionSummary } from '@payment-service/inbox';
import { inboxConsole, type NodeListener, nodeListener } from '@payment-service/inbox/console';
import { badge, type Column, column, counted, html, list, type Markup, time } from '@payment-service/pages';
import { formatMoney, isHeld, type Order } from '../books/order.ts';
import type { Context } from '../context.ts';
import { stateOf } from '../orders/order-routes.ts';
import { errorText, headers, page, seeOther } from '../web/page.ts';
import { get, isOwnHost, type Route } from '../web/route.ts';

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
        // Kept with each action. This shop has no login, so every visitor is the owner: read the name from your session, never
        // from a form.
        by: 'owner',
        may: ['read', 'retry', 'close', 'apply', 'accept', 'expect', 'cancel', 'reconcile'],
      },
    onError: (error) => log(errorText(error)),
  });
  return nodeListener(console);
}

/** Which column of the sandbox's statement is which. */
const COLUMNS =
  'merchant_reference=Reference,internal_reference=Internal reference,transaction_type=Type,transaction_status=Status,currency=Currency,amount=Amount,event==transaction.completed';

/** The owner's only page beside the console, and the health of the inbox for a monitor. */
export function ownerRoutes(context: Context): Route[] {
  const { client, inbox } = context;
  return [
    // It contains names and account numbers: put it behind your own login.
    get('/owner/orders', async () =>
      page({
        title: 'Orders',
        section: '/owner/orders',
        pollMs: 1500,
        main: await orderList(context),
      }),
    ),
    // The console's comparison of today.
    get('/owner/reconcile', async () => {
      // Up to now. A shop in production records them on a schedule.
      const wallets = await client.getWalletBalances();
      if (wallets.length > 0) await inbox.recordBalances(wallets);
      const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
      const [from, to] = [day(Date.now()), day(Date.now() + 86_400_000)];
      const query = { from, to, before: '0', after: '0', charges: 'UGX=0..0.03', map: COLUMNS };
      return seeOther(`${INBOX}/reconcile?${new URLSearchParams(query)}`);
    }),
    get('/healthz', async () => {
      const health = await inbox.health();
      return {
        status: health.ok ? 200 : 503,
        headers: { ...headers(), 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify(health),
      };
    }),
  ];
}

const aside = (text: string | Markup): Markup | '' => text && html`<div class="quiet small">${text}</div>`;

/** Orders for the owner; the console of the inbox shows what became of their callbacks. */
async function orderList({ orders, inbox }: Context): Promise<Markup> {
  const rowOf = async (order: Order) => {
    const { reference: id } = order;
    return { ...order, id, transitions: await inbox.reports({ merchant_reference: id }) };
  };
  const rows = await Promise.all(orders.list().map(rowOf));
  if (rows.length === 0)
    return html`<p>No orders yet. <a href="/">Buy something</a>, and it will be here.</p>`;
  const columns: Column<(typeof rows)[number]>[] = [
    column(
      'Order',
      ['wide'],
      ({ id, form, product, createdAt }) =>
        html`<a href="/orders/${id}">${id}</a>${aside(html`${form.quantity} × ${product.name}, ${time(createdAt)}`)}`,
    ),
    column('State', ['title'], (order) => html`${stateOf(order)}${aside(whyOf(order))}`),
    column('Total', ['title', 'number'], ({ total, payment }) => {
      const paid = formatMoney(payment?.settled ?? total);
      const isOther = payment && paid !== formatMoney({ ...total, amount: canonicalAmount(total.amount) });
      return html`${formatMoney(total)}${aside(isOther ? `Paid ${paid}` : '')}`;
    }),
    // A claim: it is not signed.
    column('Charge, as claimed', ['minor', 'number'], ({ total, payment }) =>
      payment?.charge ? formatMoney({ ...total, amount: payment.charge }) : '',
    ),
    column(
      'Customer',
      [],
      ({ form, providerName }) => html`${form.name}${aside(`${form.account}, ${providerName}`)}`,
    ),
    column('Callbacks', [], ({ id, transitions }) =>
      transitions.length === 0
        ? '–'
        : html`<a class="number" href="${INBOX}/payment?reference=${id}">${counted(transitions.length, 'callback')}<span class="hidden-text"> of ${id}</span></a>${
            transitions.some(needsAttention) ? html` ${badge('bad', 'Needs attention')}` : ''
          }`,
    ),
  ];
  return list('orders', columns, rows);
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
