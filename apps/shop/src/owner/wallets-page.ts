import type { Wallet } from '@payment-service/core/client';
import { tableOf } from '@payment-service/pages';
import { html } from 'hono/html';
import { formatMoney } from '../books/money.ts';
import { type Page, page } from '../web/page.ts';

const NAMES: Readonly<Record<string, string>> = {
  MERCHANT_COLLECTION: 'collection wallet',
  MERCHANT_PAYOUT: 'payout wallet',
};

/** For the owner: the balances as reported by the payment service. */
export function walletsPage(wallets: readonly Wallet[]): Promise<Page> {
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
