import type { Wallet } from '@payment-service/core/client';
import type { Markup } from '@payment-service/pages';
import { html } from 'hono/html';
import { formatMoney } from '../books/money.ts';
import { type Page, page } from '../web/page.ts';

/** For the owner: the balances as the payment service gives them. */
export function walletsPage(wallets: readonly Wallet[]): Promise<Page> {
  return page({
    title: 'Wallets',
    section: '/owner/wallets',
    main: html`${wallets.length === 0 ? html`<p>The account has no wallets yet. The first payment makes one.</p>` : ''}
<ul class="options">
${wallets.map(walletCard)}
</ul>`,
  });
}

const NAMES: Readonly<Record<string, string>> = {
  MERCHANT_COLLECTION: 'collection wallet',
  MERCHANT_PAYOUT: 'payout wallet',
};

function walletCard(wallet: Wallet): Markup {
  const { currency, wallet_type, available_balance, actual_balance, uncleared_balance, reserve_balance } =
    wallet;
  return html`<li class="card">
<h2>${currency}, ${NAMES[wallet_type] ?? wallet_type}</h2>
<dl class="facts amounts">
<dt>Available</dt><dd><strong>${formatMoney(currency, available_balance)}</strong></dd>
<dt>Uncleared</dt><dd>${formatMoney(currency, uncleared_balance)}</dd>
<dt>Reserve</dt><dd>${formatMoney(currency, reserve_balance)}</dd>
<dt>Actual</dt><dd>${formatMoney(currency, actual_balance)}</dd>
</dl>
</li>`;
}
