import { isHeld } from '../books/order.ts';
import type { Context } from '../context.ts';
import { messagePage, problemPage } from '../web/page.ts';
import { get, type Route } from '../web/route.ts';
import { lastOrders } from '../web/session.ts';
import { orderPage } from './order-page.ts';

/** How long a confirmation takes at most: after that, the order's page offers other options. */
const CONFIRM_WITHIN_MS = 120_000;

/** The pages of an order for its customer. */
export function orderRoutes({ orders, inbox, now }: Context): Route[] {
  return [
    get('/orders/:reference', async ({ params }) => {
      const order = orders.find(String(params.reference));
      if (order === undefined) return problemPage(404);
      // Another callback may still arrive and pay the order.
      const transitions =
        order.payment === undefined ? await inbox.list({ merchant_reference: order.reference }) : [];
      return orderPage(order, {
        isHeld: transitions.some((one) => isHeld(one) && one.signed.transaction_type === 'COLLECTION'),
        isLate: now() - (order.hint?.at ?? order.createdAt) >= CONFIRM_WITHIN_MS,
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
