import type { RequestListener } from 'node:http';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import { paymentCallbacks, paymentRedirects } from '@payment-service/koa';
import Koa, { type Context, type Middleware } from 'koa';
import type { Shop } from '../shop.ts';
import { errorPage, type Page, problemPage } from '../web/page.ts';

/** The shop on Koa 3. */
export function mountOnKoa(shop: Shop): RequestListener {
  const app = new Koa();
  const router = new Router();

  router.all('/payments/callbacks', paymentCallbacks(shop.callbacks));
  router.get('/orders/:reference/redirect', paymentRedirects(shop.redirects), async (ctx) => {
    send(ctx, await shop.customerIsBack(ctx.state.paymentRedirect, ctx.get('cookie')));
  });
  const readForm = bodyParser({ enableTypes: ['form'], formLimit: '16kb' });
  for (const { method, path, refuse, answer } of shop.routes) {
    const guard: Middleware = async (ctx, next) => {
      const refused = await refuse(ctx.headers);
      return refused === undefined ? next() : send(ctx, refused);
    };
    router[method](path, guard, readForm, async (ctx) => {
      const { originalUrl: url, params, headers } = ctx;
      send(ctx, await answer({ url, params, headers, form: ctx.request.rawBody }));
    });
  }

  app.use((ctx, next) => shop.inboxConsole(ctx.req, ctx.res, next));
  app.use(async (ctx, next) => {
    try {
      await next();
      // Koa has no handler for requests without a route.
      if (ctx.status === 404 && ctx.body === undefined) send(ctx, await problemPage(404));
    } catch (error) {
      send(ctx, await errorPage(error, shop.log));
    }
  });
  app.use(router.routes());
  return app.callback();
}

function send(ctx: Pick<Context, 'status' | 'set' | 'body'>, { status, headers, body }: Page): void {
  ctx.status = status;
  ctx.set({ ...headers });
  ctx.body = body;
}
