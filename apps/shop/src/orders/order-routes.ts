import { badge, html, type Markup, type Tone, time } from '@payment-service/pages';
import { formatMoney, isHeld, type Order, type OrderState, orderState, paidOf } from '../books/order.ts';
import type { Context } from '../context.ts';
import { messagePage, PRODUCT, page, problemPage, seeOther } from '../web/page.ts';
import { get, type Route } from '../web/route.ts';
import { lastOrders } from '../web/session.ts';

/** How long a confirmation takes at most: after that, the order's page offers other options. */
const CONFIRM_WITHIN_MS = 120_000;

/** The pages of an order for its customer. */
export function orderRoutes({ orders, inbox, now }: Context): Route[] {
  return [
    get('/orders/:reference', async ({ params }) => {
      const order = orders.find(String(params.reference));
      if (order === undefined) return problemPage(404);
      const isPaid = order.payment !== undefined;
      // Another callback may still arrive and pay the order.
      const transitions = isPaid ? [] : await inbox.reports({ merchant_reference: order.reference });
      const isLate = now() - (order.hint?.at ?? order.createdAt) >= CONFIRM_WITHIN_MS;
      const ofPayment = transitions.filter(({ signed }) => signed.transaction_type === 'COLLECTION');
      const [tone, title, text, ...below] = situation(order, ofPayment.some(isHeld), isLate);
      // Anyone with its address can open it: no name, and only the end of the account.
      return page({
        title,
        section: '/',
        pollMs: isPaid ? undefined : isLate ? 15_000 : 1500,
        // Without scripts, it reloads as long as a confirmation is likely.
        head:
          isPaid || isLate ? undefined : html`<noscript><meta http-equiv="refresh" content="3"></noscript>`,
        heading: 'Your order',
        beside: stateOf(order),
        main: html`<div class="split">
<dl class="card facts follows">
<dt>Order</dt><dd>${order.reference}</dd>
<dt>Item</dt><dd>${order.form.quantity} × ${order.product.name}</dd>
<dt>Total</dt><dd class="strong">${formatMoney(order.total)}</dd>
<dt>${isPaid ? 'Paid with' : 'To pay with'}</dt><dd>${providerOf(order)}</dd>
</dl>
<div class="note ${tone} stack"><h2>${title}</h2><p>${text}</p>${below}</div>
</div>
<p><a href="/">Back to the shop</a></p>`,
      });
    }),
    // Like the order's page, it names no one.
    get('/orders/:reference/receipt', ({ params }) => {
      const order = orders.find(String(params.reference));
      if (order === undefined) return problemPage(404);
      const paid = paidOf(order);
      if (order.payment === undefined || paid === undefined) return seeOther(`/orders/${order.reference}`);
      return page({
        title: 'Receipt',
        section: '/',
        beside: stateOf(order),
        main: html`<dl class="card facts narrow">
<dt>Paid to</dt><dd>${PRODUCT}</dd>
<dt>Date</dt><dd>${time(order.payment.at)}</dd>
<dt>Reference</dt><dd>${order.reference}</dd>
<dt>Item</dt><dd>${order.form.quantity} × ${order.product.name}</dd>
<dt>Amount</dt><dd class="strong">${formatMoney(paid)}</dd>
<dt>Paid with</dt><dd>${providerOf(order)}</dd>
</dl>
<p class="actions">To keep it, print this page or save it as PDF. <a href="/orders/${order.reference}">Back to the order</a></p>`,
      });
    }),
    get('/payments/unconfirmed', ({ headers }) => {
      const own = [...lastOrders(headers.cookie).values()];
      const links = own.map((reference) => [`/orders/${reference}`, `Order ${reference}`] as const);
      const text =
        'We could not read the result from the payment page. If you paid, your order becomes paid as soon as the payment service confirms it; its page shows it.';
      return messagePage(200, 'Thank you', text, [...links, ['/', 'Back to the shop']]);
    }),
  ];
}

/** The provider, and the end of the account: a card has none here. */
const providerOf = ({ providerName, form: { account } }: Order): string =>
  account === '' ? providerName : `${providerName}, account ending in ${account.slice(-3)}`;

/** Where customers write to. */
const CONTACT = 'help@shop.example';

export const STATES: Readonly<Record<OrderState, readonly [Tone, string]>> = {
  open: ['wait', 'Open'],
  paid: ['good', 'Paid'],
  failed: ['bad', 'Failed'],
  'not started': ['neutral', 'Not started'],
};

/** The state of an order, for its customer and for the owner. */
export const stateOf = (order: Order): Markup => badge(...STATES[orderState(order)]);

type Notice = readonly [tone: Tone, title: string, text: Markup | string, ...below: (Markup | '')[]];

/**
 * @param isHeld whether the inbox holds back a callback of its payment for an operator.
 * @param isLate whether the customer has waited longer than a confirmation takes.
 */
function situation(order: Order, isHeld: boolean, isLate: boolean): Notice {
  const { reference, payment, reported, hint, start } = order;
  if (payment !== undefined) {
    const receipt = html`<p><a class="button" href="/orders/${reference}/receipt">Receipt</a></p>`;
    return ['good', 'Paid. Thank you!', 'The payment service confirmed your payment.', receipt];
  }
  const again = html`<p><a class="button main" href="/orders/${reference}/again">Try again</a></p>`;
  if (start.state === 'refused') {
    return ['bad', 'The payment was not started', `The payment service refused it: ${start.why}`, again];
  }
  if (reported !== undefined) {
    const text = `This order is not paid. The payment service reported: ${reported}.`;
    return ['bad', 'The payment failed', text, again];
  }
  // A customer who is said to have paid is not led to the payment page a second time.
  const isPayable = start.state === 'started' && hint?.completed !== true;
  const pay = isPayable
    ? html`<p><a class="button main" href="${start.paymentUrl}">Go to the payment page</a></p>`
    : '';
  const ask = html`please do not pay a second time, and <a href="mailto:${CONTACT}?subject=Order%20${reference}">write to ${CONTACT}</a>.`;
  // Promises nothing: an operator decides, and no callback may follow.
  if (isHeld) {
    const text = html`What the shop received about your payment does not match this order, so the order is not paid. You do not have
to wait on this page: keep its address, and look again later. If you have paid, ${ask}`;
    const unpaid = isPayable ? html`<p>If you have not paid yet, you can still pay.</p>` : '';
    return ['wait', 'The shop must check your payment', text, unpaid, pay];
  }
  // A confirmation may never arrive: a refused or lost callback leaves no other trace here.
  if (isLate) {
    const said = hint && `The payment page said ${hint.completed ? 'that you paid' : hint.status}. `;
    const text = html`${said ?? ''}The payment service has not reported a payment to us, so this order is not paid yet. It becomes paid as soon
as the confirmation arrives. You do not have to wait: keep the address of this page, and
<a href="/orders/${reference}">look again</a> later.`;
    const below = html`<p>If money was taken from your account, ${ask}</p>
<p>If no money was taken, you can pay now.</p>${pay}<p><a class="button" href="/orders/${reference}/again">Try again</a></p>`;
    return ['wait', 'We have not received a confirmation yet', text, below];
  }
  // Only a hint: the customer's browser brought it, and it can be opened again at any time.
  if (hint !== undefined) {
    const title = hint.completed ? 'is being confirmed' : 'does not seem to be complete';
    const text = hint.completed
      ? 'The payment page reported that you paid. We are waiting for the payment service to confirm it; this page updates automatically.'
      : `The payment page said: ${hint.status}. We are waiting for the payment service to confirm the outcome.`;
    return ['wait', `Your payment ${title}`, text, pay];
  }
  return ['wait', ...WAITING[start.state], pay];
}

const WAITING = {
  started: ['We are waiting for your payment', 'This page updates automatically when it is paid.'],
  starting: [
    'Your payment is being started',
    'The payment service has not answered yet. This page updates automatically; please do not order a second time.',
  ],
  unknown: [
    'We do not know yet whether your payment was started',
    'The payment service was asked to start it but gave no clear answer. Your payment may be under way all the same, so please do not order a second time. As soon as the payment service tells us the outcome, this page shows it.',
  ],
} as const;
