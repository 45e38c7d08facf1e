import { badge, type Markup, type Tone } from '@payment-service/pages';
import { html } from 'hono/html';
import type { TransactionRecord } from '../../state/records.ts';

const transactionTones = { PENDING: 'wait', COMPLETED: 'good', FAILED: 'bad' } as const;

export const transactionState = ({ status }: TransactionRecord): Markup =>
  badge(transactionTones[status], status.charAt(0) + status.slice(1).toLowerCase());

/** An HTTP status. None: no answer came. */
export const httpStatus = (status: number | null): Markup =>
  status === null ? html`<span class="quiet">no answer</span>` : html`<span class="number">${status}</span>`;

export const statusTone = (status: number | null): Tone =>
  status === null || status >= 400 ? 'bad' : status >= 300 ? 'wait' : 'good';
