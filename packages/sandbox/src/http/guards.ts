import type { MiddlewareHandler } from 'hono';
import type { Service } from '../service/service.ts';
import { isAllowedHost } from '../state/hosts.ts';
import { fail } from './envelope.ts';

/**
 * Answers only under the names of this computer and the listed ones (threat A27). A web page elsewhere can point its own
 * name at this address (DNS rebinding), and the browser would then let it read the sandbox as its own origin; the Host
 * header still holds the page's name.
 */
export const knownHost =
  (allowedHosts: readonly string[]): MiddlewareHandler =>
  async (c, next) => {
    const url = URL.parse(`http://${c.req.header('host') ?? new URL(c.req.url).host}`);
    if (url !== null && isAllowedHost(url, allowedHosts)) return next();
    return fail(
      c,
      421,
      'The sandbox does not answer under this host name. Use 127.0.0.1 or localhost, or start it with --allow-host (allowedHosts) and the name.',
    );
  };

/** Refuses what a page of another site sends with the browser's help. Programs send no Origin and pass. */
export const sameOrigin: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site') ?? 'none';
  const own =
    origin === undefined ? site === 'none' || site === 'same-origin' : origin === new URL(c.req.url).origin;
  if (!own) return fail(c, 403, 'The sandbox accepts forms from its own pages only.');
  return next();
};

/** Answers late, and with an error, where the settings ask for it. */
export const apiFaults =
  (service: Service): MiddlewareHandler =>
  async (c, next) => {
    const { api_latency_ms, api_error } = service.settings();
    if (api_latency_ms > 0) await service.sleep(api_latency_ms);
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
        return fail(c, 401, `The header ${name}-key does not hold the ${name} key of this sandbox account.`);
      }
    }
    return next();
  };
}
