import type { Inbox } from '@payment-service/inbox';
import type { Transaction } from '../books/database.ts';
import { isHeld, type Order } from '../books/order.ts';
import type { OrderStore } from '../books/order-store.ts';
import { messagePage, problemPage } from '../web/page.ts';
import { get, type Route, referenceIn } from '../web/route.ts';
import { lastOrders } from '../web/session.ts';
import { orderPage } from './order-page.ts';

export interface OrderContext {
  readonly orders: OrderStore;
  readonly inbox: Inbox<Transaction>;
  /** See ShopConfig. */
  readonly confirmWithinMs: number;
  readonly contact: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The pages of an order for its customer. */
export function orderRoutes({ orders, inbox, confirmWithinMs, contact, now }: OrderContext): Route[] {
  return [
    get('/orders/:reference', async (request) => {
      const order = await orders.find(referenceIn(request));
      if (order === undefined) return problemPage(404);
      const waitsSince = order.hint?.at ?? order.createdAt;
      const isLate = now() - waitsSince >= confirmWithinMs;
      return orderPage(order, { isHeld: await isOrderHeld(inbox, order), isLate, contact });
    }),
    get('/payments/unconfirmed', ({ headers }) =>
      messagePage({
        status: 200,
        title: 'Thank you',
        text: 'We could not read the result from the payment page. If you paid, your order becomes paid as soon as the payment service confirms it; its page shows it.',
        links: [
          ...[...lastOrders(headers.cookie).values()].map(
            (reference) => [`/orders/${reference}`, `Order ${reference}`] as const,
          ),
          ['/', 'Back to the shop'],
        ],
      }),
    ),
  ];
}

/**
 * Whether a callback of the order's payment waits for an operator. One with another outcome may still arrive and pay the order.
 */
async function isOrderHeld(inbox: Inbox<Transaction>, { reference, payment }: Order): Promise<boolean> {
  if (payment !== undefined) return false;
  const transitions = await inbox.list({ merchant_reference: reference });
  return transitions.some(
    (transition) => isHeld(transition) && transition.signed.transaction_type === 'COLLECTION',
  );
}
