import { createServer, type RequestListener, type Server } from 'node:http';
import { createGunzip } from 'node:zlib';
import { bodyParser as bodyParser3 } from '@koa/bodyparser';
import { type Application, READER_LIMIT_BYTES, type Reader } from '@payment-service/conformance/application';
import Koa3 from 'koa';
import bodyParser2 from 'koa-bodyparser';
import Koa2, { type Middleware } from 'koa2';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

type Parser = (options: Parameters<typeof bodyParser2>[0]) => Middleware;

/** How a server is created: over HTTP/1.1, unless it is another version's. */
type Listen = (listener: RequestListener) => Server;

/** Both majors, whose types differ. */
function applicationOf(Koa: typeof Koa2, bodyParser: Parser, listen: Listen): Application {
  const readers: Readonly<Record<Reader, Middleware>> = {
    json: bodyParser({ jsonLimit: String(READER_LIMIT_BYTES) }),
    text: bodyParser({
      enableTypes: ['text'],
      extendTypes: { text: ['application/json'] },
      textLimit: String(READER_LIMIT_BYTES),
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
    stream: async (ctx, next) => {
      const { method, headers, socket } = ctx.req;
      ctx.req = Object.assign(ctx.req.pipe(createGunzip()), { method, headers, socket }) as never;
      await next();
    },
  };
  const served = (...middleware: readonly Middleware[]): Server => {
    const app = new Koa();
    app.silent = true; // Koa logs clients that hang up.
    for (const one of middleware) app.use(one);
    return listen(app.callback());
  };
  const at =
    (path: string, middleware: Middleware): Middleware =>
    (ctx, next) =>
      ctx.path === path ? middleware(ctx, next) : next();
  const answered =
    (answer: (state: Koa2.DefaultState) => Promise<string> | undefined): Middleware =>
    async (ctx) => {
      ctx.status = 202;
      ctx.body = await answer(ctx.state);
    };
  return {
    callbacks({ path, options, before, after, handle }) {
      return served(
        ...(before ? [readers[before]] : []),
        at(path, paymentCallbacks(options)),
        ...(after ? [readers[after]] : []),
        answered((state) => handle?.(state['paymentCallback'])),
      );
    },
    redirects({ path, options, handle }) {
      return served(
        at(path, paymentRedirects(options)),
        answered((state) => handle?.(state['paymentRedirect'])),
      );
    },
  };
}

export const application2 = (listen: Listen = createServer): Application =>
  applicationOf(Koa2, bodyParser2, listen);
export const application3 = (listen: Listen = createServer): Application =>
  applicationOf(Koa3 as never, bodyParser3 as never, listen);
