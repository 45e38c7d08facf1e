import { age, html, type Markup, note, type Step, story, type Tone } from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import { type TimelineEvent, timelineOf } from '../../service/views.ts';
import type { Settings, TransactionRecord } from '../../state/records.ts';
import {
  buckets,
  causes,
  milliseconds,
  money,
  movement,
  toneOf,
  transactionState,
  wallets,
} from '../parts/cells.ts';
import { button, idIn, nothing, type Page } from '../parts/page.ts';

/** Links to the merchant's pages about it, if their addresses are set. */
function merchantLinks({ order_url, inbox_url }: Settings, reference: string): Markup | string {
  const link = (url: string | null, text: string): Markup | string =>
    url === null
      ? ''
      : html`<a href="${url.replaceAll('{merchant_reference}', encodeURIComponent(reference))}">${text}</a> `;
  if (order_url === null && inbox_url === null) return '';
  return html`<dt>In your program</dt><dd>${link(order_url, 'Order')}${link(inbox_url, 'Inbox')}</dd>`;
}

/** Without an address nothing is sent, which must not look like a failure. */
const silence = ({ callbackUrl, status }: TransactionRecord): Markup | string =>
  callbackUrl !== null
    ? ''
    : note(
        'wait',
        `No callback ${status === 'PENDING' ? 'will be' : 'was'} sent: this transaction has no callback URL.`,
        html`<a href="/settings#addresses">Set the callback URL in Settings</a>, or pass <code>callback_url</code> when you start one. It applies to new transactions.`,
      );

const decisions = ({ id }: TransactionRecord): Markup =>
  html`${button(`transactions/${id}/outcome`, 'Complete', { at: 'main', name: 'outcome', value: 'completed', kind: 'main' })}${button(`transactions/${id}/outcome`, 'Fail', { at: 'main', name: 'outcome', value: 'failed', kind: 'danger' })}`;

/** One event of the story: its tone, its title and its details. */
function told(
  service: Service,
  { mode, statusMessage }: TransactionRecord,
  event: TimelineEvent,
): [tone: Tone, title: Markup | string, detail?: Markup | string] {
  const delivery = 'delivery_id' in event ? service.store.get('delivery', event.delivery_id) : undefined;
  switch (event.what) {
    case 'created':
      return ['info', 'Started', mode === 'page' ? 'The customer decides on the payment page.' : ''];
    case 'decided':
      return event.transaction_status === 'COMPLETED'
        ? ['good', 'Completed', statusMessage]
        : ['bad', 'Failed', statusMessage];
    case 'delivery':
      return [
        'neutral',
        html`Callback scheduled: <a href="/deliveries/${event.delivery_id}">delivery ${event.delivery_id}</a>`,
        event.misbehaves.length === 0 ? '' : `Changes: ${event.misbehaves.join(', ')}.`,
      ];
    case 'attempt': {
      const { delivery_id, number, status } = event;
      const attempt = delivery?.attempts[number - 1];
      const outcome = delivery && attempt && service.outcomeOf(delivery, attempt);
      return [
        outcome === undefined ? 'neutral' : toneOf(outcome),
        html`<a href="/deliveries/${delivery_id}#attempt-${number}">Attempt ${number} of delivery ${delivery_id}</a>: ${status === null ? 'no answer' : `HTTP ${status}`}, ${milliseconds(attempt?.ms ?? null)}`,
        outcome?.title ?? '',
      ];
    }
    case 'redirect':
      return [
        'info',
        html`Customer sent back to <a href="${event.location}">the shop</a>`,
        `HTTP ${event.status}, with the signed outcome in the query.`,
      ];
    case 'entry': {
      const { amount: moved, currency, bucket, wallet_type, free_at, cause } = event.entry;
      const where = `${wallets[wallet_type]}, ${buckets[bucket]}`;
      return [
        'neutral',
        html`${movement(moved, currency)} in the <a href="/wallets/${currency}">${where}</a>`,
        free_at === null
          ? `${causes[cause]}.`
          : html`Available ${age(Date.parse(free_at), service.clock.now())}.`,
      ];
    }
  }
}

const stepOf = (service: Service, transaction: TransactionRecord, event: TimelineEvent): Step => {
  const [tone, title, detail = ''] = told(service, transaction, event);
  return { at: event.at, tone, title, detail };
};

/** The story of one transaction: what it is, what happened, and what to do next. */
export const transaction: Page = {
  show(service, c) {
    const transaction = service.store.get('transaction', c.req.param('id') ?? '');
    if (transaction === undefined) return nothing(c, 'transaction');
    const { id, merchantReference, internalReference, currency, status, mode } = transaction;
    const events = timelineOf(service.store, transaction);
    const redirect = service.redirectOf(transaction);
    const others = service.store
      .list('transaction')
      .filter((one) => one.merchantReference === merchantReference && one.id !== id);
    return {
      title: merchantReference,
      says: `${merchantReference}: ${status.toLowerCase()}, ${events.length} events.`,
      beside: html`${transactionState(transaction)}<div class="actions">${status === 'PENDING' ? decisions(transaction) : ''}<a class="button" href="/compose/${id}">Compose a callback</a></div>`,
      body: html`${silence(transaction)}
<div class="split"><section class="card" aria-labelledby="story-title"><h2 id="story-title">What happened</h2>
${story(events.map((event) => stepOf(service, transaction, event)))}</section>
<section class="card" id="facts" aria-labelledby="facts-title"><h2 id="facts-title">Transaction</h2><dl class="facts">
<dt>Amount</dt><dd>${money(transaction.amount, currency)}</dd>
<dt>Charge</dt><dd>${money(transaction.charge, currency)}${transaction.chargeCustomer ? ', paid by the customer' : ''}</dd>
${status === 'FAILED' ? '' : html`<dt>Credit</dt><dd>${money(transaction.totalCredit, currency)}</dd>`}
<dt>Type</dt><dd>${transaction.transactionType}</dd>
<dt>Provider</dt><dd>${transaction.providerCode}${transaction.bankCode === null ? '' : `, bank ${transaction.bankCode}`}</dd>
<dt>Account</dt><dd>${transaction.account}</dd>
<dt>Customer</dt><dd>${transaction.customerName}</dd>
<dt>Message</dt><dd>${transaction.statusMessage}</dd>
<dt>Internal reference</dt><dd><code>${internalReference}</code></dd>
<dt>Number</dt><dd>${id}</dd>
<dt>Callback URL</dt><dd>${transaction.callbackUrl === null ? 'none' : html`<code>${transaction.callbackUrl}</code>`}</dd>
${mode === 'page' ? html`<dt>Payment page</dt><dd><a href="/sandbox/pay/${internalReference}">Open it</a></dd>` : ''}
${redirect === undefined ? '' : html`<dt>Redirect</dt><dd><a href="${redirect}">Back to the shop</a>, signed</dd>`}
${merchantLinks(service.settings(), merchantReference)}
${others.length === 0 ? '' : html`<dt>Same reference</dt><dd>${others.map((one) => html`<a href="/transactions/${one.id}">${one.id}</a> ${transactionState(one)} `)}</dd>`}
</dl></section></div>`,
    };
  },
  buttons: {
    'transactions/:id{[0-9]+}/outcome': ({ outcome }, service, c) => {
      const { status } = service.decide(idIn(c), { outcome });
      return `The transaction is ${status.toLowerCase()}.`;
    },
  },
};
