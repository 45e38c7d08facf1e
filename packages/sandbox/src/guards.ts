import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { SandboxAccount } from './account.ts';
import { fail } from './envelope.ts';
import { isLoopback } from './loopback.ts';

/**
 * Answers requests for this computer only. A web page elsewhere can point its own name at 127.0.0.1 (DNS rebinding) and
 * would then read the sandbox as its own origin; its name is what the Host header still says.
 */
export const loopbackHost: MiddlewareHandler = async (c, next) => {
  const host = c.req.header('host') ?? new URL(c.req.url).host;
  const address = `http://${host}`;
  if (!URL.canParse(address) || !isLoopback(new URL(address).hostname)) {
    return fail(
      c,
      421,
      'The sandbox answers on this computer only: use 127.0.0.1 or localhost as its address.',
    );
  }
  return next();
};

/** Refuses what a page of another site sends with the browser's help. Programs send no Origin and pass. */
export const sameOrigin: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site') ?? 'none';
  const own =
    origin === undefined ? site === 'none' || site === 'same-origin' : origin === new URL(c.req.url).origin;
  if (!own) return fail(c, 403, 'The sandbox takes forms from its own pages only.');
  return next();
};

/** No request of the contract or of the simulation is anywhere near this long. */
export const shortBody: MiddlewareHandler = bodyLimit({
  maxSize: 64 * 1024,
  onError: (c) => fail(c, 413, 'The body is longer than 64 KiB.'),
});

/** 401 in the envelope for a missing or wrong key: our choice, the service's answer is not shown (protocol §7). */
export function requireKeys(
  account: SandboxAccount,
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
