import { sumOfProducts } from '@payment-service/core/reconcile';
import {
  age,
  badge,
  type Column,
  columnsOf,
  count,
  counted,
  groupedDigits,
  html,
  list,
  type Markup,
  type Tone,
} from '@payment-service/pages';
import type { TransitionSummary } from '../../operator/views.ts';
import { labelOf, WAITS_FOR_PERSON, wordsOf } from '../../words.ts';
import { mismatchesOf, type StoredClaim } from '../../work/verdict/evaluate.ts';
import { at, type View } from './page.ts';

/** The colour of a state. A failed payment was also applied, but is not shown as a success. */
export function toneOf({ state, signed }: Pick<TransitionSummary, 'state' | 'signed'>): Tone {
  if (WAITS_FOR_PERSON.includes(state)) return 'bad';
  if (state === 'settled') return signed.transaction_status === 'COMPLETED' ? 'good' : 'neutral';
  if (state === 'retrying') return 'wait';
  return state === 'pending' ? 'info' : 'neutral';
}

export const stateBadge = (transition: Pick<TransitionSummary, 'state' | 'signed'>): Markup =>
  badge(toneOf(transition), labelOf({ ...transition, reason: undefined }));

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
  const digits = groupedDigits(amount ?? (isInexact ? 'rounded' : 'no amount'));
  return `${currency ?? 'no currency'} ${digits}`;
}

export const money = (claim: StoredClaim): Markup => html`<span class="amount">${moneyText(claim)}</span>`;

/** The amount of its body that is compared, or that differs; the other one is on its own page. */
export function claimOf({
  claims,
  expected,
}: TransitionSummary): { claim: StoredClaim; differs: boolean } | undefined {
  if (claims === undefined) return undefined;
  const [wrong] = expected === undefined ? [] : mismatchesOf(claims, expected);
  const isRequest =
    wrong === undefined ? expected?.compare === 'request' : wrong.field.startsWith('request_');
  const which = isRequest ? 'request' : 'transaction';
  return { claim: claims[which], differs: wrong !== undefined };
}

/** Spaces as wide as the missing decimals, so that a column is aligned on its decimal mark. */
function aligned(claim: StoredClaim, decimals: number, differs = false): Markup {
  const text = moneyText(claim);
  const fraction = /\.(\d+)$/.exec(text)?.[1]?.length ?? 0;
  const missing = decimals - fraction;
  const space = missing <= 0 ? '' : (fraction === 0 ? '\u2008' : '') + '\u2007'.repeat(missing);
  const amount = differs ? html`<mark>${text}<span class="hidden-text"> (differs)</span></mark>` : text;
  return html`<span class="amount">${amount}<span class="pad">${space}</span></span>`;
}

type Row = TransitionSummary & { readonly id: string };

/** Transitions as a list, each a link to its story. */
export function transitionList(
  view: View,
  name: string,
  found: readonly TransitionSummary[],
  heads: Readonly<Record<string, Markup>> = {},
): Markup {
  const now = Date.now();
  const decimals = found
    .flatMap((row) => [row.expected?.amount, claimOf(row)?.claim.amount])
    .map((amount) => amount?.split('.')[1]?.length ?? 0);
  const most = Math.max(0, ...decimals);
  const columns = columnsOf<Row>({
    'Reference | title wide': (row) =>
      html`<a href="${at(view, transitionPath(row))}">${row.signed.merchant_reference || 'no reference'}</a>`,
    'State | title': stateBadge,
    'What it means | title wide': (row) => wordsOf(row).heading,
    'Changed | title number': ({ changedAt }) => age(changedAt.getTime(), now),
    'Expected | number': ({ expected }) => (expected === undefined ? '' : aligned(expected, most)),
    'Claimed | number': (row) => {
      const claimed = claimOf(row);
      return claimed === undefined ? '' : aligned(claimed.claim, most, claimed.differs);
    },
    'Report | title minor': ({ signed }) => `${signed.transaction_type} ${signed.transaction_status}`,
    'Provider | minor': ({ provider }) => provider ?? '',
  });
  const rows = found.map((one) => ({ ...one, id: one.transitionId }));
  const headed = columns.map((column): Column<Row> => ({ ...column, head: heads[column.label] }));
  return list(name, headed, rows);
}

/** What is in the list, by currency: what is expected, once for each reference, and what completed payments claim. */
export function sums(found: readonly TransitionSummary[]): Markup {
  const paid = found.filter(({ signed }) => signed.transaction_status === 'COMPLETED');
  const once = new Map(
    paid.map((row) => [`${row.signed.transaction_type} ${row.signed.merchant_reference}`, row.expected]),
  );
  const expected = totals([...once.values()]);
  const claimed = totals(paid.map((row) => claimOf(row)?.claim));
  const text = (all: readonly string[]): string => (all.length === 0 ? 'nothing' : all.join(', '));
  return html`<p class="sums" id="sums">${counted(found.length, 'report')}, ${count(paid.length)} of completed payments: <strong>${text(expected)}</strong> expected, <strong>${text(claimed)}</strong> claimed.</p>`;
}

function totals(all: readonly (Pick<StoredClaim, 'currency' | 'amount'> | undefined)[]): string[] {
  const given = all.filter((one) => typeof one?.currency === 'string' && typeof one.amount === 'string');
  const byCurrency = Map.groupBy(given, (one) => one?.currency ?? '');
  return [...byCurrency].map(([currency, same]) =>
    moneyText({ currency, amount: sumOfProducts(same.map((one) => [one?.amount ?? '0', 1])) }),
  );
}
