import { Hono } from 'hono';
import { createContractApi } from './http/contract-api.ts';
import { createEndpointApi } from './http/endpoint-api.ts';
import { fail, failWith } from './http/envelope.ts';
import { apiFaults, knownHost, logRequests, sameOrigin } from './http/guards.ts';
import { createSandboxApi } from './http/sandbox-api.ts';
import { createDashboard, sections } from './pages/dashboard.ts';
import { framed, nothing, wantsPage } from './pages/parts/page.ts';
import { createPaymentPage } from './pages/payment-page.ts';
import type { Endpoint } from './service/endpoints.ts';
import type { Service } from './service/service.ts';
import { SandboxRefusal } from './state/refusal.ts';

/** All routes: the contract under /data, the simulation under /sandbox, the dashboard at /, and the merchant's own endpoints. */
export function createApp(service: Service, endpoints: readonly Endpoint[] = []): Hono {
  const app = new Hono();
  app.use(knownHost(service.allowedHosts), sameOrigin);
  // An open page asks every second: nothing is rendered while nothing happens.
  app.use((c, next) =>
    wantsPage(c) && c.req.header('if-none-match') === `"${service.changes.version}"`
      ? Promise.resolve(c.body(null, 304))
      : next(),
  );
  app.use('/data/*', logRequests(service), apiFaults(service));
  app.use('/sandbox/*', logRequests(service));
  app.route('/data', createContractApi(service));
  app.route('/', createDashboard(service));
  app.route('/', createPaymentPage(service));
  app.route('/sandbox', createSandboxApi(service));
  const taken = new Set(app.routes.map(({ path }) => path.split('/')[1]));
  app.route('/', createEndpointApi(service, endpoints, taken));
  app.notFound((c) =>
    wantsPage(c)
      ? framed(c, service, { ...nothing(c), sections })
      : fail(c, 404, `There is nothing at ${c.req.path}.`),
  );
  app.onError((error, c) => {
    if (error instanceof SandboxRefusal) return failWith(c, error);
    service.onError(error);
    return fail(c, 500, 'The sandbox failed; its output says why.');
  });
  return app;
}
