import type { Markup } from '@payment-service/pages';
import { html } from 'hono/html';
import type { StoredClaim } from '../../work/verdict/evaluate.ts';

/** 'UGX 5,000,000': the stored digits, grouped. */
export function moneyText({ currency, amount }: StoredClaim): string {
  if (currency === null && amount === null) return 'nothing';
  const [whole = '', fraction] = (amount ?? 'no amount').split('.');
  const grouped = /^-?\d+$/.test(whole) ? whole.replace(/\B(?=(\d{3})+$)/g, ',') : whole;
  return `${currency ?? 'no currency'} ${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

export const money = (claim: StoredClaim): Markup => html`<span class="amount">${moneyText(claim)}</span>`;
