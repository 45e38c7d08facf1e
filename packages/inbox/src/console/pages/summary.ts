import { age, badge, columnsOf, counted, list, type Markup, type Tone } from '@payment-service/pages';
import { html } from 'hono/html';
import type { TransitionSummary } from '../../operator/views.ts';
import { WAITS_FOR_PERSON, wordsOf } from '../../words.ts';
import type { StoredClaim } from '../../work/verdict/evaluate.ts';
import { at, type View } from './page.ts';

/** The colour of a state. A failed payment was also applied, but is not shown as a success. */
export function toneOf({ state, signed }: Pick<TransitionSummary, 'state' | 'signed'>): Tone {
  if (WAITS_FOR_PERSON.includes(state)) return 'bad';
  if (state === 'settled') return signed.transaction_status === 'COMPLETED' ? 'good' : 'neutral';
  if (state === 'retrying') return 'wait';
  return state === 'pending' ? 'info' : 'neutral';
}

export const stateBadge = (transition: Pick<TransitionSummary, 'state' | 'signed'>): Markup =>
  badge(toneOf(transition), transition.state);

/** A string of words.ts: its words in backticks are actions. */
export const inline = (text: string): Markup =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** Terms and their values; a term without a value is left out. */
export const facts = (values: Readonly<Record<string, Markup | string | undefined>>): Markup =>
  html`<dl class="facts">${Object.entries(values).map(([term, value]) =>
    value === undefined ? '' : html`<dt>${term}</dt><dd>${value}</dd>`,
  )}</dl>`;

export const transitionPath = ({ transitionId }: Pick<TransitionSummary, 'transitionId'>): string =>
  `/transitions/${transitionId}`;

/** 'UGX 5,000,000': the stored digits, grouped. */
export function moneyText({ currency, amount, text, isInexact }: StoredClaim): string {
  if (currency === null && amount === null && text === undefined) return 'nothing';
  if (text !== undefined) return `${currency ?? 'no currency'} ${text === '' ? 'text' : `“${text}” as text`}`;
  const [whole = '', fraction] = (amount ?? (isInexact ? 'rounded' : 'no amount')).split('.');
  const grouped = /^-?\d+$/.test(whole) ? whole.replace(/\B(?=(\d{3})+$)/g, ',') : whole;
  return `${currency ?? 'no currency'} ${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

export const money = (claim: StoredClaim): Markup => html`<span class="amount">${moneyText(claim)}</span>`;

type Row = TransitionSummary & { readonly id: string };

/** Transitions as a list, each a link to its story. */
export function transitionList(view: View, name: string, found: readonly TransitionSummary[]): Markup {
  const now = Date.now();
  const columns = columnsOf<Row>({
    'Reference | title wide': (row) =>
      html`<a href="${at(view, transitionPath(row))}">${row.signed.merchant_reference || 'no reference'}</a>`,
    'State | title': stateBadge,
    'What it means | title wide': (row) => wordsOf(row).heading,
    'Report | title': ({ signed }) => `${signed.transaction_type} ${signed.transaction_status}`,
    'Received | title minor': received,
    'Changed | title': ({ changedAt }) => age(changedAt.getTime(), now),
  });
  const rows = found.map((one) => ({ ...one, id: one.transitionId }));
  return list(name, columns, rows);
}

function received({ deliveries, bodyCount, attempts }: TransitionSummary): string {
  const parts = [counted(deliveries, 'delivery', 'deliveries')];
  if (bodyCount > 1) parts.push(`${bodyCount} bodies`);
  if (attempts > 1) parts.push(`${attempts} attempts`);
  return parts.join(', ');
}
