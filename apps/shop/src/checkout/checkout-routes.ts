import type { ClientWithSecretKey, PaymentProvider } from '@payment-service/core/client';
import type { Inbox } from '@payment-service/inbox';
import type { Product } from './catalogue.ts';
import {
  type CheckoutForm,
  EMPTY_FORM,
  formField,
  formOf,
  previewCheckout,
  readCheckoutForm,
} from './checkout.ts';
import type { Transaction } from './database/database.ts';
import { isHeld } from './held.ts';
import { ORDER_STATES, type Order, orderState } from './order.ts';
import { cataloguePage } from './pages/catalogue-page.ts';
import { checkoutPage } from './pages/checkout-page.ts';
import { messagePage, placedPage, problemPage } from './pages/message-page.ts';
import { orderPage } from './pages/order-page.ts';
import { ownerOrdersPage } from './pages/owner-orders-page.ts';
import type { Page } from './pages/page.ts';
import { paymentChoicePart } from './pages/payment-choice.ts';
import { walletsPage } from './pages/wallets-page.ts';
import { type OrderDesk, placeOrder } from './place-order.ts';
import { type PageRequest, queryOf, type Route, referenceIn, reportOutage } from './route.ts';
import { lastOrders, orderOfSession } from './session.ts';

export interface RouteContext extends OrderDesk {
  readonly client: ClientWithSecretKey;
  readonly inbox: Inbox<Transaction>;
  readonly catalogue: readonly Product[];
  /** By hint. */
  readonly refusals: ReadonlyMap<string, number>;
  /** See ShopConfig. */
  readonly confirmWithinMs: number;
  readonly contact: string;
}

const A_PAGE = 25;

/**
 * Whether a callback of the order's payment waits for a person. One with another outcome may still come, and then the
 * order is paid.
 */
async function isOrderHeld(inbox: Inbox<Transaction>, { reference, payment }: Order): Promise<boolean> {
  if (payment !== undefined) return false;
  const transitions = await inbox.list({ merchant_reference: reference });
  return transitions.some(
    (transition) => isHeld(transition) && transition.signed.transaction_type === 'COLLECTION',
  );
}

/** The pages of the shop. The routes of the callback and the redirect are the adapters' and not among them. */
export function createRoutes(context: RouteContext): Route[] {
  const { client, orders, inbox, catalogue, refusals, confirmWithinMs, contact, now, log } = context;
  const productOf = (id: string): Product | undefined => catalogue.find((product) => product.id === id);
  const providersFor = ({ price }: Product): Promise<PaymentProvider[]> =>
    client.listPaymentProviders({ currency: price.currency, transaction_type: 'COLLECTION' });

  const showCheckout = (
    product: Product,
    providers: readonly PaymentProvider[],
    form: CheckoutForm,
    instead?: string,
  ): Promise<Page> =>
    checkoutPage({
      product,
      providers,
      form,
      formId: context.newFormId(),
      instead,
      paymentOrigin: new URL(context.baseUrl).origin,
    });

  /** The page of what this browser ordered since the form was asked for: the customer went back to it. */
  const placedSince = async (
    { id }: Product,
    after: string | null,
    { headers }: PageRequest,
  ): Promise<Page | undefined> => {
    const last = lastOrders(headers.cookie).get(id);
    const order = last === undefined || last === after ? undefined : await orders.find(last);
    return order !== undefined && /paid|open/.test(orderState(order)) ? placedPage(order) : undefined;
  };

  const withOrder =
    (answer: (order: Order, request: PageRequest) => Promise<Page>) =>
    async (request: PageRequest): Promise<Page> => {
      const order = await orders.find(referenceIn(request));
      return order === undefined ? problemPage(404) : answer(order, request);
    };

  return [
    {
      method: 'get',
      path: '/',
      answer: async ({ headers }) => {
        const providers = await client
          .listPaymentProviders({ transaction_type: 'COLLECTION' })
          .catch((error: unknown) => reportOutage(error, log));
        return cataloguePage(catalogue, providers, lastOrders(headers.cookie));
      },
    },
    {
      method: 'get',
      path: '/checkout',
      answer: async (request) => {
        const query = queryOf(request);
        const product = productOf(query.get('product') ?? '');
        if (product === undefined) return problemPage(404);
        const placed = await placedSince(product, query.get('after'), request);
        if (placed !== undefined) return placed;
        return showCheckout(product, await providersFor(product), EMPTY_FORM);
      },
    },
    {
      method: 'post',
      path: '/checkout',
      answer: async ({ form }) => {
        const product = productOf(formField(form, 'product'));
        if (product === undefined) return problemPage(404);
        return placeOrder(product, form, providersFor, context);
      },
    },
    {
      method: 'post',
      path: '/checkout/providers',
      answer: async ({ form }) => {
        const product = productOf(formField(form, 'product'));
        if (product === undefined) return problemPage(404);
        const providers = await providersFor(product);
        return paymentChoicePart(
          previewCheckout(readCheckoutForm(form), product, providers, { isTyping: true }),
        );
      },
    },
    {
      method: 'get',
      path: '/orders/:reference',
      answer: withOrder(async (order) => {
        const waitsSince = order.hint?.at ?? order.createdAt;
        const isLate = now() - waitsSince >= confirmWithinMs;
        return orderPage(order, { isHeld: await isOrderHeld(inbox, order), isLate, contact });
      }),
    },
    {
      method: 'get',
      path: '/orders/:reference/again',
      answer: withOrder(async (order, request) => {
        const product = productOf(order.productId);
        if (product === undefined) return problemPage(404);
        if (order.payment !== undefined) return placedPage(order);
        const placed = await placedSince(product, order.reference, request);
        if (placed !== undefined) return placed;
        const providers = await providersFor(product);
        // Name and account are for the browser that ordered; others have only the order's address.
        const isCustomer = orderOfSession(request.headers.cookie) === order.reference;
        const form = isCustomer ? formOf(order, product, providers) : EMPTY_FORM;
        return showCheckout(product, providers, form, order.reference);
      }),
    },
    {
      method: 'get',
      path: '/payments/unconfirmed',
      answer: ({ headers }) =>
        messagePage({
          status: 200,
          title: 'Thank you',
          text: 'We could not read what the payment page said. If you paid, your order becomes paid as soon as the payment service tells us; its page shows it.',
          links: [
            ...[...lastOrders(headers.cookie).values()].map(
              (reference) => [`/orders/${reference}`, `Order ${reference}`] as const,
            ),
            ['/', 'Back to the shop'],
          ],
        }),
    },
    {
      method: 'get',
      path: '/owner/orders',
      answer: async (request) => {
        const query = queryOf(request);
        const state = ORDER_STATES.find((one) => one === query.get('state'));
        if (state === undefined && query.get('state')) return problemPage(404);
        // Pasted by a person: no reference of the shop begins or ends with a space.
        const reference = query.get('reference')?.trim() || undefined;
        const before = query.get('before') || undefined;
        // One more than is shown tells whether there are older ones.
        const found = await orders.list({ state, reference, before, limit: A_PAGE + 1 });
        const shown = found.slice(0, A_PAGE);
        const withTransitions = async (order: Order) =>
          [order, await inbox.list({ merchant_reference: order.reference })] as const;
        return ownerOrdersPage({
          orders: await Promise.all(shown.map(withTransitions)),
          state,
          reference,
          isLater: before !== undefined,
          older: found.length > A_PAGE ? shown.at(-1)?.reference : undefined,
          strayPayments: await orders.strayPayments(),
          stats: await inbox.stats(),
          refusals,
        });
      },
    },
    {
      method: 'get',
      path: '/owner/wallets',
      answer: async () => walletsPage(await client.getWalletBalances()),
    },
  ];
}
