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
import { PAYMENT_LABELS } from '../../operator/payments/advice.ts';
import type { PaymentSummary } from '../../operator/payments/payment-summary.ts';
import { sumsOf } from '../../operator/payments/sums.ts';
import type { Settled, StoredClaim } from '../../verdict/evaluate.ts';
import type { PaymentState } from '../../verdict/payment-state.ts';
import type { PaymentKey } from '../../verdict/restate.ts';
import { wordsOfReason } from '../../words.ts';
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

/** With as many decimals as the others of its currency have, so that a column is aligned: USD 570.60 below USD 742.56. */
function aligned(claim: Settled | undefined, decimals: ReadonlyMap<string, number>): Markup | string {
  if (claim === undefined) return '';
  const { currency, amount } = claim;
  const [whole = '', fraction = ''] = amount.split('.');
  const all = fraction.padEnd(decimals.get(currency) ?? 0, '0');
  return money({ currency, amount: all === '' ? whole : `${whole}.${all}` });
}

/** By currency, the most decimals of an amount. */
function decimalsIn(amounts: readonly Settled[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const { currency, amount } of amounts)
    all.set(currency, Math.max(all.get(currency) ?? 0, amount.split('.')[1]?.length ?? 0));
  return all;
}

/** Payments as a list, each a link to its page. */
export function paymentList(view: View, name: string, found: readonly PaymentSummary[]): Markup {
  const now = Date.now();
  const decimals = decimalsIn(
    found.flatMap(({ expected, settled }) => [expected ?? [], settled ?? []].flat()),
  );
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
