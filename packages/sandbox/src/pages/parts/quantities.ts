import { count, type Markup } from '@payment-service/pages';
import { html } from 'hono/html';
import { amountText, type Minor, toAmount } from '../../state/money.ts';

export const amount = (value: number, currency: string): Markup =>
  html`<span class="amount">${amountText(value, currency)}</span>`;

export const money = (minor: Minor, currency: string): Markup => amount(toAmount(minor, currency), currency);

/** What was added, with "+", or taken. */
export const movement = (value: number, currency: string): Markup =>
  html`<span class="amount">${amountText(value, currency, 'exceptZero')}</span>`;

export const milliseconds = (ms: number | null): Markup =>
  ms === null ? html`<span class="quiet">–</span>` : html`<span class="number">${count(ms)} ms</span>`;
