import {
  assertMerchantReference,
  type ClientWithSecretKey,
  ConfigurationError,
  type PaymentProvider,
  PaymentServiceError,
} from '@payment-service/core';
import type { Product } from './catalogue.ts';
import { type CheckoutForm, checkOut, formField, readCheckoutForm } from './checkout.ts';
import type { Order } from './order.ts';
import type { OrderStore } from './order-store.ts';
import { cataloguePage } from './pages/catalogue-page.ts';
import { checkoutPage } from './pages/checkout-page.ts';
import { messagePage, problemPage } from './pages/message-page.ts';
import { orderPage, orderVersion } from './pages/order-page.ts';
import { ownerOrdersPage } from './pages/owner-orders-page.ts';
import { type Page, plainText, seeOther } from './pages/page.ts';
import { walletsPage } from './pages/wallets-page.ts';
import { orderCookie } from './session.ts';
import type { StartCollection } from './simulated-collections.ts';

/** A request in the terms that every framework shares. */
export interface PageRequest {
  /** The request target as it came, its query included. */
  readonly url: string;
  /** What the framework found at `:reference` in the path. */
  readonly reference?: string | undefined;
  /** What the framework's body parser made of the form. */
  readonly form?: unknown;
}

export interface Route {
  readonly method: 'get' | 'post';
  /** In the notation that Express, Fastify and Koa's router share. */
  readonly path: string;
  /** Never rejects: whatever goes wrong is a page, too. */
  readonly answer: (request: PageRequest) => Promise<Page>;
}

export interface RouteContext {
  readonly client: ClientWithSecretKey;
  readonly startCollection: StartCollection;
  readonly orders: OrderStore;
  readonly catalogue: readonly Product[];
  readonly refusals: ReadonlyMap<string, number>;
  readonly shopUrl: string;
  readonly baseUrl: string;
  readonly now: () => number;
  readonly newReference: () => string;
  readonly log: (line: string) => void;
}

/** The pages of the shop. The routes of the callback and the redirect are the adapters' and not among them. */
export function createRoutes(context: RouteContext): Route[] {
  const { client, orders, catalogue, refusals } = context;
  const productOf = (id: string): Product | undefined => catalogue.find((product) => product.id === id);
  const providersFor = ({ price }: Product): Promise<PaymentProvider[]> =>
    client.listPaymentProviders({ currency: price.currency, transaction_type: 'COLLECTION' });

  const withOrder =
    (answer: (order: Order) => Promise<Page>) =>
    async ({ reference = '' }: PageRequest): Promise<Page> => {
      const order = await orders.find(reference);
      return order === undefined ? problemPage(404) : answer(order);
    };

  const routes: Route[] = [
    {
      method: 'get',
      path: '/',
      answer: async () => {
        const providers = await client
          .listPaymentProviders({ transaction_type: 'COLLECTION' })
          .catch((error: unknown) => reportAway(error, context));
        return cataloguePage(catalogue, providers);
      },
    },
    {
      method: 'get',
      path: '/checkout',
      answer: async ({ url }) => {
        const product = productOf(queryOf(url).get('product') ?? '');
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
      answer: async () => ownerOrdersPage(await orders.list(), await orders.strays(), refusals),
    },
    {
      method: 'get',
      path: '/owner/wallets',
      answer: async () => walletsPage(await client.getWalletBalances()),
    },
  ];
  return routes.map((route) => ({ ...route, answer: guarded(route, context) }));
}

/** Takes the order down first and starts the payment then: its callback may be faster than the answer. */
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
  await orders.add({
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
    concerns: [],
  });
  const start = await startCollection({
    merchantReference: reference,
    total,
    providerCode: provider.provider_code,
    account,
    customerName: name,
    callbackUrl: `${shopUrl}/payments/callbacks`,
    redirectUrl: `${shopUrl}/orders/${reference}/redirect`,
  });
  await orders.change(reference, (order) => ({ ...order, start }));
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

/** Makes a page of whatever goes wrong: one for a payment service that is away, one for a fault of our own. */
function guarded({ answer }: Route, context: RouteContext): Route['answer'] {
  return async (request) => {
    try {
      return await answer(request);
    } catch (error) {
      if (isAway(error)) {
        reportAway(error, context);
        return messagePage({
          status: 503,
          title: 'The payment service is away',
          text: 'The shop cannot reach the payment service at the moment. Nothing was paid. Try again in a few minutes.',
        });
      }
      context.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return problemPage(500);
    }
  };
}

/** A wrong configuration is our fault and no outage. */
function isAway(error: unknown): error is PaymentServiceError {
  return error instanceof PaymentServiceError && !(error instanceof ConfigurationError);
}

function reportAway(error: unknown, { log }: RouteContext): undefined {
  if (!isAway(error)) throw error;
  log(`The payment service is away: ${error.message}`);
}

function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
}
