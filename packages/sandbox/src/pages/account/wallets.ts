import type { Wallet } from '@payment-service/core/client';
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { TransferRecord } from '../../state/records.ts';
import { button } from '../parts/form.ts';
import { type Dashboard, framed } from '../parts/frame.ts';
import { type Column, list, paged, readQuery } from '../parts/list.ts';
import { age, amount, money } from '../parts/quantities.ts';

const balance = (
  label: string,
  name: `${'available' | 'uncleared' | 'reserve' | 'actual'}_balance`,
): Column<Wallet & { id: string }> => ({
  label,
  isNumber: true,
  cell: (wallet) => amount(wallet[name], wallet.currency),
});

const walletColumns: readonly Column<Wallet & { id: string }>[] = [
  {
    label: 'Wallet',
    isTitle: true,
    isWide: true,
    cell: ({ currency, wallet_type }) => html`<strong>${currency} ${wallet_type}</strong>`,
  },
  balance('Available', 'available_balance'),
  balance('Uncleared', 'uncleared_balance'),
  balance('Reserve', 'reserve_balance'),
  balance('Actual', 'actual_balance'),
];

/** The wallets, what makes money available early, and the transfers between them. */
export function walletsPage(c: Context, dashboard: Dashboard): Promise<Response> {
  const { service } = dashboard;
  const now = service.now();
  const wallets = service.wallets().map((one) => ({ ...one, id: `${one.currency}-${one.wallet_type}` }));
  const transfers = service.store.list('transfer').reverse();
  const { rows, pager } = paged(readQuery(c), transfers);
  const transferColumns: readonly Column<TransferRecord>[] = [
    { label: 'Transfer', isTitle: true, isWide: true, cell: ({ id }) => html`<strong>${id}</strong>` },
    { label: 'Amount', isNumber: true, cell: (one) => money(one.amount, one.currency) },
    { label: 'Age', isNumber: true, cell: ({ createdAt }) => age(createdAt, now) },
  ];
  return framed(c, dashboard, {
    title: 'Wallets',
    section: '/wallets',
    beside: html`<div class="actions"><a class="button" href="/start#transfer">Transfer</a></div>`,
    body: html`<p class="quiet">Actual is available, uncleared and reserve together, at all times.</p>
${list('wallets', walletColumns, wallets)}
<section class="card" id="clearing" aria-labelledby="clearing-title"><h2 id="clearing-title">Make money available early</h2>
<p class="quiet">Uncleared money and the rolling reserve become available by the clock, or now.</p>
<div class="actions">${button('clearing', 'Clear uncleared money', { at: 'clearing', name: 'bucket', value: 'uncleared' })}${button('clearing', 'Release the reserve', { at: 'clearing', name: 'bucket', value: 'reserve' })}</div></section>
<section class="stack" id="transfers-part" aria-labelledby="transfers-title"><h2 id="transfers-title">Transfers to the payout wallet</h2>
${rows.length === 0 ? html`<p class="quiet">None yet.</p>` : list('transfers', transferColumns, rows)}${pager}</section>`,
  });
}
