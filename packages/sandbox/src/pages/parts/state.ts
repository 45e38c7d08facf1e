import { badge, type Markup, type Tone } from '@payment-service/pages';
import { html } from 'hono/html';
import type { DeliveryAttempt, TransactionRecord } from '../../state/records.ts';

const transactionTones = { PENDING: 'wait', COMPLETED: 'good', FAILED: 'bad' } as const;

export const transactionState = ({ status }: TransactionRecord): Markup =>
  badge(transactionTones[status], status.charAt(0) + status.slice(1).toLowerCase());

/** The HTTP status of an attempt, if there was one. */
export const statusOf = (attempt: Pick<DeliveryAttempt, 'status'> | undefined): Markup | string => {
  if (attempt === undefined) return '–';
  return html`<span class="${attempt.status === null ? 'quiet' : 'number'}">${attempt.status ?? 'no answer'}</span>`;
};

export const statusTone = (status: number | null): Tone =>
  status === null || status >= 400 ? 'bad' : status >= 300 ? 'wait' : 'good';
