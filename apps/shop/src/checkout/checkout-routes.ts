import { EMPTY_FORM, type Order, orderState, type Product } from '../books/order.ts';
import type { Context } from '../context.ts';
import { messagePage, type Page, problemPage } from '../web/page.ts';
import { formField, get, post, type Route, reportOutage } from '../web/route.ts';
import { lastOrders, orderOfSession } from '../web/session.ts';
import { cataloguePage, providersFor } from './catalogue.ts';
import { choicePage } from './checkout-page.ts';
import { placeOrder } from './place-order.ts';

/** From the catalogue to a placed order, and to another attempt for an unpaid one. */
export function checkoutRoutes(context: Context): Route[] {
  const { client, orders, catalogue, log, baseUrl } = context;

  const withProduct = (id: string, answer: (product: Product) => Promise<Page>): Promise<Page> => {
    const product = catalogue.find((one) => one.id === id);
    return product === undefined ? problemPage(404) : answer(product);
  };

  /**
   * The form; or, if this browser placed an order after it loaded the form, the page of that order: the customer went back.
   *
   * @param after the last order that the customer knows of.
   * @param instead the order to try again.
   */
  const showCheckout = (id: string, cookie: string | undefined, after?: string, instead?: Order) =>
    withProduct(id, async (product) => {
      const last = lastOrders(cookie).get(id);
      const order = last === undefined || last === after ? undefined : orders.find(last);
      if (order !== undefined && /paid|open/.test(orderState(order))) return placedPage(order);
      const providers = await providersFor(client, product);
      // Name and account are shown only to the browser that ordered; others have only the order's address.
      const isCustomer = instead !== undefined && orderOfSession(cookie) === instead.reference;
      const form = isCustomer ? instead.form : EMPTY_FORM;
      return choicePage({ product, providers, baseUrl, form, instead: instead?.reference });
    });

  return [
    get('/', async ({ headers }) => {
      const providers = await client
        .listPaymentProviders({ transaction_type: 'COLLECTION' })
        .catch((error: unknown) => reportOutage(error, log));
      return cataloguePage(catalogue, providers, lastOrders(headers.cookie));
    }),
    get('/checkout', ({ url, headers }) => {
      const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
      return showCheckout(query.get('product') ?? '', headers.cookie, query.get('after') ?? undefined);
    }),
    post('/checkout', (form) =>
      withProduct(formField(form, 'product'), (product) => placeOrder(product, form, context)),
    ),
    get('/orders/:reference/again', ({ params, headers }) => {
      const order = orders.find(String(params.reference));
      if (order?.payment !== undefined) return placedPage(order);
      return showCheckout(order?.product.id ?? '', headers.cookie, order?.reference, order);
    }),
  ];
}

/** Replaces the form of an order that was already placed, so that a customer who goes back does not pay twice. */
function placedPage(order: Order): Promise<Page> {
  const { reference, product, form } = order;
  const isPaid = orderState(order) === 'paid';
  const title = isPaid ? 'This order is paid' : 'You have already placed this order';
  const state = isPaid
    ? 'is paid. Nothing more is due.'
    : 'is not confirmed as paid yet. If you have paid, please do not pay a second time.';
  return messagePage(200, title, `${form.quantity} × ${product.name}: order ${reference} ${state}`, [
    [`/orders/${reference}`, 'See your order'],
    ...(isPaid ? [] : [[`/orders/${reference}/again`, 'Change it and pay again'] as const]),
    [`/checkout?product=${product.id}&after=${reference}`, 'Order another'],
    ['/', 'Back to the shop'],
  ]);
}
