import { ConfigurationError } from '@payment-service/core';
import { type Context, Hono } from 'hono';
import { answerOf, type Endpoint, faultOf, requestOf } from '../service/endpoints.ts';
import type { Service } from '../service/service.ts';
import { viewStarted, viewTransaction, viewTransfer } from '../service/views.ts';
import { fail, jsonBody, onlyMethods, succeed } from './envelope.ts';
import { apiFaults, logRequests, requireKeys } from './guards.ts';

/**
 * The merchant's own endpoints. Each request is a collection, payout or transfer of the simulation, with the same refusals.
 *
 * @param taken The first segments of the sandbox's own paths.
 * @throws {ConfigurationError} for a path that the sandbox itself has.
 */
export function createEndpointApi(
  service: Service,
  endpoints: readonly Endpoint[],
  taken: ReadonlySet<string | undefined>,
): Hono {
  const app = new Hono();
  const paths = new Map<string, string[]>();
  for (const [index, endpoint] of endpoints.entries()) {
    const path = endpoint.path.replace(/\{(\w+)\}/g, ':$1');
    if (taken.has(path.split('/')[1])) {
      const message = `endpoints[${index}].path: ${endpoint.path} is an address of the sandbox itself. Begin it with another name.`;
      throw new ConfigurationError('endpoints', message);
    }
    const keys = requireKeys(service, endpoint.secretKey ? ['public', 'secret'] : ['public']);
    paths.set(path, [...(paths.get(path) ?? []), endpoint.method]);
    app.on(endpoint.method, path, logRequests(service), apiFaults(service), keys, (c) =>
      answer(c, service, endpoint),
    );
  }
  for (const [path, methods] of paths) app.all(path, onlyMethods(...methods));
  return app;
}

async function answer(c: Context, service: Service, endpoint: Endpoint): Promise<Response> {
  const body = await jsonBody(c);
  const request = requestOf(endpoint, body, c.req.param());
  const fault = faultOf(endpoint, request);
  if (fault === 'refused') return fail(c, 422, 'The endpoint is configured to refuse this request.');
  const data = answerOf(endpoint, start(c, service, endpoint, request), body);
  if (fault === 'cut') return Response.error(); // Cut by the socket, and rejected by `sandbox.fetch`.
  if (fault === 'error')
    return fail(c, 503, 'The endpoint is configured to fail after it accepts this request.');
  if (fault !== undefined) await service.clock.sleep(fault, service.changes.ended);
  return succeed(c, data, endpoint.status);
}

function start(
  c: Context,
  service: Service,
  { starts }: Endpoint,
  request: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (starts === 'transfer') return { ...viewTransfer(service.transfer(request)) };
  if (starts === 'payout') return { ...viewTransaction(service.payout(request)) };
  const { origin } = new URL(c.req.url);
  const { transaction, ...links } = viewStarted(service, service.collect(request), origin);
  return { ...transaction, ...links };
}
