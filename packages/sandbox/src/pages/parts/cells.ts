import type { Outcome } from '@payment-service/core/explain';
import { badge, capital, count, html, type Markup, note, shape, type Tone } from '@payment-service/pages';
import { amountText, type Minor, toAmount } from '../../state/money.ts';
import type { DeliveryAttempt, TransactionRecord } from '../../state/records.ts';

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
