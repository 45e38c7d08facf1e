import { html, type Markup } from '@payment-service/pages';
import { formatMoney, type Order, type OrderState, orderState, type PaymentStart } from '../books/order.ts';
import { type Page, page } from '../web/page.ts';

interface Situation {
  /** Whether the inbox holds back a callback of its payment for an operator. */
  readonly isHeld: boolean;
  /** Whether the customer has waited longer than a confirmation takes. */
  readonly isLate: boolean;
  /** An email address. */
  readonly contact: string;
}

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
<dt>Total</dt><dd>${formatMoney(order.total.currency, order.total.amount)}</dd>
<dt>${isPaid ? 'Paid with' : 'To pay with'}</dt><dd>${order.providerName}, account ending in ${order.account.slice(-3)}</dd>
</dl>
<p><a href="/">Back to the shop</a></p>`,
  });
}

const TITLES: Readonly<Record<OrderState, string>> = {
  paid: 'Paid',
  failed: 'Payment failed',
  open: 'Your order',
  'not started': 'Payment not started',
};

function situation(order: Order, { isHeld, isLate, contact }: Situation): Markup {
  const { reference, payment, reported, hint, start } = order;
  if (payment !== undefined) {
    return html`<div class="note good narrow"><h2>Paid. Thank you!</h2>
<p>The payment service confirmed your payment.</p></div>`;
  }
  if (start.state === 'refused') {
    return html`<div class="note bad narrow"><h2>The payment was not started</h2>
<p>The payment service refused it: ${start.why}</p>${tryAgain(reference)}</div>`;
  }
  const again =
    start.state === 'started'
      ? html`<p><a class="button main" href="${start.paymentUrl}">Go to the payment page</a></p>`
      : '';
  if (reported !== undefined) {
    return html`<div class="note bad narrow"><h2>The payment failed</h2>
<p>This order is not paid. The payment service reported: ${reported}.</p>${tryAgain(reference)}</div>`;
  }
  if (isHeld) return held(order, contact, hint?.completed === true ? '' : again);
  if (isLate) return late(order, contact, hint?.completed === true ? '' : again);
  if (hint === undefined) return waiting(start, again);
  // Only a hint: the customer's browser brought it, and it can be opened again at any time.
  if (hint.completed) {
    return html`<div class="note wait narrow"><h2>Your payment is being confirmed</h2>
<p>The payment page reported that you paid. We are waiting for the payment service to confirm it; this
        page updates automatically.</p></div>`;
  }
  return html`<div class="note wait narrow"><h2>Your payment does not seem to be complete</h2>
<p>The payment page said: ${hint.status}. We are waiting for the payment service to confirm the outcome.</p>${again}</div>`;
}

/** Promises nothing: an operator decides, and no callback may follow. */
function held({ reference }: Order, contact: string, again: Markup | ''): Markup {
  return html`<div class="note wait narrow"><h2>The shop must check your payment</h2>
<p>What the shop received about your payment does not match this order, so the order is not paid. You do not have
to wait on this page: keep its address, and look again later. If you have paid, please do not pay a second time, and
${ask(reference, contact)}.</p>
${again === '' ? '' : html`<p>If you have not paid yet, you can still pay.</p>${again}`}</div>`;
}

/** It may never arrive: a refused or lost callback leaves no other trace here. */
function late({ reference, hint }: Order, contact: string, again: Markup | ''): Markup {
  const said =
    hint === undefined ? '' : `The payment page said ${hint.completed ? 'that you paid' : hint.status}. `;
  return html`<div class="note wait narrow"><h2>We have not received a confirmation yet</h2>
<p>${said}The payment service has not told us of a payment, so this order is not paid yet. It becomes paid as soon
as the confirmation arrives. You do not have to wait: keep the address of this page, and
<a href="/orders/${reference}">look again</a> later.</p>
<p>If money was taken from your account, please do not pay a second time, and ${ask(reference, contact)}.</p>
<p>If no money was taken, you can pay now.</p>${again}${tryAgain(reference, again === '' && hint?.completed !== true ? ' main' : '')}</div>`;
}

function ask(reference: string, contact: string): Markup {
  return html`<a href="mailto:${contact}?subject=Order%20${reference}">write to ${contact}</a>`;
}

function waiting({ state }: PaymentStart, again: Markup | ''): Markup {
  if (state === 'started') {
    return html`<div class="note wait narrow"><h2>We are waiting for your payment</h2>
<p>This page updates automatically when it is paid.</p>${again}</div>`;
  }
  if (state === 'starting') {
    return html`<div class="note wait narrow"><h2>Your payment is being started</h2>
<p>The payment service has not answered yet. This page updates automatically; please do not order a second
time.</p></div>`;
  }
  return html`<div class="note wait narrow"><h2>We do not know yet whether your payment was started</h2>
<p>The payment service was asked to start it, and gave no clear answer. Your payment may be under way all the
same, so please do not order a second time. As soon as the payment service tells us the outcome, this page shows it.</p></div>`;
}

function tryAgain(reference: string, mood: '' | ' main' = ' main'): Markup {
  return html`<p><a class="button${mood}" href="/orders/${reference}/again">Try again</a></p>`;
}
