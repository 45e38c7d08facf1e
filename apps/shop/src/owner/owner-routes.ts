import type { Wallet } from '@payment-service/core/client';
import { inboxConsole, type NodeListener, nodeListener } from '@payment-service/inbox/console';
import { html, type Markup, tableOf } from '@payment-service/pages';
import { formatMoney, HELD_STATES, type Order } from '../books/order.ts';
import type { Context } from '../context.ts';
import { errorText, json, page } from '../web/page.ts';
import { get, isOwnHost, type Route, reportOutage } from '../web/route.ts';
import { ownerOfSession } from '../web/session.ts';
import { INBOX, orderList } from './order-list.ts';

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
        may: ['read', 'retry', 'resolve', 'reopen', 'expect'],
      },
    onError: (error) => log(errorText(error)),
  });
  return nodeListener(console);
}

/** The owner's only page beside the console, and the health of the inbox for a monitor. */
export function ownerRoutes({ client, orders, inbox, log }: Context): Route[] {
  return [
    // It contains names and account numbers: put it behind your own login.
    get('/owner/orders', async () => {
      const rowOf = async (order: Order) => ({
        id: order.reference,
        order,
        transitions: await inbox.list({ merchant_reference: order.reference }),
      });
      const rows = await Promise.all(orders.list().map(rowOf));
      const wallets = await client
        .getWalletBalances({}, { signal: AbortSignal.timeout(1000) })
        .catch((error: unknown) => reportOutage(error, log));
      const none = html`<p>No orders yet. <a href="/">Buy something</a>, and it will be here.</p>`;
      return page({
        title: 'Orders and wallets',
        section: '/owner/orders',
        main: html`${rows.length === 0 ? none : orderList(rows)}
<section class="stack"><h2>Wallets</h2>${walletsIn(wallets)}</section>`,
      });
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
  const labels = ['Wallet', 'Available', 'Uncleared', 'Reserve', 'Actual'];
  return tableOf('wallets', labels, wallets, ({ currency, wallet_type, ...wallet }) => {
    const { available_balance, uncleared_balance, reserve_balance, actual_balance } = wallet;
    const balances = [available_balance, uncleared_balance, reserve_balance, actual_balance];
    const type = wallet_type.replace('MERCHANT_', '').toLowerCase();
    return [`${currency}, ${type} wallet`, ...balances.map((amount) => formatMoney({ currency, amount }))];
  });
}
