import { column, count, html, list, type Markup, note, type Tone } from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import { amount } from '../parts/cells.ts';
import { deliveryCharts } from '../parts/charts.ts';
import { type DeliveryState, type Group, grouped, stateOf, troubled } from '../parts/delivery-states.ts';
import type { Page } from '../parts/page.ts';
import { deliveryColumns, dismissButton } from './deliveries.ts';
import { transactionColumns } from './transactions.ts';

const SHOWN_FAILURES = 5;
const SHOWN_TRANSACTIONS = 6;

const dismissal = column<Group>('Dismiss', ['title'], dismissButton);

const tile = (href: string, label: string, value: number, tone: Tone): Markup =>
  html`<a class="tile ${value === 0 ? 'neutral' : tone}" id="tile-${label.toLowerCase().replaceAll(' ', '-')}" href="${href}"><div class="quiet">${label}</div><strong>${count(value)}</strong></a>`;

/** A sandbox without an address for callbacks sends none, and says so before the first transaction. */
const nowhere = (service: Service): Markup | string =>
  service.settings().callback_url === null
    ? note(
        'info',
        'No callback URL is set, so no callback is sent.',
        html`<a href="/settings#addresses">Set the callback URL</a> of your program, such as <code>http://127.0.0.1:3000/payments/callbacks</code>.`,
      )
    : '';

/** What needs attention, what is new, and how to start. */
export const overview: Page = {
  section: 'Overview',
  show(service) {
    const transactions = service.store.list('transaction');
    const deliveries = service.store.list('delivery');
    const trouble = troubled(service);
    const pending = transactions.filter(({ status }) => status === 'PENDING').length;
    const inState = (state: DeliveryState): number =>
      grouped(deliveries.filter((one) => stateOf(service, one) === state)).length;
    const newest = transactions.slice(-SHOWN_TRANSACTIONS).reverse();
    return {
      title: 'Overview',
      says: `${count(transactions.length)} transactions, ${count(trouble.length)} need attention.`,
      beside: html`<div class="actions"><a class="button main" href="/start">Start a transaction</a></div>`,
      body: html`${nowhere(service)}
${
  trouble.length > 0 &&
  html`<section class="stack" id="trouble" aria-labelledby="trouble-title"><div class="head"><h2 id="trouble-title">Needs attention</h2>${trouble.length > SHOWN_FAILURES ? html`<a href="/deliveries?state=attention">All ${count(trouble.length)}</a>` : ''}<div class="actions">${dismissButton()}</div></div>
${list('failed', [...deliveryColumns(service), dismissal], trouble.slice(-SHOWN_FAILURES).reverse())}</section>`
}
<div class="tiles" id="tiles">${tile('/transactions', 'Transactions', transactions.length, 'neutral')}${tile('/transactions?state=PENDING', 'Pending', pending, 'wait')}${tile('/deliveries?state=delivered', 'Delivered', inState('delivered'), 'good')}${tile('/deliveries?state=waiting', 'Waiting', inState('waiting'), 'wait')}${tile('/deliveries?state=attention', 'Needs attention', trouble.length, 'bad')}</div>
<h2 class="hidden-text">Deliveries and balances</h2>
<div class="charts" id="charts">${deliveryCharts(service)}
<section class="card" id="balances" aria-labelledby="balances-title"><div class="head"><h2 id="balances-title">Available</h2><a href="/wallets">All balances</a></div><dl class="facts">${service
        .wallets()
        .map(
          ({ currency, wallet_type, available_balance }) =>
            html`<dt>${currency}, ${wallet_type === 'MERCHANT_PAYOUT' ? 'payouts' : 'collections'}</dt><dd>${amount(available_balance, currency)}</dd>`,
        )}</dl></section></div>
<section class="stack" id="newest" aria-labelledby="newest-title"><div class="head"><h2 id="newest-title">Newest transactions</h2>${newest.length === 0 ? '' : html`<a href="/transactions">All ${count(transactions.length)}</a>`}</div>
${newest.length === 0 ? html`<p class="quiet">No transaction yet. <a href="/start">Start one</a>, or call the API from your program.</p>` : list('transactions', transactionColumns(service), newest)}</section>`,
    };
  },
};
