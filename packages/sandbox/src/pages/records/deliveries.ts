import type { Context } from 'hono';
import { html } from 'hono/html';
import { failedSince } from '../../deliveries/compose.ts';
import type { DeliveryRecord } from '../../state/records.ts';
import { button, fieldsOf, form } from '../parts/form.ts';
import { type Dashboard, framed } from '../parts/frame.ts';
import type { Markup } from '../parts/layout.ts';
import { type Column, matches, readQuery, searchable } from '../parts/list.ts';
import { age, count, counted, milliseconds } from '../parts/quantities.ts';
import { httpStatus } from '../parts/state.ts';
import {
  type DeliveryState,
  deliveryState,
  deliveryWords,
  outcomeTitle,
  stateOf,
  troubled,
} from './outcome.ts';

/** What a delivery does next, or did at last. */
export function planOf({ state, dueAt, held, attempts }: DeliveryRecord, now: number): Markup | string {
  if (state !== 'scheduled') return '';
  if (dueAt === null) return 'Waits for the copy before it.';
  const when = age(dueAt, now);
  if (held) return html`Held until a later callback is through, or ${when}.`;
  return html`${attempts.length === 0 ? 'Goes out' : 'Next attempt'} ${when}.`;
}

/** The columns of every list of deliveries. */
export function deliveryColumns(dashboard: Dashboard): Column<DeliveryRecord>[] {
  const { service } = dashboard;
  const now = service.now();
  return [
    { label: 'State', isTitle: true, cell: (one) => deliveryState(dashboard, one) },
    {
      label: 'Delivery',
      isTitle: true,
      cell: (one) => html`<a href="/deliveries/${one.id}">${one.id}</a>`,
    },
    {
      label: 'Reference',
      isTitle: true,
      isWide: true,
      cell: ({ transactionId }) => {
        const transaction = service.store.get('transaction', transactionId);
        return html`<a href="/transactions/${transactionId}">${transaction?.merchantReference ?? transactionId}</a>`;
      },
    },
    {
      label: 'Outcome',
      isTitle: true,
      isWide: true,
      cell: (one) => {
        const last = one.attempts.at(-1);
        const misbehaves = one.misbehaves.join(', ');
        return html`<span>${last === undefined ? planOf(one, now) : outcomeTitle(service.outcomeOf(one, last))}</span>${
          misbehaves === '' ? '' : html`<span class="quiet small">${misbehaves}</span>`
        }`;
      },
    },
    {
      label: 'Status',
      isNumber: true,
      cell: ({ attempts }) => (attempts.length === 0 ? '–' : httpStatus(attempts.at(-1)?.status ?? null)),
    },
    {
      label: 'Attempts',
      isNumber: true,
      cell: ({ attempts, retry }) => `${attempts.length} of ${retry.max_attempts}`,
    },
    {
      label: 'Time taken',
      isNumber: true,
      cell: ({ attempts }) => milliseconds(attempts.at(-1)?.ms ?? null),
    },
    { label: 'Age', isNumber: true, cell: ({ createdAt }) => age(createdAt, now) },
  ];
}

const states: readonly DeliveryState[] = ['failed', 'check', 'retrying', 'waiting', 'delivered', 'refused'];

/** Every callback that was sent or is scheduled, the newest first. */
export function deliveriesPage(c: Context, dashboard: Dashboard): Promise<Response> {
  const { store } = dashboard.service;
  const query = readQuery(c);
  const searched = store.list('delivery').filter(({ id, transactionId, url }) => {
    const transaction = store.get('transaction', transactionId);
    const { merchantReference = '', internalReference = '' } = transaction ?? {};
    return matches(query, id, transactionId, url, merchantReference, internalReference);
  });
  const needLook = new Set(troubled(dashboard));
  return framed(c, dashboard, {
    title: 'Deliveries',
    section: '/deliveries',
    says: `${count(searched.length)} deliveries, ${count(needLook.size)} need a look.`,
    beside: html`<div class="actions">${button('release', 'Send waiting ones now', { at: 'main' })}</div>`,
    body: html`${searchable(
      query,
      deliveryColumns(dashboard),
      [
        ['', 'All', searched],
        ['look', 'Need a look', searched.filter((one) => needLook.has(one))],
        ...states.map((state) => {
          const rows = searched.filter((one) => stateOf(dashboard, one) === state);
          return [state, deliveryWords[state][1], rows] as const;
        }),
      ],
      {
        name: 'deliveries',
        searched: 'reference, number or address',
        empty: 'No delivery yet. Callbacks appear here as soon as a transaction is decided.',
      },
    )}
${sendAgain(dashboard)}`,
  });
}

/** One form for all deliveries that were given up, such as after the merchant's server was down. */
function sendAgain({ service }: Dashboard): Markup | string {
  const waiting = failedSince(service.store, 0).length;
  if (waiting === 0) return '';
  const fields = fieldsOf('resend-failed', undefined);
  return html`<section class="card" aria-labelledby="again-title"><h2 id="again-title">Send again what failed</h2>
<p class="quiet">${counted(waiting, 'delivery was', 'deliveries were')} given up and not sent again yet. Each is sent unchanged.</p>
${form('resend-failed', 'deliveries/resend-failed', {
  fields: fields.choice({ name: 'since', label: 'All that failed since' }, [
    ['3600', 'an hour ago'],
    ['86400', 'a day ago'],
    ['all', 'the beginning'],
  ]),
  button: 'Send all again',
})}</section>`;
}
