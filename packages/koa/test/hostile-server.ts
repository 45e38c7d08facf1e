import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import {
  type HostileMount,
  type HostileRoutes,
  serveHostile,
} from '@payment-service/conformance/hostile-server';
import Koa3 from 'koa';
import Koa2 from 'koa2';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

const koa = (Koa: typeof Koa2 | typeof Koa3): HostileMount => {
  const answerOf = ({ callbacks, redirects }: HostileRoutes): ReturnType<Koa3['callback']> => {
    const app = new Koa();
    app.silent = true; // Koa logs clients that hang up.
    const routes = new Map(callbacks.map(({ path, options }) => [path, paymentCallbacks(options)]));
    routes.set(redirects.path, paymentRedirects(redirects.options));
    app.use(async (ctx, next) => (routes.get(ctx.path) ?? next)(ctx, next));
    return app.callback();
  };
  return {
    http1: (routes) => createServer(answerOf(routes)),
    // Koa accepts HTTP/2 requests, which its types do not say.
    http2: (routes) => {
      const answer = answerOf(routes);
      return createHttp2Server((...exchange) => void Reflect.apply(answer, undefined, exchange));
    },
  };
};

await serveHostile({ 'koa 2': koa(Koa2), 'koa 3': koa(Koa3) });
