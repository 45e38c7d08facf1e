import { isFromOwnPage, senderOf } from '@payment-service/pages';
import type { MiddlewareHandler } from 'hono';
import { MAX_BODY_BYTES, startOf } from '../deliveries/delivery-attempt.ts';
import type { Service } from '../service/service.ts';
import { isAllowedHost } from '../state/hosts.ts';
import type { RequestRecord } from '../state/records.ts';
import { fail } from './envelope.ts';

/**
 * Responds only under the names of this computer and the listed ones (threat A27). A foreign web page can point its own name at
 * this address (DNS rebinding), and the browser would then let it read the sandbox as its own origin; the Host header still
 * contains the page's name.
 */
export const knownHost =
  (allowedHosts: readonly string[]): MiddlewareHandler =>
  async (c, next) => {
    const url = URL.parse(`http://${c.req.header('host') ?? new URL(c.req.url).host}`);
    if (url !== null && isAllowedHost(url, allowedHosts)) return next();
    const message =
      'The sandbox does not answer under this host name. Use 127.0.0.1 or localhost, or allow the name with --allow-host (allowedHosts).';
    return fail(c, 421, message);
  };

/** Refuses requests that a page of another site sends through the browser. Programs send no Origin and pass. */
export const sameOrigin: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
  if (isFromOwnPage(senderOf(c.req.raw), { orProgram: true })) return next();
  return fail(c, 403, 'The sandbox accepts forms from its own pages only.');
};

/** Delays responses, and returns errors, if the settings say so. */
export const apiFaults =
  (service: Service): MiddlewareHandler =>
  async (c, next) => {
    const { api_latency_ms, api_error } = service.settings();
    if (api_latency_ms > 0) await service.clock.sleep(api_latency_ms, service.changes.ended);
    return api_error === null
      ? next()
      : fail(c, api_error, 'The settings of the sandbox ask for this error.');
  };

/** 401 in the envelope for a missing or wrong key: our choice, the service's answer is not shown (protocol §7). */
export function requireKeys(
  { account }: Service,
  names: readonly ('public' | 'secret')[],
): MiddlewareHandler {
  return async (c, next) => {
    for (const name of names) {
      const given = c.req.header(`${name}-key`);
      if (given === undefined) return fail(c, 401, `The header ${name}-key is missing.`);
      if (given !== account[`${name}Key`]) {
        return fail(c, 401, `The header ${name}-key is not the ${name} key of this sandbox account.`);
      }
    }
    return next();
  };
}

const MAX_REQUESTS = 500;
const keys = ['public-key', 'secret-key'];

/** The last four characters identify a key. */
const masked = (value: string): string => `…${value.length > 8 ? value.slice(-4) : ''}`;

/** Keeps the merchant's calls with their responses. Reading the log does not count as a call. */
export const logRequests =
  (service: Service): MiddlewareHandler =>
  async (c, next) => {
    const url = new URL(c.req.url);
    if (url.pathname === '/sandbox/requests' || url.pathname.startsWith('/sandbox/pay/')) return next();
    const at = service.clock.now();
    const started = performance.now();
    await next();
    const ms = Math.round(performance.now() - started);
    // Read to its end: one half of a copied body cannot be cancelled alone. All of these responses are in memory.
    const answer = new TextEncoder().encode(await c.res.clone().text());
    const request: Omit<RequestRecord, 'id'> = {
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
    };
    // While the sandbox closes, the file may have been closed already.
    if (service.changes.ended.aborted) return;
    service.store.write((unit) => {
      const id = unit.nextId('request');
      unit.put('request', id, { id, ...request });
      for (const old of unit.list('request').slice(0, -MAX_REQUESTS)) unit.remove('request', old.id);
    });
  };
