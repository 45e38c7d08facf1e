import type { MiddlewareHandler } from 'hono';
import { MAX_BODY_BYTES, startOf } from '../deliveries/delivery-attempt.ts';
import type { Service } from '../service/service.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The body of the request, as far as it was read. */
    sent?: string;
    /** Why the request was refused. */
    refusal?: string;
  }
}

const keys = ['public-key', 'secret-key'];

/** The last four characters identify a key. */
const masked = (value: string): string => `…${value.length > 8 ? value.slice(-4) : ''}`;

/** Keeps the merchant's calls with what they were answered. To read the log is not a call that the merchant makes. */
export const logRequests =
  (service: Service): MiddlewareHandler =>
  async (c, next) => {
    const url = new URL(c.req.url);
    if (url.pathname === '/sandbox/requests' || url.pathname.startsWith('/sandbox/pay/')) return next();
    const at = service.now();
    const started = performance.now();
    await next();
    const ms = Math.round(performance.now() - started);
    // Read to its end: one half of a copied body cannot be cancelled alone. All these answers are in memory.
    const answer = new TextEncoder().encode(await c.res.clone().text());
    service.logRequest({
      at,
      method: c.req.method,
      path: url.pathname + url.search,
      headers: [...c.req.raw.headers].map(([name, value]) => [
        name,
        keys.includes(name) ? masked(value) : value,
      ]),
      sent: (c.get('sent') ?? '').slice(0, MAX_BODY_BYTES),
      status: c.res.status,
      response_headers: [...c.res.headers],
      refusal: c.get('refusal') ?? null,
      ms,
      ...(await startOf([answer])),
      bytes: answer.byteLength,
    });
  };
