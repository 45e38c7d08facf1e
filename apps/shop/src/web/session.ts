import { cookie, cookieIn } from '@payment-service/pages';

/**
 * The cookies of a browser that ordered. `order` is sent only to the order's own pages. It distinguishes the browser that
 * ordered from one that was given a link: a redirect counts only in the first (threat A26). It is not a login: it gives no
 * other access. `last-<product>` names the last order of a product, so that the checkout shows a customer who goes back the
 * state of that order instead of a second form.
 */
export function orderCookies(reference: string, productId: string, shopUrl: string): readonly string[] {
  // Lax, not Strict: the customer returns from the payment page, which is another site.
  const isSecure = shopUrl.startsWith('https:');
  return [
    cookie('order', reference, { path: `/orders/${reference}`, isSecure }),
    cookie(`last-${productId}`, reference, { path: '/', isSecure }),
  ];
}

/** The last order of each product that this browser placed, by the product's id, from the header `cookie`. */
export function lastOrders(cookies: string | undefined): ReadonlyMap<string, string> {
  const found = (cookies ?? '').matchAll(/(?:^|;\s*)last-([\w-]+)=([\w-]+)/g);
  return new Map([...found].map(([, id = '', reference = '']) => [id, reference]));
}

/** The reference of the order that this browser placed, from the header `cookie`. */
export function orderOfSession(cookies: string | undefined): string | undefined {
  return cookieIn(cookies, 'order');
}
