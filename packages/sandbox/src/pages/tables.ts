import type { Wallet } from '@payment-service/core/client';
import { html } from 'hono/html';
import { toAmount } from '../service/money.ts';
import type { DeliveryRecord, TransactionRecord, TransferRecord } from '../state/records.ts';
import type { Markup } from './layout.ts';

const time = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

const balances = [
  ['Available', 'available_balance'],
  ['Uncleared', 'uncleared_balance'],
  ['Reserve', 'reserve_balance'],
  ['Actual', 'actual_balance'],
] as const;

/** A table on a wide screen; on a phone, each wallet with its four balances below its name. */
export function walletTable(wallets: readonly Wallet[]): Markup {
  return html`<table class="stacked">
<tr><th>Wallet</th>${balances.map(([label]) => html`<th class="number">${label}</th>`)}</tr>
${wallets.map(
  (wallet) => html`<tr><td>${wallet.currency} ${wallet.wallet_type}</td>
${balances.map(([label, name]) => html`<td class="number" data-label="${label}">${wallet[name]}</td>`)}</tr>`,
)}
</table>`;
}

const decisions = ({ id }: TransactionRecord): Markup =>
  html`<form method="post" action="/dashboard/transactions/${id}/outcome" class="actions">
<button name="outcome" value="completed">Complete</button><button name="outcome" value="failed" class="other">Fail</button></form>`;

/** One card each, so that a phone shows them without sideways scrolling. */
export function transactionList(
  transactions: readonly TransactionRecord[],
  redirectOf: (transaction: TransactionRecord) => string | undefined,
): Markup {
  if (transactions.length === 0) return html`<p class="quiet">None yet.</p>`;
  return html`${transactions.map((transaction) => {
    const { currency, status, internalReference } = transaction;
    const redirect = redirectOf(transaction);
    return html`<div class="card"><strong>${transaction.id} ${transaction.transactionType} ${status}</strong>
<dl><dt>Reference</dt><dd>${transaction.merchantReference} <span class="quiet">${internalReference}</span></dd>
<dt>Amount</dt><dd>${toAmount(transaction.amount, currency)} ${currency}, charge ${toAmount(transaction.charge, currency)}, credit ${toAmount(transaction.totalCredit, currency)}</dd>
<dt>Provider</dt><dd>${transaction.providerCode}, account ${transaction.account}</dd>
<dt>Customer</dt><dd>${transaction.customerName}</dd>
<dt>Started</dt><dd>${time(transaction.createdAt)}</dd>
<dt>Message</dt><dd>${transaction.statusMessage}</dd></dl>
${transaction.mode === 'page' ? html`<p><a href="/sandbox/pay/${internalReference}">Payment page</a></p>` : ''}
${redirect === undefined ? '' : html`<p><a href="${redirect}">Signed redirect to the merchant</a></p>`}
${status === 'PENDING' ? decisions(transaction) : ''}</div>`;
  })}`;
}

export function transferTable(transfers: readonly TransferRecord[]): Markup {
  if (transfers.length === 0) return html`<p class="quiet">None yet.</p>`;
  return html`<div class="wide"><table><tr><th>Transfer</th><th>Amount</th><th>Time</th></tr>
${transfers.map(
  ({ id, currency, amount, createdAt }) =>
    html`<tr><td>${id}</td><td class="number">${toAmount(amount, currency)} ${currency}</td><td>${time(createdAt)}</td></tr>`,
)}</table></div>`;
}

const plan = ({ state, dueAt, held }: DeliveryRecord): string => {
  if (state !== 'scheduled') return state === 'delivered' ? 'delivered' : 'given up';
  if (dueAt === null) return 'waits for the copy before it';
  return held
    ? `held until a later callback is through, or ${time(dueAt)}`
    : `next attempt at ${time(dueAt)}`;
};

export function deliveryList(deliveries: readonly DeliveryRecord[]): Markup {
  if (deliveries.length === 0) return html`<p class="quiet">None yet.</p>`;
  return html`${deliveries.map(
    (delivery) => html`<div class="card"><strong>${delivery.id}: ${plan(delivery)}</strong>
<dl><dt>Transaction</dt><dd>${delivery.transactionId}</dd><dt>To</dt><dd>${delivery.url}</dd>
<dt>Misbehaves</dt><dd>${delivery.misbehaves.length === 0 ? 'no' : delivery.misbehaves.join(', ')}</dd></dl>
<details><summary>${delivery.attempts.length} ${delivery.attempts.length === 1 ? 'attempt' : 'attempts'}, and what was sent</summary>
<ol>${delivery.attempts.map(
      ({ at, status, error, answer }) =>
        html`<li>${time(at)}: ${status ?? 'no answer'} ${error ?? ''} <code>${answer}</code></li>`,
    )}</ol>
<p><code>hmac-signature: ${delivery.signature}</code></p><p><code>${delivery.body}</code></p></details>
${
  delivery.state === 'scheduled'
    ? ''
    : html`<form method="post" action="/dashboard/deliveries/${delivery.id}/resend" class="actions"><button class="other">Send again</button></form>`
}</div>`,
  )}`;
}
