import type { RequestListener } from 'node:http';
import { paymentCallbacks, paymentRedirects } from '@payment-service/fastify';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Shop } from '../shop.ts';
import { errorPage, type Page, problemPage } from '../web/page.ts';

/** The shop on Fastify 5. */
export async function mountOnFastify(shop: Shop): Promise<RequestListener> {
  const app = fastify({
    // With its default, callbacks that arrive while it closes get 503.
    return503OnClosing: false,
    // For a path that cannot be decoded; Fastify calls this before any route.
    frameworkErrors: async (error, _request, reply) => {
      send(reply, await errorPage(error, shop.log));
    },
  });

  app.addHook('onRequest', (request, reply, done) => void shop.inboxConsole(request.raw, reply.raw, done));
  app.register(paymentCallbacks(shop.callbacks), { prefix: '/payments/callbacks' });
  app.register(async (scope) => {
    scope.register(paymentRedirects(shop.redirects));
    scope.get('/orders/:reference/redirect', async (request, reply) =>
      send(reply, await shop.customerIsBack(request.paymentRedirect, request.headers.cookie)),
    );
  });

  // Forms only; the pages accept no other body, and leave it unread as on Express and Koa.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const form = { parseAs: 'string', bodyLimit: 16 * 1024 } as const;
  app.addContentTypeParser('application/x-www-form-urlencoded', form, (_request, body, done) =>
    done(null, body),
  );
  for (const { method, path, refuse, answer } of shop.routes) {
    const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const refused = await refuse(request.headers);
      return refused && send(reply, refused);
    };
    app[method]<{ Params: Record<string, unknown> }>(path, { onRequest }, async (request, reply) => {
      const { url, params, headers, body: form } = request;
      return send(reply, await answer({ url, params, headers, form }));
    });
  }

  app.setNotFoundHandler(async (_request, reply) => send(reply, await problemPage(404)));
  app.setErrorHandler(async (error, _request, reply) => send(reply, await errorPage(error, shop.log)));
  await app.ready();
  return app.routing;
}

function send(reply: FastifyReply, { status, headers, body }: Page): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
