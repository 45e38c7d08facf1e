import { canonicalAmount } from '@payment-service/core';
import type { TransitionSummary } from '@payment-service/inbox';
import { badge, columnsOf, counted, html, list, type Markup, type Tone, time } from '@payment-service/pages';
import { formatMoney, isHeld, type Order, type OrderState, orderState } from '../books/order.ts';

/** The path of the inbox's console. */
export const INBOX = '/owner/inbox';

/** An order with its transitions in the inbox. */
interface OrderRow {
  readonly id: string;
  readonly order: Order;
  readonly transitions: TransitionSummary[];
}

const TONES: Readonly<Record<OrderState, Tone>> = {
  open: 'wait',
  paid: 'good',
  failed: 'bad',
  'not started': 'neutral',
};

const aside = (text: string | Markup): Markup => html` <span class="quiet small">${text}</span>`;

/** Orders for the owner; the console of the inbox shows what became of their callbacks. */
export function orderList(orders: readonly OrderRow[]): Markup {
  const columns = columnsOf<OrderRow>({
    'Order | wide': ({ id, order: { quantity, item, createdAt } }) =>
      html`<a href="/orders/${id}">${id}</a>${aside(html`${quantity} × ${item}, ${time(createdAt)}`)}`,
    'State | title': ({ order }) => {
      const state = orderState(order);
      return html`${badge(TONES[state], state)}${aside(whyOf(order))}`;
    },
    'Total | title': moneyCell,
    Customer: ({ order: { customerName, account, providerName } }) =>
      html`${customerName}${aside(`${account}, ${providerName}`)}`,
    Callbacks: ({ id, transitions }) =>
      transitions.length === 0
        ? '–'
        : html`<a href="${INBOX}/transitions?reference=${id}">${counted(transitions.length, 'callback')}<span class="hidden-text"> of ${id}</span></a>${
            transitions.some(needsAttention) ? html` ${badge('bad', 'needs attention')}` : ''
          }`,
  });
  return list('orders', columns, orders);
}

function whyOf({ payment, reported, start }: Order): Markup | string {
  if (payment !== undefined) return time(payment.at);
  if (reported !== undefined) return `Reported ${reported}`;
  return 'why' in start ? `${start.state === 'unknown' ? 'Start unknown: ' : ''}${start.why}` : '';
}

function moneyCell({ order: { total, payment } }: OrderRow): Markup {
  const { settled: paid = total, charge = null } = payment ?? {};
  const isOther = paid.currency !== total.currency || paid.amount !== canonicalAmount(total.amount);
  return html`${formatMoney(total)}
${payment !== undefined && isOther ? aside(`Paid ${formatMoney(paid)}`) : ''}
${charge === null ? '' : aside(`Charge ${formatMoney({ ...total, amount: charge })}, as its callback claims`)}`;
}

/** A settled one is suspicious if other bodies were received as well. */
function needsAttention(transition: TransitionSummary): boolean {
  const { state, bodyCount } = transition;
  return isHeld(transition) || state === 'retrying' || (state === 'settled' && bodyCount > 1);
}
