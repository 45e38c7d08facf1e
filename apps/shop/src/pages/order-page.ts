import { html } from 'hono/html';
import { formatMoney } from '../money.ts';
import { type Order, type OrderState, orderState, type PaymentStart } from '../order.ts';
import { type Markup, type Page, page } from './page.ts';

/**
 * The customer's own page of an order. Shows no name and only the end of the account: its address opens it.
 *
 * @param isHeld Whether the inbox holds a callback of its payment back for a person.
 */
export function orderPage(order: Order, isHeld: boolean): Promise<Page> {
  const isPaid = order.payment !== undefined;
  return page({
    title: TITLES[orderState(order)],
    section: '/',
    watch: !isPaid,
    main: html`<h1>Your order</h1>
${situation(order, isHeld)}
<dl class="card narrow">
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

function situation({ reference, payment, reported, hint, start }: Order, isHeld: boolean): Markup {
  if (payment !== undefined) {
    return panel('good', 'Paid. Thank you!', html`<p>The payment service confirmed your payment.</p>`);
  }
  if (start.state === 'refused') {
    return panel(
      'bad',
      'The payment was not started',
      html`<p>The payment service refused it: ${start.why}</p>${tryAgain(reference)}`,
    );
  }
  const again =
    start.state === 'started'
      ? html`<p><a class="button" href="${start.paymentUrl}">Go to the payment page</a></p>`
      : '';
  if (reported !== undefined) {
    return panel(
      'bad',
      'The payment failed',
      html`<p>This order is not paid. The payment service reported: ${reported}.</p>${tryAgain(reference)}`,
    );
  }
  if (isHeld) return held(hint?.completed === true ? '' : again);
  if (hint === undefined) return waiting(start, again);
  // Only a hint: the customer's browser brought it, and it can be opened again at any time.
  return hint.completed
    ? panel(
        'open',
        'Your payment is being confirmed',
        html`<p>The payment page said that you paid. We are waiting until the payment service tells us the same; this
page updates automatically.</p>`,
      )
    : panel(
        'open',
        'Your payment seems not to be completed',
        html`<p>The payment page said: ${hint.status}. We are waiting until the payment service tells us the outcome.</p>${again}`,
      );
}

/** No promise: a person decides, and after that nothing may come. */
function held(again: Markup | ''): Markup {
  return panel(
    'open',
    'The shop has to check your payment',
    html`<p>What the shop received about your payment does not fit this order, so the order is not paid. You do not have
to wait on this page: keep its address, and look again later. If you have paid, please do not pay a second time.</p>
${again === '' ? '' : html`<p>If you have not paid yet, you can still pay.</p>${again}`}`,
  );
}

function waiting({ state }: PaymentStart, again: Markup | ''): Markup {
  if (state === 'started') {
    return panel(
      'open',
      'We are waiting for your payment',
      html`<p>This page updates automatically when it is paid.</p>${again}`,
    );
  }
  if (state === 'starting') {
    return panel(
      'open',
      'Your payment is being started',
      html`<p>The payment service has not answered yet. This page updates automatically; please do not order a second
time.</p>`,
    );
  }
  return panel(
    'open',
    'We do not know yet whether your payment was started',
    html`<p>The payment service was asked to start it, and gave no clear answer. Your payment may be under way all the
same, so please do not order a second time. As soon as the payment service tells us the outcome, this page shows it.</p>`,
  );
}

function tryAgain(reference: string): Markup {
  return html`<p><a class="button" href="/orders/${reference}/again">Try again</a></p>`;
}

function panel(mood: 'good' | 'open' | 'bad', heading: string, text: Markup): Markup {
  return html`<div class="notice ${mood} narrow"><h2>${heading}</h2>${text}</div>`;
}
