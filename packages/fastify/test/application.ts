import compress from '@fastify/compress';
import { type Application, READER_LIMIT_BYTES, type Reader } from '@payment-service/conformance/application';
import fastify, { type FastifyInstance, type FastifyPluginCallback, type FastifyRequest } from 'fastify';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

/** Fastify parses inside a route's own scope; the earlier parser is the parent app's. */
const readers: Readonly<Record<Reader, (app: FastifyInstance) => void>> = {
  json: (app) =>
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
      done(null, JSON.parse(String(text))),
    ),
  text: (app) =>
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
      done(null, text),
    ),
  bytes: (app) =>
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes)),
  'nothing kept': (app) =>
    app.addHook('onRequest', (request, _reply, done) => request.raw.resume().once('end', () => done())),
  stream: (app) => app.register(compress),
};

const apps = new WeakMap<object, FastifyInstance>();

/** As the guide has it: otherwise Fastify answers 503 while it closes. */
const open = (options: object): FastifyInstance => {
  const app = fastify({ return503OnClosing: false, bodyLimit: READER_LIMIT_BYTES, ...options });
  apps.set(app.server, app);
  return app;
};

/** @param server Fastify's options for its server. */
export const applicationOn = (server: { readonly http2?: true }): Application => ({
  close: async (server) => apps.get(server)?.close(),
  async callbacks({ path, options, before, after, handle }) {
    const app = open(server);
    if (before) readers[before](app);
    mount(app, path, paymentCallbacks(options), handle && ((request) => handle(request.paymentCallback)));
    if (after && after !== before) readers[after](app);
    await app.ready();
    return app.server;
  },
  async redirects({ path, options, handle }) {
    const app = open(server);
    mount(app, path, paymentRedirects(options), handle && ((request) => handle(request.paymentRedirect)));
    await app.ready();
    return app.server;
  },
});

function mount(
  app: FastifyInstance,
  path: string,
  plugin: FastifyPluginCallback,
  handle: ((request: FastifyRequest) => Promise<string>) | undefined,
): void {
  if (!handle) app.register(plugin, { prefix: path });
  else
    app.register(async (scope) => {
      scope.register(plugin);
      scope.all(path, async (request, reply) => reply.code(202).send(await handle(request)));
    });
}
