import { ConfigurationError, InvalidStateError, PaymentServiceError } from '@payment-service/core';
import { messagePage, otherHostPage, problemPage } from './pages/message-page.ts';
import type { Page } from './pages/page.ts';
import { isFromAnotherSite, isOwnHost, type OwnAddresses, type SiteHeaders } from './same-site.ts';

/** A request in the terms that every framework shares. */
export interface PageRequest {
  /** The request target, unchanged, its query included. */
  readonly url: string;
  /** What the framework found at `:reference` in the path. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: SiteHeaders & { readonly cookie?: string | undefined };
  /** What the framework's body parser made of the form. */
  readonly form?: unknown;
}

export interface Route {
  readonly method: 'get' | 'post';
  /** In the notation that Express, Fastify and Koa's router share. */
  readonly path: string;
  readonly answer: (request: PageRequest) => Promise<Page>;
}

/**
 * Never rejects: answers every error with a page: one for a payment service that is unavailable, one for a fault of our own.
 * Refuses requests under a host name that is not the shop's, and forms that another site posts through a customer's browser.
 */
export function guarded(route: Route, own: OwnAddresses, log: (line: string) => void): Route {
  return {
    ...route,
    async answer(request) {
      try {
        if (!isOwnHost(request.headers.host, own)) return await otherHostPage(own.shopUrl);
        if (route.method === 'post' && isFromAnotherSite(request.headers)) return await problemPage(403);
        return await route.answer(request);
      } catch (error) {
        if (isOutage(error)) {
          reportOutage(error, log);
          return messagePage({
            status: 503,
            title: 'The payment service is unavailable',
            text: 'The shop cannot reach the payment service at the moment. Nothing was paid. Try again in a few minutes.',
          });
        }
        log(error instanceof Error ? (error.stack ?? error.message) : String(error));
        return problemPage(500);
      }
    },
  };
}

export function referenceIn({ params: { reference: value } }: PageRequest): string {
  return typeof value === 'string' ? value : '';
}

export function queryOf({ url }: PageRequest): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
}

export function reportOutage(error: unknown, log: (line: string) => void): undefined {
  if (!isOutage(error)) throw error;
  log(`The payment service is unavailable: ${error.message}`);
}

/** A wrong configuration, or a reference that is settled already, is our fault and no outage. */
function isOutage(error: unknown): error is PaymentServiceError {
  if (error instanceof ConfigurationError || error instanceof InvalidStateError) return false;
  return error instanceof PaymentServiceError;
}
