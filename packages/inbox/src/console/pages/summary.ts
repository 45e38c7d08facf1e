import { hash } from 'node:crypto';
import {
  age,
  badge,
  type Column,
  column,
  count,
  groupedDigits,
  html,
  list,
  type Markup,
  referenceLink,
  type Tone,
  tableOf,
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
  if (currency === null && amount === null && text === undefined) return 'no amount';
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
function decimalsOf(found: readonly PaymentSummary[]): ReadonlyMap<string, number> {
  const amounts = found.flatMap(({ expected, settled }) => [expected ?? [], settled ?? []].flat());
  const all = new Map<string, number>();
  for (const { currency, amount } of amounts)
    all.set(currency, Math.max(all.get(currency) ?? 0, amount.split('.')[1]?.length ?? 0));
  return all;
}

/** Payments as a list, each a link to its page. */
export function paymentList(view: View, name: string, found: readonly PaymentSummary[]): Markup {
  const now = Date.now();
  const decimals = decimalsOf(found);
  const columns: Column<PaymentSummary>[] = [
    column('Reference', ['title', 'wide'], (one) =>
      referenceLink(at(view, paymentPath(one)), one.merchant_reference || 'no reference'),
    ),
    column('State', ['title'], stateBadge),
    column('What it needs', ['title', 'wide'], ({ state, needs, expected }) => {
      if (needs !== undefined) return wordsOfReason(needs).heading;
      return state === 'overdue' ? html`Was due ${age(Number(expected?.deadline), now)}` : '';
    }),
    column('Changed', ['title', 'number'], ({ changedAt }) => age(changedAt.getTime(), now)),
    column('Expected', ['number'], ({ expected }) => aligned(expected, decimals)),
    column('Credited', ['number'], ({ settled }) => aligned(settled, decimals)),
    column('Type', [], ({ transaction_type: type }) => type),
  ];
  const rows = found.map((one) => ({ ...one, id: hash('sha256', paymentPath(one)).slice(0, 12) }));
  return list(name, columns, rows);
}

/** How many payments are added up at most: more than a person decides about in a day. */
export const SUMMED = 500;

/** The sums of a list, by type and currency: a payout is no income, so the two are never added up. */
export function sumsTable(name: string, found: readonly PaymentSummary[]): Markup {
  const decimals = decimalsOf(found);
  const cells = ['Type', ['Payments', 'number'], ['Expected', 'number'], ['Credited', 'number']] as const;
  return tableOf(name, cells, sumsOf(found), ({ transaction_type: type, currency, ...sum }) => [
    type,
    count(sum.payments),
    currency === undefined ? 'nothing' : aligned({ currency, amount: sum.expected }, decimals),
    currency === undefined ? '' : aligned({ currency, amount: sum.credited }, decimals),
  ]);
}
