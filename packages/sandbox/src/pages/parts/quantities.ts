import { age, type Column, column, count, type Markup } from '@payment-service/pages';
import { html } from 'hono/html';
import { amountText, type Minor, toAmount } from '../../state/money.ts';
import type { DeliveryAttempt } from '../../state/records.ts';
import { statusOf } from './state.ts';

export const amount = (value: number, currency: string): Markup =>
  html`<span class="amount">${amountText(value, currency)}</span>`;

export const money = (minor: Minor, currency: string): Markup => amount(toAmount(minor, currency), currency);

/** What was added, with "+", or taken. */
export const movement = (value: number, currency: string): Markup =>
  html`<span class="amount">${amountText(value, currency, 'exceptZero')}</span>`;

export const milliseconds = (ms: number | null): Markup =>
  ms === null ? html`<span class="quiet">–</span>` : html`<span class="number">${count(ms)} ms</span>`;

/** Columns that several lists have. */
export const ageColumn = <T>(at: (row: T) => number, now: number): Column<T> =>
  column('Age', 'title number', (row) => age(at(row), now));
export const timeTaken = <T>(ms: (row: T) => number | null | undefined): Column<T> =>
  column('Time taken', 'number minor', (row) => milliseconds(ms(row) ?? null));
export const statusColumn = <T>(last: (row: T) => Pick<DeliveryAttempt, 'status'> | undefined): Column<T> =>
  column('Status', 'number minor', (row) => statusOf(last(row)));
