import { assertMerchantReference } from '@payment-service/core';
import type { ClientWithSecretKey } from '@payment-service/core/client';
import type { Order, PaymentStart } from '../books/order.ts';
import { isFormId, type OrderStore } from '../books/order-store.ts';
import { type Page, seeOther } from '../web/page.ts';
import { formField } from '../web/route.ts';
import { orderCookies } from '../web/session.ts';
import { type Product, providersFor } from './catalogue.ts';
import { checkOut, type Refusal, readCheckoutForm } from './checkout.ts';
import { checkoutPage } from './checkout-page.ts';
import type { StartCollection } from './simulated-collections.ts';

/** What the checkout needs from the shop. */
export interface CheckoutContext {
  readonly client: ClientWithSecretKey;
  readonly catalogue: readonly Product[];
  readonly orders: OrderStore;
  readonly startCollection: StartCollection;
  readonly shopUrl: string;
  readonly baseUrl: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly newReference: () => string;
  readonly newFormId: () => string;
  readonly log: (line: string) => void;
}

/**
 * Writes the order and the expectation of its payment first, then starts the payment: its callback may be faster than the
 * response. A form that was submitted before leads to the order that it placed, and another attempt for an order that was paid
 * meanwhile leads to that order.
 */
export async function placeOrder(product: Product, form: unknown, desk: CheckoutContext): Promise<Page> {
  const formId = formField(form, 'form_id');
  // Before any request to the service: it may be unavailable by now while the payment is under way.
  const earlier = await desk.orders.placedWith(formId);
  if (earlier !== undefined) return leadTo(`/orders/${earlier}`, earlier, product, desk);
  const instead = await desk.orders.find(formField(form, 'instead'));
  if (instead?.payment !== undefined) return seeOther(`/orders/${instead.reference}`);

  const typed = readCheckoutForm(form);
  const providers = await providersFor(desk.client, product);
  const again = (refusal: Refusal): Promise<Page> =>
    checkoutPage({
      product,
      providers,
      form: typed,
      formId: desk.newFormId(),
      instead: instead?.reference,
      paymentOrigin: new URL(desk.baseUrl).origin,
      status: 422,
      refusal,
    });
  const checkout = checkOut(typed, product, providers);
  if (!checkout.ok) return again(checkout.refusal);
  if (!isFormId(formId)) {
    return again({ heading: 'This form is not valid', reasons: ['Nothing was ordered; submit it again.'] });
  }

  const reference = desk.newReference();
  assertMerchantReference(reference);
  const order: Order = {
    ...checkout.wanted,
    reference,
    createdAt: desk.now(),
    start: { state: 'starting' },
  };
  const placed = await desk.orders.add(order, formId);
  const ownPage = `/orders/${placed}`;
  if (placed !== reference) return leadTo(ownPage, placed, product, desk);
  const start = await startPayment(order, desk);
  if (start.state === 'refused') {
    return again({ heading: 'Your payment was not started', reasons: [start.why] });
  }
  const target = start.state === 'started' ? start.paymentUrl : ownPage;
  return leadTo(target, placed, product, desk);
}

async function startPayment(
  order: Order,
  { orders, startCollection, log }: CheckoutContext,
): Promise<PaymentStart> {
  const { reference } = order;
  const start = await startCollection(order);
  if (start.state === 'refused') log(`${reference}: the payment was not started: ${start.why}`);
  if (start.state === 'unknown') log(`${reference}: the payment may have been started: ${start.why}`);
  // The payment may have started: a short outage of the database must not keep the customer from it.
  await orders
    .start(order, start)
    .catch((error: unknown) =>
      log(`${reference}: the start of the payment could not be stored: ${String(error)}`),
    );
  return start;
}

/** Leads to the payment page, or to the page of the order, where the customer sees its state and can pay if it is open. */
function leadTo(location: string, reference: string, { id }: Product, { shopUrl }: CheckoutContext): Page {
  return seeOther(location, orderCookies(reference, id, shopUrl));
}
