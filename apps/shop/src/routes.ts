import {
  assertMerchantReference,
  type ClientWithSecretKey,
  type PaymentProvider,
} from '@payment-service/core';
import type { Inbox } from '@payment-service/inbox';
import type { Product } from './catalogue.ts';
import { type CheckoutForm, checkOut, formField, readCheckoutForm } from './checkout.ts';
import type { Transaction } from './database/database.ts';
import type { Order } from './order.ts';
import type { OrderStore } from './order-store.ts';
import { cataloguePage } from './pages/catalogue-page.ts';
import { checkoutPage } from './pages/checkout-page.ts';
import { messagePage, problemPage } from './pages/message-page.ts';
import { orderPage, orderVersion } from './pages/order-page.ts';
import { ownerOrdersPage } from './pages/owner-orders-page.ts';
import { type Page, plainText, seeOther } from './pages/page.ts';
import { walletsPage } from './pages/wallets-page.ts';
import { type PageRequest, pathPart, queryOf, type Route, reportAway } from './route.ts';
import { orderCookie } from './session.ts';
import type { StartCollection } from './simulated-collections.ts';

export interface RouteContext {
  readonly client: ClientWithSecretKey;
  readonly startCollection: StartCollection;
  readonly orders: OrderStore;
  readonly inbox: Inbox<Transaction>;
  readonly catalogue: readonly Product[];
  readonly refusals: ReadonlyMap<string, number>;
  readonly shopUrl: string;
  readonly baseUrl: string;
  readonly now: () => number;
  readonly newReference: () => string;
  readonly log: (line: string) => void;
}

/** How many of the newest transitions are looked through for the owner's list of orders. */
const MOST_TRANSITIONS = 1000;

/** The pages of the shop. The routes of the callback and the redirect are the adapters' and not among them. */
export function createRoutes(context: RouteContext): Route[] {
  const { client, orders, inbox, catalogue, refusals, log } = context;
  const productOf = (id: string): Product | undefined => catalogue.find((product) => product.id === id);
  const providersFor = ({ price }: Product): Promise<PaymentProvider[]> =>
    client.listPaymentProviders({ currency: price.currency, transaction_type: 'COLLECTION' });

  const withOrder =
    (answer: (order: Order) => Promise<Page>) =>
    async (request: PageRequest): Promise<Page> => {
      const order = await orders.find(pathPart(request, 'reference'));
      return order === undefined ? problemPage(404) : answer(order);
    };

  return [
    {
      method: 'get',
      path: '/',
      answer: async () => {
        const providers = await client
          .listPaymentProviders({ transaction_type: 'COLLECTION' })
          .catch((error: unknown) => reportAway(error, log));
        return cataloguePage(catalogue, providers);
      },
    },
    {
      method: 'get',
      path: '/checkout',
      answer: async (request) => {
        const product = productOf(queryOf(request).get('product') ?? '');
        if (product === undefined) return problemPage(404);
        return checkoutPage({
          product,
          providers: await providersFor(product),
          form: { quantity: '1', name: '', account: '', provider: '' },
          paymentOrigin: new URL(context.baseUrl).origin,
        });
      },
    },
    {
      method: 'post',
      path: '/checkout',
      answer: async ({ form }) => {
        const product = productOf(formField(form, 'product'));
        if (product === undefined) return problemPage(404);
        return placeOrder(product, readCheckoutForm(form), await providersFor(product), context);
      },
    },
    { method: 'get', path: '/orders/:reference', answer: withOrder(orderPage) },
    {
      method: 'get',
      path: '/orders/:reference/version',
      answer: withOrder(async (order) => plainText(orderVersion(order))),
    },
    {
      method: 'get',
      path: '/payments/unconfirmed',
      answer: () =>
        messagePage({
          status: 200,
          title: 'Thank you',
          text: 'We could not read what the payment page said. If you paid, your order becomes paid as soon as the payment service tells us; its page shows it.',
        }),
    },
    {
      method: 'get',
      path: '/owner/orders',
      answer: async () =>
        ownerOrdersPage({
          orders: await orders.list(),
          strayPayments: await orders.strayPayments(),
          transitions: await inbox.list({ limit: MOST_TRANSITIONS }),
          refusals,
        }),
    },
    {
      method: 'get',
      path: '/owner/wallets',
      answer: async () => walletsPage(await client.getWalletBalances()),
    },
  ];
}

/**
 * Takes the order down first, with what its payment must be, and starts the payment then: its callback may be faster
 * than the answer.
 */
async function placeOrder(
  product: Product,
  form: CheckoutForm,
  providers: readonly PaymentProvider[],
  context: RouteContext,
): Promise<Page> {
  const { orders, shopUrl, startCollection } = context;
  const again = { product, providers, form, paymentOrigin: new URL(context.baseUrl).origin };
  const checkout = checkOut(form, product, providers);
  if (!checkout.ok) return checkoutPage({ ...again, refusal: checkout.refusal, status: 422 });

  const { quantity, name, account, total, provider } = checkout;
  const reference = context.newReference();
  assertMerchantReference(reference);
  const order: Order = {
    reference,
    createdAt: context.now(),
    productId: product.id,
    item: product.name,
    quantity,
    total,
    account,
    customerName: name,
    providerName: provider.provider_name,
    start: { state: 'starting' },
  };
  await orders.add(order);
  const start = await startCollection({
    merchantReference: reference,
    total,
    providerCode: provider.provider_code,
    account,
    customerName: name,
    callbackUrl: `${shopUrl}/payments/callbacks`,
    redirectUrl: `${shopUrl}/orders/${reference}/redirect`,
  });
  await orders.start(order, start);
  if (start.state === 'started')
    return seeOther(start.paymentUrl, { 'set-cookie': orderCookie(reference, shopUrl) });
  context.log(`${reference}: the payment was not started: ${start.why}`);
  return start.state === 'refused'
    ? checkoutPage({
        ...again,
        trouble: `The payment service refused this payment: ${start.why}`,
        status: 422,
      })
    : checkoutPage({
        ...again,
        trouble: `The payment could not be started: the payment service is away (${start.why}). Nothing was paid. Try again in a few minutes.`,
        status: 503,
      });
}
