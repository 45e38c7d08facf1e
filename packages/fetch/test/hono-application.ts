import { createServer, type RequestListener, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Application, Reader } from '@payment-service/conformance/application';
import { type Context, Hono } from 'hono';
import { cloneRawRequest } from 'hono/request';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

/** Hono keeps what its own readers have read, and can create a request from it for the next reader. */
const readers: Readonly<Record<Exclude<Reader, 'stream'>, (context: Context) => Promise<unknown>>> = {
  json: async (context) => context.req.header('content-type') === 'application/json' && context.req.json(),
  text: (context) => context.req.text(),
  bytes: (context) => context.req.arrayBuffer(),
  'nothing kept': (context) => context.req.raw.arrayBuffer(),
};

/** @param from what a route passes to the adapter: its context, or the context's request. */
export const hono = (
  from: (context: Context) => Context | Request,
  listen: (listener: RequestListener) => Server = createServer,
): Application => ({
  callbacks({ path, options: { onCallback, ...options }, before, handle }) {
    const callbacks = onCallback ? paymentCallbacks({ ...options, onCallback }) : undefined;
    const passedThrough = paymentCallbacks(options);
    const app = new Hono()
      .onError(() => new Response(null, { status: 500 }))
      .all(path, async (context) => {
        if (before === 'stream') {
          const body = context.req.raw.body?.pipeThrough<Uint8Array>(new DecompressionStream('gzip')) ?? null;
          context.req.raw = new Request(context.req.raw, { body, duplex: 'half' });
        }
        const isRead =
          before !== undefined && before !== 'stream' && context.req.header('content-encoding') === undefined;
        if (isRead) await readers[before](context); // None of them decompresses.
        const isKept = isRead && before !== 'nothing kept';
        const request = isKept ? await cloneRawRequest(context.req) : from(context);
        if (callbacks) return callbacks(request);
        return passedThrough(request, async (callback) =>
          context.text((await handle?.(callback)) ?? '', 202),
        );
      });
    return listen(getRequestListener(app.fetch));
  },
  redirects({ path, options: { onRedirect, ...options }, handle }) {
    const redirects = onRedirect ? paymentRedirects({ ...options, onRedirect }) : undefined;
    const passedThrough = paymentRedirects(options);
    const app = new Hono().all(path, (context) => {
      if (redirects) return redirects(from(context));
      return passedThrough(from(context), async (redirect) =>
        context.text((await handle?.(redirect)) ?? '', 202),
      );
    });
    return listen(getRequestListener(app.fetch));
  },
});
