import type { ClientWithSecretKey, Wallet } from '@payment-service/core/client';
import type { Inbox } from '@payment-service/inbox';
import { tableOf } from '@payment-service/pages';
import { html } from 'hono/html';
import type { Transaction } from '../books/database.ts';
import { formatMoney, HELD_STATES, ORDER_STATES, type Order } from '../books/order.ts';
import type { OrderStore } from '../books/order-store.ts';
import { json, type Page, page, problemPage } from '../web/page.ts';
import { get, queryOf, type Route } from '../web/route.ts';
import { ordersPage } from './orders-page.ts';

export interface OwnerContext {
  readonly client: ClientWithSecretKey;
  readonly orders: OrderStore;
  readonly inbox: Inbox<Transaction>;
  /** How often the adapter gave each hint. */
  readonly refusals: ReadonlyMap<string, number>;
}

const A_PAGE = 25;
const MAX_COUNTED = 1000;

/** Orders and wallets for the owner, beside the console, and the health of the inbox for a monitor. */
export function ownerRoutes({ client, orders, inbox, refusals }: OwnerContext): Route[] {
  return [
    get('/owner/orders', async (request) => {
      const query = queryOf(request);
      const state = ORDER_STATES.find((one) => one === query.get('state'));
      if (state === undefined && query.get('state')) return problemPage(404);
      // Pasted by a person: no reference of the shop begins or ends with a space.
      const reference = query.get('reference')?.trim() || undefined;
      const before = query.get('before') || undefined;
      // One more than is shown, to know whether there are older ones.
      const found = await orders.list({ state, reference, before, limit: A_PAGE + 1 });
      const shown = found.slice(0, A_PAGE);
      const withTransitions = async (order: Order) =>
        [order, await inbox.list({ merchant_reference: order.reference })] as const;
      return ordersPage({
        orders: await Promise.all(shown.map(withTransitions)),
        state,
        reference,
        isLater: before !== undefined,
        older: found.length > A_PAGE ? shown.at(-1)?.reference : undefined,
        strayPayments: await orders.strayPayments(),
        stats: await inbox.stats(),
        refusals,
      });
    }),
    get('/owner/wallets', async () => walletsPage(await client.getWalletBalances())),
    get('/healthz', async () => {
      const health = await inbox.health();
      // Callbacks that wait for a person are not a reason to take the shop out of service, but a monitor may alert on them.
      const needsPerson = health.problems.includes('store_unavailable') ? undefined : await countHeld(inbox);
      return json(health.ok ? 200 : 503, { ...health, needsPerson });
    }),
  ];
}

/**
 * Lists a few of each state instead of calling `stats()`, which counts everything that is open: a monitor asks every few
 * seconds.
 */
async function countHeld(inbox: Inbox<Transaction>): Promise<Readonly<Record<string, number>>> {
  const counts = HELD_STATES.map(async (state) => {
    const found = await inbox.list({ state, limit: MAX_COUNTED });
    return [state, found.length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

const NAMES: Readonly<Record<string, string>> = {
  MERCHANT_COLLECTION: 'collection wallet',
  MERCHANT_PAYOUT: 'payout wallet',
};

/** For the owner: the balances as reported by the payment service. */
function walletsPage(wallets: readonly Wallet[]): Promise<Page> {
  const labels = ['Wallet', 'Available', 'Uncleared', 'Reserve', 'Actual'];
  const balances = tableOf('wallets', labels, wallets, ({ currency, wallet_type: type, ...wallet }) => [
    `${currency}, ${NAMES[type] ?? type}`,
    html`<strong>${formatMoney(currency, wallet.available_balance)}</strong>`,
    formatMoney(currency, wallet.uncleared_balance),
    formatMoney(currency, wallet.reserve_balance),
    formatMoney(currency, wallet.actual_balance),
  ]);
  return page({
    title: 'Wallets',
    section: '/owner/wallets',
    main:
      wallets.length === 0
        ? html`<p>The account has no wallets yet. The first payment creates one.</p>`
        : balances,
  });
}
