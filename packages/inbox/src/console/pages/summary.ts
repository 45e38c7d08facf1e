import { hash } from 'node:crypto';
import {
  age,
  badge,
  type Column,
  column,
  groupedDigits,
  html,
  list,
  type Markup,
  type Tone,
} from '@payment-service/pages';
import { PAYMENT_LABELS } from '../../operator/advice.ts';
import type { PaymentSummary } from '../../operator/payment-summary.ts';
import { sumsOf } from '../../operator/sums.ts';
import { wordsOfReason } from '../../words.ts';
import type { Settled, StoredClaim } from '../../work/verdict/evaluate.ts';
import type { PaymentKey } from '../../work/verdict/payment.ts';
import type { PaymentState } from '../../work/verdict/payment-state.ts';
import { at, type View } from './page.ts';

const TONES: Readonly<Record<PaymentState, Tone>> = {
  ...{ held: 'bad', unexpected: 'neutral', overdue: 'wait', open: 'info' },
  ...{ paid: 'good', reversed: 'neutral', failed: 'neutral', canceled: 'neutral' },
};

/** That a second report of a paid payment waits does not make it less paid. */
export const toneOf = ({ state, needs, settled }: PaymentSummary): Tone =>
  needs !== undefined && settled === undefined ? 'bad' : TONES[state];

export const stateBadge = (payment: PaymentSummary): Markup =>
  badge(toneOf(payment), PAYMENT_LABELS[payment.state]);

/** Terms and their values; a term without a value is left out. */
export const facts = (values: Readonly<Record<string, Markup | string | undefined>>): Markup =>
  html`<dl class="facts">${Object.entries(values).map(([term, value]) =>
    value === undefined ? '' : html`<dt>${term}</dt><dd>${value}</dd>`,
  )}</dl>`;

export const paymentPath = ({ merchant_reference, transaction_type }: PaymentKey): string =>
  `/payment?${new URLSearchParams({ reference: merchant_reference, type: transaction_type })}`;

/** 'UGX 5,000,000': the stored digits, grouped. */
export function moneyText({ currency, amount, text, isInexact }: StoredClaim): string {
  if (currency === null && amount === null && text === undefined) return 'nothing';
  if (text !== undefined) return `${currency ?? 'no currency'} ${text === '' ? 'text' : `“${text}” as text`}`;
  const digits = groupedDigits(amount ?? (isInexact ? 'rounded' : 'no amount'));
  return `${currency ?? 'no currency'} ${digits}`;
}

export const money = (claim: StoredClaim): Markup => html`<span class="amount">${moneyText(claim)}</span>`;

/** Spaces as wide as the missing decimals, so that a column is aligned on its decimal mark. */
function aligned(claim: Settled | undefined, decimals: number): Markup | string {
  if (claim === undefined) return '';
  const text = moneyText(claim);
  const fraction = /\.(\d+)$/.exec(text)?.[1]?.length ?? 0;
  const missing = decimals - fraction;
  const space = missing <= 0 ? '' : (fraction === 0 ? '\u2008' : '') + '\u2007'.repeat(missing);
  return html`<span class="amount">${text}<span class="pad">${space}</span></span>`;
}

/** Payments as a list, each a link to its page. */
export function paymentList(view: View, name: string, found: readonly PaymentSummary[]): Markup {
  const now = Date.now();
  const amounts = found.flatMap(({ expected, settled }) => [expected?.amount, settled?.amount]);
  const decimals = Math.max(0, ...amounts.map((amount) => amount?.split('.')[1]?.length ?? 0));
  const columns: Column<PaymentSummary>[] = [
    column(
      'Reference',
      ['title', 'wide'],
      (one) => html`<a href="${at(view, paymentPath(one))}">${one.merchant_reference || 'no reference'}</a>`,
    ),
    column('State', ['title'], stateBadge),
    column('What it needs', ['title', 'wide'], ({ state, needs, expected }) => {
      if (needs !== undefined) return wordsOfReason(needs).heading;
      return state === 'overdue' ? html`Was due ${age(Number(expected?.deadline), now)}` : '';
    }),
    column('Changed', ['title', 'number'], ({ changedAt }) => age(changedAt.getTime(), now)),
    column('Expected', ['number'], ({ expected }) => aligned(expected, decimals)),
    column('Credited', ['number'], ({ settled }) => aligned(settled, decimals)),
    column('Type', ['minor'], ({ transaction_type: type }) => type),
  ];
  const rows = found.map((one) => ({ ...one, id: hash('sha256', paymentPath(one)).slice(0, 12) }));
  return list(name, columns, rows);
}

/** The sums of a list, by currency. */
export function sumsText(found: readonly PaymentSummary[]): string {
  const sums = sumsOf(found);
  const text = (amounts: readonly string[]): string =>
    amounts.map((amount, index) => moneyText({ currency: sums[index]?.currency ?? '', amount })).join(', ');
  if (sums.length === 0) return 'nothing expected';
  return `${text(sums.map(({ expected }) => expected))} expected, ${text(sums.map(({ credited }) => credited))} credited`;
}
