import { type Order, orderState } from '../books/order.ts';
import { messagePage, type Page, problemPage } from '../web/page.ts';
import {
  formField,
  get,
  type PageRequest,
  post,
  queryOf,
  type Route,
  referenceIn,
  reportOutage,
} from '../web/route.ts';
import { lastOrders, orderOfSession } from '../web/session.ts';
import { cataloguePage, type Product, providersFor } from './catalogue.ts';
import { EMPTY_FORM, formOf, previewCheckout, readCheckoutForm } from './checkout.ts';
import { checkoutPage, paymentChoicePart } from './checkout-page.ts';
import { type CheckoutContext, placeOrder } from './place-order.ts';

/** From the catalogue to a placed order, and to another attempt for an unpaid one. */
export function checkoutRoutes(context: CheckoutContext): Route[] {
  const { client, orders, catalogue, log } = context;

  const withProduct = (id: string, answer: (product: Product) => Promise<Page>): Promise<Page> => {
    const product = catalogue.find((one) => one.id === id);
    return product === undefined ? problemPage(404) : answer(product);
  };

  const showCheckout = async (product: Product, instead?: Order, isCustomer = false): Promise<Page> => {
    const providers = await providersFor(client, product);
    return checkoutPage({
      product,
      providers,
      // Name and account are shown only to the browser that ordered; others have only the order's address.
      form: instead !== undefined && isCustomer ? formOf(instead, product, providers) : EMPTY_FORM,
      formId: context.newFormId(),
      instead: instead?.reference,
      paymentOrigin: new URL(context.baseUrl).origin,
    });
  };

  /** The page of the order that this browser placed after it loaded the form: the customer went back to the form. */
  const placedSince = async (
    { id }: Product,
    after: string | null,
    { headers }: PageRequest,
  ): Promise<Page | undefined> => {
    const last = lastOrders(headers.cookie).get(id);
    const order = last === undefined || last === after ? undefined : await orders.find(last);
    return order !== undefined && /paid|open/.test(orderState(order)) ? placedPage(order) : undefined;
  };

  return [
    get('/', async ({ headers }) => {
      const providers = await client
        .listPaymentProviders({ transaction_type: 'COLLECTION' })
        .catch((error: unknown) => reportOutage(error, log));
      return cataloguePage(catalogue, providers, lastOrders(headers.cookie));
    }),
    get('/checkout', (request) => {
      const query = queryOf(request);
      return withProduct(
        query.get('product') ?? '',
        async (product) => (await placedSince(product, query.get('after'), request)) ?? showCheckout(product),
      );
    }),
    post('/checkout', ({ form }) =>
      withProduct(formField(form, 'product'), (product) => placeOrder(product, form, context)),
    ),
    post('/checkout/providers', ({ form }) =>
      withProduct(formField(form, 'product'), async (product) => {
        const providers = await providersFor(client, product);
        return paymentChoicePart(
          previewCheckout(readCheckoutForm(form), product, providers, { isTyping: true }),
        );
      }),
    ),
    get('/orders/:reference/again', async (request) => {
      const order = await orders.find(referenceIn(request));
      if (order?.payment !== undefined) return placedPage(order);
      return withProduct(order?.productId ?? '', async (product) => {
        const isCustomer = orderOfSession(request.headers.cookie) === order?.reference;
        const placed = await placedSince(product, order?.reference ?? null, request);
        return placed ?? showCheckout(product, order, isCustomer);
      });
    }),
  ];
}

/** Replaces the form of an order that was already placed, so that a customer who goes back does not pay twice. */
function placedPage(order: Order): Promise<Page> {
  const { reference, productId, quantity, item } = order;
  const isPaid = orderState(order) === 'paid';
  return messagePage({
    status: 200,
    title: isPaid ? 'This order is paid' : 'You have already placed this order',
    text: isPaid
      ? `${quantity} × ${item}: order ${reference} is paid. Nothing more is due.`
      : `${quantity} × ${item}: order ${reference} is not confirmed as paid yet. If you have paid, please do not pay a second time.`,
    links: [
      [`/orders/${reference}`, 'See your order'],
      ...(isPaid ? [] : [[`/orders/${reference}/again`, 'Change it and pay again'] as const]),
      [`/checkout?product=${encodeURIComponent(productId)}&after=${reference}`, 'Order another'],
      ['/', 'Back to the shop'],
    ],
  });
}
