import {
  age,
  badge,
  type Column,
  column,
  count,
  counted,
  html,
  type Markup,
  time,
} from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import type { DeliveryRecord } from '../../state/records.ts';
import { milliseconds, outcomeTitle, statusOf } from '../parts/cells.ts';
import {
  deliveryState,
  deliveryWords,
  failedDeliveries,
  type Group,
  grouped,
  stateOf,
  troubled,
} from '../parts/delivery-states.ts';
import { matches, readQuery, searchable } from '../parts/list.ts';
import { button, type Page } from '../parts/page.ts';

/** What a scheduled delivery does next; empty for any other. */
export function planOf({ state, dueAt, held, attempts }: DeliveryRecord, now: number): Markup | string {
  if (state !== 'scheduled') return '';
  if (dueAt === null) return 'Waits for the copy before it.';
  const when = age(dueAt, now);
  if (held) return html`Held until a later callback has been sent, or ${when}.`;
  return html`${attempts.length === 0 ? 'Goes out' : 'Next attempt'} ${when}.`;
}

/** The checkbox that selects a delivery for comparison. */
const chooser = ({ id }: DeliveryRecord): Markup =>
  html`<input type="checkbox" form="compare" name="of" value="${id}" id="of-${id}" aria-label="Compare delivery ${id}">`;

export const linkTo = ({ id }: DeliveryRecord): Markup => html`<a href="/deliveries/${id}">${id}</a>`;

export const referenceOf = ({ store }: Service, transactionId: number): Markup =>
  html`<a href="/transactions/${transactionId}">${store.get('transaction', transactionId)?.merchantReference ?? transactionId}</a>`;

/** The outcome of a delivery in one line, and its changes. */
function outcomeLine(service: Service, one: DeliveryRecord): Markup {
  const last = one.attempts.at(-1);
  const changes = one.misbehaves.join(', ');
  const shown = changes === '' ? '' : html` <span class="quiet small">${changes}</span>`;
  return html`<span>${last === undefined ? planOf(one, service.clock.now()) : outcomeTitle(service.outcomeOf(one, last))}</span>${shown}`;
}

/** The columns of every list of deliveries, which shows the newest of each transaction. */
export function deliveryColumns(service: Service): Column<Group>[] {
  const now = service.clock.now();
  return [
    column('State', ['title'], ({ newest }) => deliveryState(service, newest)),
    column(
      'Delivery',
      ['title'],
      ({ newest, deliveries: { length } }) =>
        html`${linkTo(newest)}${length === 1 ? '' : html` <span class="quiet number" title="${length} deliveries">×${length}</span>`}`,
    ),
    column('Reference', ['title', 'wide', 'reference'], ({ id }) => referenceOf(service, id)),
    column('Outcome', ['title', 'wide', 'sentence'], ({ newest }) => outcomeLine(service, newest)),
    column('Status', ['number', 'minor'], ({ newest }) => statusOf(newest.attempts.at(-1))),
    column(
      'Attempts',
      ['number', 'minor'],
      ({ newest: { attempts, retry } }) => `${attempts.length} of ${retry.max_attempts}`,
    ),
    column('Time taken', ['number', 'minor'], ({ newest }) => milliseconds(newest.attempts.at(-1)?.ms)),
    column('Age', ['title', 'number'], ({ newest }) => age(newest.createdAt, now)),
  ];
}

export const SENDING = 'Sending. The answer will appear here.';
export const sending = (found: number): string =>
  found === 0
    ? 'No delivery is waiting, so none was sent.'
    : `Sending ${counted(found, 'delivery', 'deliveries')}.`;

/** Dismisses the failures of a transaction, or all of them. */
export const dismissButton = (group?: Group): Markup =>
  group === undefined
    ? button('seen', 'Mark all as seen', { at: 'main' })
    : button('seen', html`Mark as seen<span class="hidden-text"> delivery ${group.newest.id}</span>`, {
        at: 'main',
        name: 'transaction',
        value: String(group.id),
      });

/** The other deliveries of a transaction, collapsed. */
function others(service: Service, { id, deliveries: [newest, ...rest] }: Group): Markup | string {
  if (newest === undefined || rest.length === 0) return '';
  return html`<details id="others-${id}"><summary>${counted(rest.length, 'earlier delivery', 'earlier deliveries')}<span class="hidden-text"> before ${newest.id}</span></summary><ul class="rows">${rest.map(
    (one) =>
      html`<li id="delivery-${one.id}">${chooser(one)} ${deliveryState(service, one)} ${linkTo(one)} <span>${outcomeLine(service, one)}</span> ${statusOf(one.attempts.at(-1))} ${time(one.createdAt)}</li>`,
  )}</ul></details>`;
}

/** Every callback that was sent or is scheduled, by transaction, newest first. */
export const deliveries: Page = {
  section: 'Deliveries',
  show(service, c) {
    const { store } = service;
    const query = readQuery(c);
    const all = store.list('delivery');
    const searched = all.filter(({ id, transactionId, url, attempts }) => {
      if (query.endpoint !== '' && query.endpoint !== url) return false;
      const { merchantReference = '', internalReference = '' } =
        store.get('transaction', transactionId) ?? {};
      const { status = null, error } = attempts.at(-1) ?? {};
      const received = status === null ? (error ?? '') : `HTTP ${status}`;
      return matches(query, id, transactionId, url, merchantReference, internalReference, received);
    });
    const found = new Set(searched);
    const failed = failedDeliveries(service).length;
    const trouble = troubled(service);
    const rows = grouped(searched);
    const columns = deliveryColumns(service);
    return {
      title: 'Deliveries',
      says: `Deliveries of ${counted(rows.length, 'transaction')}, ${count(trouble.length)} need attention.`,
      beside: html`<div class="actions">${failed === 0 ? '' : html`<a class="button" href="/deliveries/failures">Why ${count(failed)} failed</a>`}${trouble.length === 0 ? '' : dismissButton()}${button('release', 'Send all waiting', { at: 'main' })}</div>`,
      body: html`${searchable(
        query,
        [column<Group>('Compare', ['title'], ({ newest }) => chooser(newest)), ...columns],
        [
          ['', 'All', rows],
          ['attention', 'Needs attention', trouble.filter(({ newest }) => found.has(newest))],
          ...Object.entries(deliveryWords).map(([state, [, word]]) => {
            const inState = searched.filter((one) => stateOf(service, one) === state);
            return [state, word, grouped(inState)] as const;
          }),
        ],
        {
          name: 'deliveries',
          searched: 'reference, number, address or HTTP status',
          one: 'delivery',
          empty: html`No delivery yet. Callbacks appear here as soon as a transaction is decided. <a href="/start">Start a transaction</a>`,
          example: {
            Reference: 'ORD-1',
            State: badge('bad', 'Failed'),
            Outcome: 'Your endpoint returned 500.',
            Status: '500',
            'Time taken': '12 ms',
          },
          endpoints: [...new Set(all.map(({ url }) => url))],
          more: (group) => others(service, group),
        },
      )}
${all.length < 2 ? '' : html`<form id="compare" class="actions" action="/deliveries/compare"><button>Compare the two chosen</button></form>`}`,
    };
  },
  buttons: {
    release: (_, service) => sending(service.release()),
    seen: ({ transaction }, service) => {
      const isMeant = (id: number): boolean => transaction === undefined || String(id) === transaction;
      const dismissed = troubled(service).flatMap((group) => (isMeant(group.id) ? group.deliveries : []));
      service.store.write((unit) => {
        for (const { id } of dismissed) unit.put('seen', id, { id });
      });
      return 'Marked as seen.';
    },
  },
};
