import { assertMerchantReference } from '@payment-service/core';
import type { PaymentProvider } from '@payment-service/core/client';
import type { Order, PaymentStart } from '../books/order.ts';
import { isFormId, type OrderStore } from '../books/order-store.ts';
import { type Page, seeOther } from '../web/page.ts';
import { formField } from '../web/route.ts';
import { orderCookies } from '../web/session.ts';
import type { Product } from './catalogue.ts';
import { type Checkout, checkOut, type Refusal, readCheckoutForm } from './checkout.ts';
import { checkoutPage } from './checkout-page.ts';
import type { StartCollection } from './simulated-collections.ts';

/** What placing an order needs from the shop. */
export interface OrderDesk {
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

type Accepted = Extract<Checkout, { ok: true }>;

/**
 * Writes the order and the expectation of its payment first, then starts the payment: its callback may be faster than the
 * response. A form that was submitted before leads to the order that it placed, and another attempt for an order that was paid
 * meanwhile leads to that order.
 */
export async function placeOrder(
  product: Product,
  form: unknown,
  providersFor: (product: Product) => Promise<readonly PaymentProvider[]>,
  desk: OrderDesk,
): Promise<Page> {
  const formId = formField(form, 'form_id');
  // Before any request to the service: it may be unavailable by now while the payment is under way.
  const earlier = await desk.orders.placedWith(formId);
  if (earlier !== undefined) return leadTo(`/orders/${earlier}`, earlier, product, desk);
  const instead = await desk.orders.find(formField(form, 'instead'));
  if (instead?.payment !== undefined) return seeOther(`/orders/${instead.reference}`);

  const typed = readCheckoutForm(form);
  const providers = await providersFor(product);
  const again = (problem: { refusal?: Refusal; trouble?: string }): Promise<Page> =>
    checkoutPage({
      product,
      providers,
      form: typed,
      formId: desk.newFormId(),
      instead: instead?.reference,
      paymentOrigin: new URL(desk.baseUrl).origin,
      status: 422,
      ...problem,
    });
  const checkout = checkOut(typed, product, providers);
  if (!checkout.ok) return again({ refusal: checkout.refusal });
  if (!isFormId(formId)) {
    return again({ trouble: 'This form is not valid. Nothing was ordered; submit it again.' });
  }

  const order = newOrder(product, checkout, desk);
  const placed = await desk.orders.add(order, formId);
  const ownPage = `/orders/${placed}`;
  if (placed !== order.reference) return leadTo(ownPage, placed, product, desk);
  const start = await startPayment(order, checkout, desk);
  if (start.state === 'refused') {
    return again({ trouble: `The payment service refused this payment: ${start.why}` });
  }
  const target = start.state === 'started' ? start.paymentUrl : ownPage;
  return leadTo(target, placed, product, desk);
}

function newOrder(
  product: Product,
  { quantity, name, account, total, provider }: Accepted,
  desk: OrderDesk,
): Order {
  const reference = desk.newReference();
  assertMerchantReference(reference);
  return {
    reference,
    createdAt: desk.now(),
    productId: product.id,
    item: product.name,
    quantity,
    total,
    account,
    customerName: name,
    providerName: provider.provider_name,
    start: { state: 'starting' },
  };
}

async function startPayment(
  order: Order,
  { provider }: Accepted,
  { orders, startCollection, shopUrl, log }: OrderDesk,
): Promise<PaymentStart> {
  const { reference } = order;
  const start = await startCollection({
    merchantReference: reference,
    total: order.total,
    providerCode: provider.provider_code,
    account: order.account,
    customerName: order.customerName,
    callbackUrl: `${shopUrl}/payments/callbacks`,
    redirectUrl: `${shopUrl}/orders/${reference}/redirect`,
  });
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
function leadTo(location: string, reference: string, { id }: Product, { shopUrl }: OrderDesk): Page {
  return seeOther(location, orderCookies(reference, id, shopUrl));
}
