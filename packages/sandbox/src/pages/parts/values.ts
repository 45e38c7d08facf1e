import type { Outcome } from '@payment-service/core/explain';
import { badge, capital, count, html, type Markup, note, shape, type Tone } from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import { amountText, type Minor, toAmount } from '../../state/money.ts';
import type { DeliveryAttempt, DeliveryRecord, TransactionRecord } from '../../state/records.ts';

const transactionTones = { PENDING: 'wait', COMPLETED: 'good', FAILED: 'bad' } as const;

export const transactionState = ({ status }: TransactionRecord): Markup =>
  badge(transactionTones[status], capital(status));

/** The HTTP status of an attempt, if there was one. */
export const statusOf = (attempt: Pick<DeliveryAttempt, 'status'> | undefined): Markup | string => {
  if (attempt === undefined) return '–';
  return html`<span class="${attempt.status === null ? 'quiet' : 'number'}">${attempt.status ?? 'No answer'}</span>`;
};

export const statusTone = (status: number | null): Tone =>
  status === null || status >= 400 ? 'bad' : status >= 300 ? 'wait' : 'good';

export const amount = (value: number, currency: string): Markup =>
  html`<span class="amount">${amountText(value, currency)}</span>`;

export const money = (minor: Minor, currency: string): Markup => amount(toAmount(minor, currency), currency);

/** What was added, with "+", or removed. */
export const movement = (value: number, currency: string): Markup =>
  html`<span class="amount">${amountText(value, currency, 'exceptZero')}</span>`;

export const milliseconds = (ms: number | null | undefined): Markup =>
  ms === null || ms === undefined
    ? html`<span class="quiet">–</span>`
    : html`<span class="number">${count(ms)} ms</span>`;

/** The ledger's names in words. */
export const causes = {
  collection: 'Credit of a collection',
  payout: 'Taken for a payout',
  payout_returned: 'Returned, because a payout failed',
  transfer: 'Transferred',
  deposit: 'Deposited',
  clearing: 'Became available',
};
export const buckets = { available: 'available', uncleared: 'uncleared', reserve: 'rolling reserve' };
export const wallets = { MERCHANT_COLLECTION: 'collection wallet', MERCHANT_PAYOUT: 'payout wallet' };

const tones: Readonly<Record<Outcome['tone'], Tone>> = { good: 'good', bad: 'bad', neutral: 'info' };
export const toneOf = ({ tone }: Outcome): Tone => tones[tone];

/** The outcome in one line, with its icon. */
export const outcomeTitle = (outcome: Outcome): Markup =>
  html`<span class="outcome ${toneOf(outcome)}">${shape(toneOf(outcome))}</span> ${outcome.title}`;

/** The outcome, with its evidence and what to do. */
export const outcomeNote = (outcome: Outcome): Markup =>
  note(
    toneOf(outcome),
    outcome.title,
    html`<span class="quiet">${outcome.detail}</span>`,
    ...(outcome.tone === 'good' ? [] : [html`<strong>What to do:</strong> ${outcome.fix}`]),
  );

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

/** What the states come to, as charts show them. */
export const outcomes = { good: 'As expected', wait: 'Retrying', bad: 'Failed' };

export const deliveryTone = (service: Service, delivery: DeliveryRecord): Tone =>
  deliveryWords[stateOf(service, delivery)][0];

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
