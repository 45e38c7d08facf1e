import { age, badge, type Column, counted, list, type Markup, type Tone } from '@payment-service/pages';
import { html } from 'hono/html';
import type { TransitionSummary } from '../../operator/views.ts';
import { WAITS_FOR_PERSON, wordsOf } from '../../words.ts';
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

export const transitionPath = ({ transitionId }: Pick<TransitionSummary, 'transitionId'>): string =>
  `/transitions/${transitionId}`;

type Row = TransitionSummary & { readonly id: string };

/** Transitions as a list, each a link to its story. */
export function transitionList(view: View, name: string, found: readonly TransitionSummary[]): Markup {
  const now = Date.now();
  const columns: readonly Column<Row>[] = [
    {
      label: 'Reference',
      isTitle: true,
      isWide: true,
      cell: (row) =>
        html`<a href="${at(view, transitionPath(row))}">${row.signed.merchant_reference || 'no reference'}</a>`,
    },
    { label: 'State', isTitle: true, cell: stateBadge },
    { label: 'What it means', isTitle: true, isWide: true, cell: (row) => wordsOf(row).heading },
    {
      label: 'Report',
      isTitle: true,
      cell: ({ signed }) => `${signed.transaction_type} ${signed.transaction_status}`,
    },
    {
      label: 'Received',
      isTitle: true,
      isMinor: true,
      cell: ({ deliveries, bodyCount, attempts }) =>
        [
          counted(deliveries, 'delivery', 'deliveries'),
          ...(bodyCount > 1 ? [`${bodyCount} bodies`] : []),
          ...(attempts > 1 ? [`${attempts} attempts`] : []),
        ].join(', '),
    },
    { label: 'Changed', isTitle: true, cell: ({ changedAt }) => age(changedAt.getTime(), now) },
  ];
  return list(
    name,
    columns,
    found.map((one) => ({ ...one, id: one.transitionId })),
  );
}
