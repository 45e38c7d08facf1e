import { age, badge, type Column, capital, column, count, html } from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import type { TransactionRecord, TransactionStatus } from '../../state/records.ts';
import { amount, milliseconds, money, statusOf, transactionState } from '../parts/cells.ts';
import { deliveryState } from '../parts/delivery-states.ts';
import { matches, readQuery, searchable } from '../parts/list.ts';
import type { Page } from '../parts/page.ts';

/** The columns of every list of transactions. */
export function transactionColumns(service: Service): Column<TransactionRecord>[] {
  const now = service.clock.now();
  const newest = new Map(service.store.list('delivery').map((one) => [one.transactionId, one]));
  const lastOf = ({ id }: TransactionRecord) => newest.get(id)?.attempts.at(-1);
  return [
    column('State', ['title'], transactionState),
    column(
      'Reference',
      ['title', 'wide', 'reference'],
      ({ id, merchantReference, internalReference }) =>
        html`<a href="/transactions/${id}">${merchantReference}</a> <span class="quiet small mono">${internalReference}</span>`,
    ),
    column('Type', ['minor'], ({ transactionType }) => capital(transactionType)),
    column('Amount', ['title', 'number'], ({ amount, currency }) => money(amount, currency)),
    column('Callback', ['title'], ({ id, status, callbackUrl }) => {
      const delivery = newest.get(id);
      if (delivery !== undefined) return deliveryState(service, delivery, `/deliveries/${delivery.id}`);
      if (callbackUrl === null) return html`<span class="quiet">No callback URL</span>`;
      return html`<span class="quiet">${status === 'PENDING' ? 'After the decision' : 'None'}</span>`;
    }),
    column('Status', ['number', 'minor'], (one) => statusOf(lastOf(one))),
    column('Time taken', ['number', 'minor'], (one) => milliseconds(lastOf(one)?.ms)),
    column('Age', ['title', 'number'], ({ createdAt }) => age(createdAt, now)),
  ];
}

/** All transactions, newest first. */
export const transactions: Page = {
  section: 'Transactions',
  show(service, c) {
    const query = readQuery(c);
    const searched = service.store
      .list('transaction')
      .filter(({ id, merchantReference, internalReference, account, customerName }) =>
        matches(query, id, merchantReference, internalReference, account, customerName),
      );
    const having = (state: TransactionStatus) => searched.filter(({ status }) => status === state);
    return {
      title: 'Transactions',
      says: `${count(searched.length)} transactions, ${count(having('PENDING').length)} pending.`,
      beside: html`<div class="actions"><a class="button" href="/start">Start a transaction</a><a class="button" href="/statement.csv">Statement as CSV</a></div>`,
      body: searchable(
        query,
        transactionColumns(service),
        [
          ['', 'All', searched],
          ['PENDING', 'Pending', having('PENDING')],
          ['COMPLETED', 'Completed', having('COMPLETED')],
          ['FAILED', 'Failed', having('FAILED')],
        ],
        {
          name: 'transactions',
          searched: 'reference, account or name',
          one: 'transaction',
          empty: html`No transaction yet. <a href="/start">Start one</a>, or call the API from your program.`,
          example: {
            Reference: 'ORD-1',
            State: badge('good', 'Completed'),
            Amount: amount(500, 'UGX'),
            Callback: badge('good', 'Delivered'),
            'Time taken': '12 ms',
          },
        },
      ),
    };
  },
};
