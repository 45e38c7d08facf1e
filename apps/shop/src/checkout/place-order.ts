import { randomBytes } from 'node:crypto';
import { multiply, type Order, type Product } from '../books/order.ts';
import type { Context } from '../context.ts';
import { type Page, seeOther } from '../web/page.ts';
import { formField } from '../web/route.ts';
import { orderCookies } from '../web/session.ts';
import { providersFor } from './catalogue.ts';
import { offersFor, type Refusal, readCheckoutForm, refusalOf } from './checkout.ts';
import { choicePage, payPage } from './checkout-page.ts';
import { startCollection } from './simulated-collections.ts';

/**
 * The two steps of the checkout: first the quantity and the provider, then the customer and the total to pay.
 *
 * Writes the order and the expectation of its payment first, then starts the payment: its callback may be faster than the
 * response. A form that was submitted before leads to the order that it placed, and another attempt for an order that was paid
 * meanwhile leads to that order.
 */
export async function placeOrder(product: Product, posted: URLSearchParams, context: Context): Promise<Page> {
  const { orders, log, now, baseUrl, shopUrl } = context;
  /** Leads to the payment page, or to the page of the order, where the customer sees its state and can pay if it is open. */
  const leadTo = (reference: string, location = `/orders/${reference}`): Page =>
    seeOther(location, orderCookies(reference, product.id, shopUrl));

  const formId = formField(posted, 'form_id');
  // Before any request to the service: it may be unavailable by now while the payment is under way.
  const earlier = orders.placedWith(formId);
  if (earlier !== undefined) return leadTo(earlier.reference);
  const instead = orders.find(formField(posted, 'instead'));
  if (instead?.payment !== undefined) return seeOther(`/orders/${instead.reference}`);

  const form = readCheckoutForm(posted);
  const providers = await providersFor(context.client, product);
  const checkout = {
    ...{ product, providers, baseUrl, form, instead: instead?.reference },
    formId: /^[0-9a-f]{32}$/.test(formId) ? formId : undefined,
  };
  const again = (problems: Refusal['problems'], heading?: string): Promise<Page> =>
    payPage({ ...checkout, formId: undefined, refusal: { problems, heading } });
  const step = formField(posted, 'step');
  if (step === 'change') return choicePage(checkout);
  const refusal = refusalOf(form, product, providers);
  const choice = refusal?.problems.filter(([field]) => field !== 'name' && field !== 'account') ?? [];
  if (choice.length > 0) return choicePage({ ...checkout, refusal: { ...refusal, problems: choice } });
  if (step === 'choose') return payPage(checkout);
  if (refusal !== undefined) return again(refusal.problems, refusal.heading);
  if (checkout.formId === undefined) {
    return again([['', 'Nothing was ordered; submit it again.']], 'This form is not valid');
  }

  const offers = offersFor(form, product, providers);
  const chosen = offers.find(({ provider }) => provider.provider_code === form.provider);
  const reference = `ORD-${randomBytes(6).toString('hex').toUpperCase()}`;
  const order: Order = {
    reference,
    createdAt: now(),
    product,
    // Not as the customer typed it: the service takes digits.
    form: { ...form, account: chosen?.account ?? '' },
    total: multiply(product.price, Number(form.quantity)),
    providerName: chosen?.provider.provider_name ?? form.provider,
    start: { state: 'starting' },
  };
  const placed = await orders.add(order, formId);
  if (placed !== reference) return leadTo(placed);
  const start = await startCollection(order, context);
  if (start.state === 'refused') log(`${reference}: the payment was not started: ${start.why}`);
  if (start.state === 'unknown') log(`${reference}: the payment may have been started: ${start.why}`);
  // The payment may have started: a short outage of the database must not keep the customer from it.
  await orders.start(order, start).catch((error: unknown) => {
    log(`${reference}: the start of the payment could not be stored: ${String(error)}`);
  });
  if (start.state === 'refused') return again([['', start.why]], 'Your payment was not started');
  return leadTo(reference, start.state === 'started' ? start.paymentUrl : undefined);
}
