import { createServer } from 'node:http';
import { bodyParser } from '@koa/bodyparser';
import { type Reader, testAdapter } from '@payment-service/adapter-conformance';
import Koa, { type Middleware } from 'koa';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

const readers: Readonly<Record<Reader, Middleware>> = {
  json: bodyParser(),
  text: bodyParser({ enableTypes: ['text'], extendTypes: { text: ['application/json'] } }),
  bytes: async (ctx, next) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of ctx.req) chunks.push(chunk);
    Object.assign(ctx.request, { body: Buffer.concat(chunks) });
    await next();
  },
  'nothing kept': async (ctx, next) => {
    await new Promise((resolve) => ctx.req.resume().once('end', resolve));
    await next();
  },
};

testAdapter('koa 3', {
  callbacks({ path, options, before, after, handle }) {
    const app = new Koa();
    app.silent = true; // Koa logs clients that hang up.
    const callbacks = paymentCallbacks(options);
    if (before) app.use(readers[before]);
    app.use((ctx, next) => (ctx.path === path ? callbacks(ctx, next) : next()));
    if (after) app.use(readers[after]);
    app.use(async (ctx) => {
      ctx.status = 202;
      ctx.body = await handle?.(ctx.state.paymentCallback);
    });
    return createServer(app.callback());
  },
  redirects({ path, options, handle }) {
    const app = new Koa();
    app.silent = true; // Koa logs clients that hang up.
    const redirects = paymentRedirects(options);
    app.use((ctx, next) => (ctx.path === path ? redirects(ctx, next) : next()));
    app.use(async (ctx) => {
      ctx.status = 202;
      ctx.body = await handle?.(ctx.state.paymentRedirect);
    });
    return createServer(app.callback());
  },
});
