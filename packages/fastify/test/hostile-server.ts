import { type HostileRoutes, serveHostile } from '@payment-service/conformance/hostile-server';
import fastify, { type FastifyPluginCallback } from 'fastify';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

type Register = (plugin: FastifyPluginCallback, prefix: string) => unknown;

function mount({ callbacks, redirects }: HostileRoutes, register: Register): void {
  for (const { path, options } of callbacks) register(paymentCallbacks(options), path);
  register(paymentRedirects(redirects.options), redirects.path);
}

await serveHostile({
  'fastify 5': {
    async http1(routes) {
      const app = fastify({ return503OnClosing: false });
      mount(routes, (plugin, prefix) => app.register(plugin, { prefix }));
      await app.ready();
      return app.server;
    },
    async http2(routes) {
      const app = fastify({ http2: true, return503OnClosing: false });
      // An HTTP/2 server changes the types of an app; plugins do not use it.
      mount(routes, (plugin, prefix) =>
        app.register(async (scope) => scope.register(plugin as never, { prefix })),
      );
      await app.ready();
      return app.server;
    },
  },
});
