import type { ClientWithSecretKey, Wallet } from '@payment-service/core/client';
import type { Inbox } from '@payment-service/inbox';
import { html, tableOf } from '@payment-service/pages';
import type { Transaction } from '../books/database.ts';
import { formatMoney, HELD_STATES, type Order } from '../books/order.ts';
import type { OrderStore } from '../books/order-store.ts';
import { json, type Page, page } from '../web/page.ts';
import { get, type Route } from '../web/route.ts';
import { ordersPage } from './orders-page.ts';

export interface OwnerContext {
  readonly client: ClientWithSecretKey;
  readonly orders: OrderStore;
  readonly inbox: Inbox<Transaction>;
  /** How often the adapter gave each hint. */
  readonly refusals: ReadonlyMap<string, number>;
}

/** Orders and wallets for the owner, beside the console, and the health of the inbox for a monitor. */
export function ownerRoutes({ client, orders, inbox, refusals }: OwnerContext): Route[] {
  return [
    get('/owner/orders', async () => {
      const rowOf = async (order: Order) => ({
        id: order.reference,
        order,
        transitions: await inbox.list({ merchant_reference: order.reference }),
      });
      return ordersPage(await Promise.all((await orders.list()).map(rowOf)), refusals);
    }),
    get('/owner/wallets', async () => walletsPage(await client.getWalletBalances())),
    get('/healthz', async () => {
      const health = await inbox.health();
      // Callbacks that wait for an operator are not a reason to take the shop out of service, but a monitor may alert on them.
      const { states } = health.problems.includes('store_unavailable') ? {} : await inbox.stats();
      const needsPerson = states && Object.fromEntries(HELD_STATES.map((state) => [state, states[state]]));
      return json(health.ok ? 200 : 503, { ...health, needsPerson });
    }),
  ];
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
  const none = html`<p>The account has no wallets yet. The first payment creates one.</p>`;
  return page({ title: 'Wallets', section: '/owner/wallets', main: wallets.length === 0 ? none : balances });
}
