import { isTransactionCompleted, type VerifiedRedirect } from '@payment-service/core';
import { createClient } from '@payment-service/core/client';
import type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';
import type { NodeListener } from '@payment-service/inbox/console';
import type { Books } from './books/books.ts';
import { catalogue } from './checkout/catalogue.ts';
import { checkoutRoutes } from './checkout/checkout-routes.ts';
import type { ShopConfig } from './config.ts';
import type { Context } from './context.ts';
import { orderRoutes } from './orders/order-routes.ts';
import { ownerConsole, ownerRoutes } from './owner/owner-routes.ts';
import { assetRoutes } from './web/assets.ts';
import { errorText, type Log, type Page, seeOther } from './web/page.ts';
import { guarded, type OwnAddresses, type Route } from './web/route.ts';
import { orderOfSession } from './web/session.ts';

/** The whole shop except the framework. */
export interface Shop {
  /** Each with its own check in front of a body parser. */
  readonly routes: readonly Route[];
  /** The console of the inbox, below /owner/inbox. Mount it first, since it reads its forms itself. */
  readonly inboxConsole: NodeListener;
  /** For the adapter's `paymentCallbacks()`, on POST /payments/callbacks. */
  readonly callbacks: CallbackOptions;
  /** For the adapter's `paymentRedirects()`, on GET /orders/:reference/redirect. It passes the redirect to … */
  readonly redirects: RedirectOptions;
  /** … this, with the header `cookie`: the customer's browser has returned from the payment page. */
  readonly customerIsBack: (redirect: VerifiedRedirect | undefined, cookies?: string) => Promise<Page>;
  /** For errors that a framework meets outside the routes. */
  readonly log: Log;
}

/** What a test or another merchant may want to replace. */
export type ShopParts = Partial<Pick<Context, 'catalogue' | 'now' | 'log'>>;

/**
 * How long the list of payment options is cached: long enough for a burst of customers, but short enough that a provider that was
 * switched off soon disappears. While the service is unreachable, the list is served for longer.
 */
const PROVIDERS_CACHE = { ttlMs: 1000, staleIfErrorMs: 10_000 };
const UNCONFIRMED = '/payments/unconfirmed';

/** @throws {ConfigurationError} if a key or an address is wrong. */
export function createShop(
  config: ShopConfig & OwnAddresses,
  { inbox, orders }: Books,
  { now = Date.now, log = console.log, ...parts }: ShopParts = {},
): Shop {
  const { baseUrl, publicKey, secretKey, signingKey, origin, shopUrl } = config;
  const receiver: Omit<CallbackOptions, 'onCallback'> = {
    signingKey,
    publicKey,
    secretKey,
    onRefused: ({ code, hint }) => log(`Refused (${code}): ${hint}`),
    onError: (error) => log(errorText(error)),
  };
  const client = createClient({ baseUrl, publicKey, secretKey, timeoutMs: 5000, cache: PROVIDERS_CACHE });
  const context: Context = {
    ...{ client, baseUrl, origin, shopUrl, inbox, orders, now, log, catalogue },
    ...parts,
  };
  const routes = [...checkoutRoutes(context), ...orderRoutes(context), ...ownerRoutes(context)];

  return {
    routes: [...routes.map((route) => guarded(route, config, log)), ...assetRoutes()],
    log,
    inboxConsole: ownerConsole(context),
    // 200 once it is on disk. The worker of the inbox decides afterwards what it means for an order.
    callbacks: { ...receiver, ...inbox.route },
    redirects: { ...receiver, refusedLocation: UNCONFIRMED },
    async customerIsBack(redirect, cookies) {
      const reference = redirect?.signed.merchant_reference;
      // Genuine, but of another session: it may be another customer's, so it changes nothing here.
      if (redirect === undefined || reference === undefined || reference !== orderOfSession(cookies)) {
        return seeOther(UNCONFIRMED);
      }
      const { transaction_status: status } = redirect.signed;
      const hint = { status, completed: isTransactionCompleted(redirect), at: now() };
      return seeOther((await orders.hint(reference, hint)) ? `/orders/${reference}` : UNCONFIRMED);
    },
  };
}
