import { html, type Markup } from '@payment-service/pages';
import { formatMoney, type Order, type OrderState, orderState } from '../books/order.ts';
import { type Page, page } from '../web/page.ts';

interface Situation {
  /** Whether the inbox holds back a callback of its payment for an operator. */
  readonly isHeld: boolean;
  /** Whether the customer has waited longer than a confirmation takes. */
  readonly isLate: boolean;
}

/** Where customers write to. */
const CONTACT = 'help@shop.example';

const TITLES: Readonly<Record<OrderState, string>> = {
  paid: 'Paid',
  failed: 'Payment failed',
  open: 'Your order',
  'not started': 'Payment not started',
};

/**
 * The customer's own page of an order. Shows no name and only the end of the account, since anyone with its address can open
 * it.
 */
export function orderPage(order: Order, known: Situation): Promise<Page> {
  const isPaid = order.payment !== undefined;
  return page({
    title: TITLES[orderState(order)],
    section: '/',
    watch: isPaid ? undefined : known.isLate ? 'rarely' : 'often',
    heading: 'Your order',
    main: html`${situation(order, known)}
<dl class="card facts narrow">
<dt>Order</dt><dd>${order.reference}</dd>
<dt>Item</dt><dd>${order.quantity} × ${order.item}</dd>
<dt>Total</dt><dd>${formatMoney(order.total)}</dd>
<dt>${isPaid ? 'Paid with' : 'To pay with'}</dt><dd>${order.providerName}, account ending in ${order.account.slice(-3)}</dd>
</dl>
<p><a href="/">Back to the shop</a></p>`,
  });
}

const notice = (
  tone: 'good' | 'bad' | 'wait',
  heading: string,
  text: Markup | string,
  below: Markup | string = '',
) => html`<div class="note ${tone} narrow"><h2>${heading}</h2><p>${text}</p>${below}</div>`;

function situation(order: Order, { isHeld, isLate }: Situation): Markup {
  const { reference, payment, reported, hint, start } = order;
  const tryAgain = (kind: 'main' | '' = 'main'): Markup =>
    html`<p><a class="button ${kind}" href="/orders/${reference}/again">Try again</a></p>`;
  if (payment !== undefined) {
    return notice('good', 'Paid. Thank you!', 'The payment service confirmed your payment.');
  }
  if (start.state === 'refused') {
    const text = `The payment service refused it: ${start.why}`;
    return notice('bad', 'The payment was not started', text, tryAgain());
  }
  if (reported !== undefined) {
    const text = `This order is not paid. The payment service reported: ${reported}.`;
    return notice('bad', 'The payment failed', text, tryAgain());
  }
  const pay =
    start.state === 'started'
      ? html`<p><a class="button main" href="${start.paymentUrl}">Go to the payment page</a></p>`
      : undefined;
  // Whoever is said to have paid is not led to the payment page a second time.
  const open = hint?.completed === true ? undefined : pay;
  const ask = html`please do not pay a second time, and <a href="mailto:${CONTACT}?subject=Order%20${reference}">write to ${CONTACT}</a>.`;
  // Promises nothing: an operator decides, and no callback may follow.
  if (isHeld) {
    const text = html`What the shop received about your payment does not match this order, so the order is not paid. You do not have
to wait on this page: keep its address, and look again later. If you have paid, ${ask}`;
    const below = open === undefined ? '' : html`<p>If you have not paid yet, you can still pay.</p>${open}`;
    return notice('wait', 'The shop must check your payment', text, below);
  }
  // A confirmation may never arrive: a refused or lost callback leaves no other trace here.
  if (isLate) {
    const said = hint && `The payment page said ${hint.completed ? 'that you paid' : hint.status}. `;
    const text = html`${said ?? ''}The payment service has not told us of a payment, so this order is not paid yet. It becomes paid as soon
as the confirmation arrives. You do not have to wait: keep the address of this page, and
<a href="/orders/${reference}">look again</a> later.`;
    const isMain = open === undefined && hint?.completed !== true;
    const below = html`<p>If money was taken from your account, ${ask}</p>
<p>If no money was taken, you can pay now.</p>${open ?? ''}${tryAgain(isMain ? 'main' : '')}`;
    return notice('wait', 'We have not received a confirmation yet', text, below);
  }
  // Only a hint: the customer's browser brought it, and it can be opened again at any time.
  if (hint?.completed === true) {
    const text =
      'The payment page reported that you paid. We are waiting for the payment service to confirm it; this page updates automatically.';
    return notice('wait', 'Your payment is being confirmed', text);
  }
  if (hint !== undefined) {
    const text = `The payment page said: ${hint.status}. We are waiting for the payment service to confirm the outcome.`;
    return notice('wait', 'Your payment does not seem to be complete', text, pay);
  }
  const [heading, text] = WAITING[start.state];
  return notice('wait', heading, text, pay);
}

const WAITING = {
  started: ['We are waiting for your payment', 'This page updates automatically when it is paid.'],
  starting: [
    'Your payment is being started',
    'The payment service has not answered yet. This page updates automatically; please do not order a second time.',
  ],
  unknown: [
    'We do not know yet whether your payment was started',
    'The payment service was asked to start it, and gave no clear answer. Your payment may be under way all the same, so please do not order a second time. As soon as the payment service tells us the outcome, this page shows it.',
  ],
} as const;
