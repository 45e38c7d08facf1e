import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createGunzip } from 'node:zlib';
import { bodyParser } from '@koa/bodyparser';
import {
  type Application,
  READER_LIMIT_BYTES,
  type Reader,
  testAdapter,
  testBridges,
  testStreams,
} from '@payment-service/adapter-conformance';
import Koa, { type Middleware } from 'koa';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

const readers: Readonly<Record<Reader, Middleware>> = {
  json: bodyParser({ jsonLimit: READER_LIMIT_BYTES }),
  text: bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    textLimit: READER_LIMIT_BYTES,
  }),
  bytes: async (ctx, next) => {
    const chunks: Uint8Array[] = [];
    const isZipped = ctx.get('content-encoding') === 'gzip';
    for await (const chunk of isZipped ? ctx.req.pipe(createGunzip()) : ctx.req) chunks.push(chunk);
    Object.assign(ctx.request, { body: Buffer.concat(chunks) });
    await next();
  },
  'nothing kept': async (ctx, next) => {
    await new Promise((resolve) => ctx.req.resume().once('end', resolve));
    await next();
  },
};

const application: Application = {
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
};

testAdapter('koa 3', application);
testBridges('koa 3', application);
testStreams('koa 3', (_path, options) => {
  const app = new Koa();
  app.silent = true;
  const answer = app.use(paymentCallbacks(options)).callback();
  // Koa takes the requests of HTTP/2, which its types do not say.
  return createHttp2Server((request, response) => void Reflect.apply(answer, app, [request, response]));
});
