import type { Payment as InboxPayment, TransitionSummary } from '@payment-service/inbox';
import { inboxConsole, type NodeListener, nodeListener } from '@payment-service/inbox/console';
import {
  badge,
  type Column,
  chips,
  column,
  counted,
  html,
  list,
  type Markup,
  searchForm,
  time,
  withQuery,
} from '@payment-service/pages';
import { formatMoney, isHeld, type Order, paidOf, sums } from '../books/order.ts';
import type { Context } from '../context.ts';
import { STATES, stateOf } from '../orders/order-routes.ts';
import { errorText, headers, page, seeOther } from '../web/page.ts';
import { get, isOwnHost, type Route } from '../web/route.ts';

const PAGE = '/owner/orders';
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

/** The meaning of the columns in the sandbox's statement. */
const COLUMNS =
  'merchant_reference=Reference,internal_reference=Internal reference,transaction_type=Type,transaction_status=Status,currency=Currency,amount=Amount,event==transaction.completed';

/** The owner's only page beside the console, and the health of the inbox for a monitor. */
export function ownerRoutes(context: Context): Route[] {
  const { client, inbox } = context;
  return [
    // It contains names and account numbers: put it behind your own login.
    get('/owner/orders', async ({ url }) => {
      const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
      return page({
        title: 'Orders',
        section: '/owner/orders',
        pollMs: 1500,
        main: await orderList(context, query.get('q') ?? '', query.get('state') ?? ''),
      });
    }),
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

/** Orders for the owner; the console of the inbox shows what happened to their callbacks. */
async function orderList({ orders, inbox }: Context, search: string, state: string): Promise<Markup> {
  const rowOf = async (order: Order) => {
    const { reference: id } = order;
    const transitions = await inbox.reports({ merchant_reference: id });
    return { ...order, id, transitions, expected: await inbox.payment(id) };
  };
  const rows = await Promise.all(orders.list({ search, state }).map(rowOf));
  const states = [['', 'All'], ...Object.entries(STATES).map(([one, [, word]]) => [one, word])] as const;
  const filter = html`<div class="head">${chips(
    states.map(([one = '', label = '']) => ({
      href: withQuery(PAGE, { q: search, state: one }),
      label,
      isCurrent: one === state,
    })),
  )}${searchForm(PAGE, { name: 'q', value: search, words: 'Search by reference or customer' }, '', { state })}</div>`;
  if (rows.length === 0) {
    return search + state === ''
      ? html`<p>No orders yet. <a href="/">Buy something</a>, and it will appear here.</p>`
      : html`${filter}<p>No order matches this search. <a href="${PAGE}">Show all orders</a></p>`;
  }
  const columns: Column<(typeof rows)[number]>[] = [
    column(
      'Order',
      ['wide'],
      ({ id, form, product, createdAt }) =>
        html`<a href="/orders/${id}">${id}</a>${aside(html`${form.quantity} × ${product.name}, ${time(createdAt)}`)}`,
    ),
    column('State', ['title'], (order) => html`${stateOf(order)}${aside(whyOf(order, order.expected))}`),
    column('Total', ['title', 'number'], (order) => {
      const paid = paidOf(order) ?? order.total;
      return html`${formatMoney(order.total)}${aside(paid === order.total ? '' : `Paid ${formatMoney(paid)}`)}`;
    }),
    // A claim: it is not signed.
    column('Charge, as claimed', ['minor', 'number'], ({ total, payment }) =>
      payment?.charge ? formatMoney({ ...total, amount: payment.charge }) : '',
    ),
    column(
      'Customer',
      [],
      ({ form, providerName }) =>
        html`${form.name}${aside([form.account, providerName].filter(Boolean).join(', '))}`,
    ),
    column('Callbacks', [], ({ id, transitions }) =>
      transitions.length === 0
        ? '–'
        : html`<a class="number" href="${INBOX}/payment?reference=${id}">${counted(transitions.length, 'callback')}<span class="hidden-text"> of ${id}</span></a>${
            transitions.some(needsAttention) ? html` ${badge('bad', 'Needs attention')}` : ''
          }`,
    ),
  ];
  const [ordered, paid] = [
    sums(rows.map(({ total }) => total)),
    sums(rows.flatMap((one) => paidOf(one) ?? [])),
  ];
  const currencies = new Set([...ordered, ...paid].map(({ currency }) => currency));
  const totals = [...currencies].map((currency) => {
    const [all, settled] = [ordered, paid].map((amounts) =>
      formatMoney(amounts.find((one) => one.currency === currency) ?? { currency, amount: '0' }),
    );
    return html`<dt>${currency}</dt><dd>${all} ordered, ${settled} paid</dd>`;
  });
  return html`${filter}${list('orders', columns, rows)}
<section class="card" aria-labelledby="sums"><h2 id="sums">${counted(rows.length, 'order')} listed</h2><dl class="facts">${totals}</dl></section>`;
}

function whyOf({ payment, reported, start }: Order, expected: InboxPayment | undefined): string {
  if (payment !== undefined) return '';
  if (reported !== undefined) return `Reported ${reported}`;
  // Its callback may be lost. The inbox knows when one was due.
  if (expected?.state === 'overdue')
    return `The service has not reported this payment. ${expected.advice.todo}`;
  return 'why' in start ? `${start.state === 'unknown' ? 'Start unknown: ' : ''}${start.why}` : '';
}

/** A settled one is suspicious if other bodies were received as well. */
function needsAttention(transition: TransitionSummary): boolean {
  const { state, bodyCount } = transition;
  return isHeld(transition) || state === 'retrying' || (state === 'settled' && bodyCount > 1);
}
