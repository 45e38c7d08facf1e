import type { IncomingHttpHeaders } from 'node:http';
import { ConfigurationError, InvalidStateError, PaymentServiceError } from '@payment-service/core';
import { isFromOwnPage, readFields } from '@payment-service/pages';
import { errorPage, type Log, messagePage, type Page, problemPage } from './page.ts';

/** A request, independent of the framework. */
interface PageRequest {
  /** The unchanged request target, including its query. */
  readonly url: string;
  /** The value of `:reference` in the path. */
  readonly params: { readonly reference?: unknown };
  readonly headers: IncomingHttpHeaders;
  /** The form as text. */
  readonly form?: unknown;
}

export interface Route {
  readonly method: 'get' | 'post';
  /** In the notation that Express, Fastify and Koa's router share. */
  readonly path: string;
  /** The page for a request that its headers refuse. Mount it in front of the framework's body parser (threat A63). */
  readonly refuse: (headers: IncomingHttpHeaders) => Promise<Page> | undefined;
  readonly answer: (request: PageRequest) => Page | Promise<Page>;
}

const refuseNone: Route['refuse'] = () => undefined;

export const get = (path: string, answer: Route['answer']): Route => ({
  ...{ method: 'get', path, answer },
  refuse: refuseNone,
});
export const post = (path: string, answer: (form: URLSearchParams) => Promise<Page>): Route => ({
  ...{ method: 'post', path },
  refuse: refuseNone,
  answer({ form }) {
    const fields = readFields(typeof form === 'string' ? form : '');
    return fields === undefined ? problemPage(413) : answer(fields);
  },
});

/**
 * Never rejects: answers every error with a page, one for an unavailable payment service and one for our own faults. Refuses
 * requests under a foreign host name, and forms that another site posts through a customer's browser.
 */
export function guarded(route: Route, own: OwnAddresses, log: Log): Route {
  return {
    ...route,
    refuse(headers) {
      if (!isOwnHost(headers.host, own)) {
        const text = `The shop answers only under its own addresses, so nothing was shown or done. Its address is ${own.shopUrl}. If you run it under another address, set SHOP_URL to that.`;
        const back = [`${own.shopUrl}/`, 'Back to the shop'] as const;
        return messagePage(421, 'Not the address of this shop', text, [back]);
      }
      return route.method === 'post' && !isFromOwnPage(headers, { orProgram: true })
        ? problemPage(403)
        : undefined;
    },
    async answer(request) {
      try {
        return await route.answer(request);
      } catch (error) {
        if (!isOutage(error)) return errorPage(error, log);
        reportOutage(error, log);
        const text =
          'The shop cannot reach the payment service at the moment. Nothing was paid. Try again in a few minutes.';
        return messagePage(503, 'The payment service is unavailable', text);
      }
    },
  };
}

/** One field of a form. A repeated one counts as empty. */
export function formField(form: URLSearchParams, name: string): string {
  const [value = '', ...others] = form.getAll(name);
  return others.length === 0 ? value.trim() : '';
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

/** The shop's own addresses, such as http://127.0.0.1:3000. */
export interface OwnAddresses {
  /** Where it listens. */
  readonly origin: string;
  /** The address for the service and the customers. */
  readonly shopUrl: string;
}

/**
 * Whether the browser requested the shop under one of its own addresses. Otherwise any site could point its own name to the
 * address of this computer (DNS rebinding): the browser would treat the shop as part of that site, and let it read everything.
 */
export function isOwnHost(host: string | undefined, { origin, shopUrl }: OwnAddresses): boolean {
  const { port } = new URL(origin);
  const local = ['localhost', '127.0.0.1', '[::1]'].map((name) => `http://${name}:${port}`);
  const own = [origin, shopUrl, ...local].map((address) => new URL(address).host);
  // Browsers leave out the usual port; some proxies add it.
  return host !== undefined && own.includes(host.toLowerCase().replace(/:(80|443)$/, ''));
}
