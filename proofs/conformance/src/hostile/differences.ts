import type { Verdict } from './hostile-request.ts';

const KOA_2 = 'Koa 2 never answers HEAD over HTTP/2, without the adapter either.';
const FASTIFY = 'Fastify answers most errors of the parser with 400.';
const TRACE = 'The Request of the platform refuses TRACE, so that the server of the test answers 500.';
const HONO = '@hono/node-server refuses a request without a host.';

/**
 * Requests that a framework or a bridge decides before the adapter: the verdict and the reason, by protocol, server and
 * request. An unlisted difference fails.
 */
export const DIFFERENCES: Readonly<Record<string, readonly [verdict: Verdict, reason: string]>> = {
  'HTTP/2, koa 2, a method: HEAD': ['no answer', KOA_2],
  'HTTP/2, koa 2, the method of a redirect: HEAD': ['no answer', KOA_2],
  'HTTP/1.1, fastify 5, chunks: an extension of 20,000 characters': ['400', FASTIFY],
  'HTTP/1.1, fetch, a method: TRACE': ['500', TRACE],
  'HTTP/1.1, fetch, a method: TRACE with a body': ['500', TRACE],
  'HTTP/1.1, hono, header lines: an empty host': ['400', HONO],
  'HTTP/1.1, hono, a connection: HTTP/1.0 without a host': ['400', HONO],
  'HTTP/1.1, hono, a connection: no version': ['400', HONO],
};
