import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { getRequestListener } from '@hono/node-server';
import { type HostileRoutes, serveHostile } from '@payment-service/conformance/hostile-server';
import { Hono } from 'hono';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';
import { fetchServer } from './fetch-server.ts';

function hono({ callbacks, redirects }: HostileRoutes): ReturnType<typeof getRequestListener> {
  const app = new Hono();
  for (const { path, options } of callbacks) app.all(path, paymentCallbacks(options));
  app.all(redirects.path, paymentRedirects(redirects.options));
  return getRequestListener(app.fetch);
}

await serveHostile({
  fetch: {
    http1({ callbacks, redirects }) {
      const routes = new Map(callbacks.map(({ path, options }) => [path, paymentCallbacks(options)]));
      routes.set(redirects.path, paymentRedirects(redirects.options));
      return fetchServer(
        (request) =>
          routes.get(new URL(request.url).pathname)?.(request) ?? new Response(null, { status: 404 }),
      );
    },
  },
  hono: {
    http1: (routes) => createServer(hono(routes)),
    http2: (routes) => createHttp2Server(hono(routes)),
  },
});
