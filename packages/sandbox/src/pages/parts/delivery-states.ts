import { badge, html, type Markup, type Tone } from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import type { DeliveryRecord } from '../../state/records.ts';

/**
 * The states of a delivery as its list filters them. `check`: it counts as delivered, but something is wrong, such as a web
 * page that responds. `refused`: the receiver was right to refuse it.
 */
export type DeliveryState = 'failed' | 'check' | 'retrying' | 'waiting' | 'delivered' | 'refused';

export function stateOf(service: Service, delivery: DeliveryRecord): DeliveryState {
  const last = delivery.attempts.at(-1);
  if (delivery.state === 'scheduled') return last === undefined ? 'waiting' : 'retrying';
  const tone = last === undefined ? 'bad' : service.outcomeOf(delivery, last).tone;
  if (delivery.state === 'delivered') return tone === 'bad' ? 'check' : 'delivered';
  return tone === 'good' ? 'refused' : 'failed';
}

/** The groups of states that charts show. */
export const outcomes = { good: 'As expected', wait: 'Retrying', bad: 'Failed' };

export const deliveryTone = (service: Service, delivery: DeliveryRecord): Tone =>
  deliveryWords[stateOf(service, delivery)][0];

/** The deliveries that the chart counts as failed, oldest first. */
export const failedDeliveries = (service: Service): DeliveryRecord[] =>
  service.store.list('delivery').filter((one) => deliveryTone(service, one) === 'bad');

export const deliveryWords: Readonly<Record<DeliveryState, readonly [tone: Tone, word: string]>> = {
  failed: ['bad', 'Failed'],
  check: ['bad', 'Wrong answer'],
  retrying: ['wait', 'Retrying'],
  waiting: ['neutral', 'Waiting'],
  delivered: ['good', 'Delivered'],
  refused: ['good', 'Correctly refused'],
};

export function deliveryState(service: Service, delivery: DeliveryRecord, href?: string): Markup {
  const [tone, word] = deliveryWords[stateOf(service, delivery)];
  if (href === undefined) return badge(tone, word);
  return badge(tone, html`${word}<span class="hidden-text"> delivery ${delivery.id}</span>`, href);
}

/** What was sent for one transaction, newest first: its callback, resends and copies. */
export interface Group {
  /** The number of the transaction. */
  readonly id: number;
  readonly newest: DeliveryRecord;
  readonly deliveries: readonly DeliveryRecord[];
}

/** Deliveries by transaction, ordered by the newest of each. */
export function grouped(deliveries: readonly DeliveryRecord[]): Group[] {
  const groups = new Map<number, DeliveryRecord[]>();
  for (const one of deliveries) {
    const others = groups.get(one.transactionId) ?? [];
    groups.delete(one.transactionId);
    groups.set(one.transactionId, others);
    others.unshift(one);
  }
  return [...groups].flatMap(([id, [newest, ...rest]]) =>
    newest === undefined ? [] : [{ id, newest, deliveries: [newest, ...rest] }],
  );
}

/**
 * Transactions with failed deliveries, newest last: without those whose callback was delivered later, and without dismissed
 * deliveries.
 */
export function troubled(service: Service): Group[] {
  const { store } = service;
  const settled = new Set<number>();
  const found: DeliveryRecord[] = [];
  for (const delivery of store.list('delivery').reverse()) {
    const state = stateOf(service, delivery);
    if (state === 'delivered') settled.add(delivery.transactionId);
    const isWrong = state === 'failed' || state === 'check' || state === 'retrying';
    const isSettled = settled.has(delivery.transactionId) || store.get('seen', delivery.id) !== undefined;
    if (isWrong && !isSettled) found.unshift(delivery);
  }
  return grouped(found);
}
