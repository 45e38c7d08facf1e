import { ConfigurationError, InvalidStateError, PaymentServiceError } from '@payment-service/core';
import { errorPage, type Log, messagePage, otherHostPage, type Page, problemPage } from './page.ts';
import { isFromAnotherSite, isOwnHost, type OwnAddresses, type SiteHeaders } from './same-site.ts';

/** A request, independent of the framework. */
export interface PageRequest {
  /** The unchanged request target, including its query. */
  readonly url: string;
  /** The value of `:reference` in the path. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: SiteHeaders & { readonly cookie?: string | undefined };
  /** The form as parsed by the framework. */
  readonly form?: unknown;
}

type Answer = (request: PageRequest) => Promise<Page>;

export interface Route {
  readonly method: 'get' | 'post';
  /** In the notation that Express, Fastify and Koa's router share. */
  readonly path: string;
  readonly answer: Answer;
}

export const get = (path: string, answer: Answer): Route => ({ method: 'get', path, answer });
export const post = (path: string, answer: Answer): Route => ({ method: 'post', path, answer });

/**
 * Never rejects: answers every error with a page, one for an unavailable payment service and one for our own faults. Refuses
 * requests under a foreign host name, and forms that another site posts through a customer's browser.
 */
export function guarded(route: Route, own: OwnAddresses, log: Log): Route {
  return {
    ...route,
    async answer(request) {
      try {
        if (!isOwnHost(request.headers.host, own)) return await otherHostPage(own.shopUrl);
        if (route.method === 'post' && isFromAnotherSite(request.headers)) return await problemPage(403);
        return await route.answer(request);
      } catch (error) {
        if (!isOutage(error)) return errorPage(error, log);
        reportOutage(error, log);
        return messagePage({
          status: 503,
          title: 'The payment service is unavailable',
          text: 'The shop cannot reach the payment service at the moment. Nothing was paid. Try again in a few minutes.',
        });
      }
    },
  };
}

export function referenceIn({ params: { reference } }: PageRequest): string {
  return typeof reference === 'string' ? reference : '';
}

export function queryOf({ url }: PageRequest): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
}

/** One field of a parsed form. Anything but one string counts as empty. */
export function formField(form: unknown, name: string): string {
  if (typeof form !== 'object' || form === null || !Object.hasOwn(form, name)) return '';
  const value: unknown = Reflect.get(form, name);
  return typeof value === 'string' ? value.trim() : '';
}

export function reportOutage(error: unknown, log: Log): undefined {
  if (!isOutage(error)) throw error;
  log(`The payment service is unavailable: ${error.message}`);
}

/** A wrong configuration, or a reference that is already settled, is our fault and not an outage. */
function isOutage(error: unknown): error is PaymentServiceError {
  if (error instanceof ConfigurationError || error instanceof InvalidStateError) return false;
  return error instanceof PaymentServiceError;
}
