import type { IncomingMessage } from 'node:http';
import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import {
  answerCallback,
  answerRedirect,
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
} from '@payment-service/core/internal';
import type { CallbackOptions, RedirectOptions, Reply } from '@payment-service/core/receive';

// One install is enough: every adapter exports all names of core.
export * from '@payment-service/core';
export type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';

declare module 'koa' {
  interface DefaultState {
    /** Set by `paymentCallbacks()` without `onCallback`. */
    paymentCallback?: VerifiedCallback;
    /** Set by `paymentRedirects()` without `onRedirect`. */
    paymentRedirect?: VerifiedRedirect;
  }
}

/**
 * A middleware for `app.use()` and routers. Written out, since the `Middleware` types of Koa 2 and Koa 3 are incompatible with
 * each other and with an app whose state has its own type; this one is compatible with all of them.
 */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>;

/** The part of Koa's context that the adapter needs. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly request: object;
  readonly method: string;
  readonly originalUrl: string;
  readonly state: object;
  status: number;
  body: unknown;
  set(headers: Reply['headers']): void;
}

/**
 * Mounts verified callbacks (protocol §5.2 and §6) on Koa 2 and 3. With `onCallback`, it sends the answer: 200 once the
 * handler has resolved. Without `onCallback`, it sets `ctx.state.paymentCallback` and awaits `next()`. Refused requests go no
 * further.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * router.all('/payments/callbacks', paymentCallbacks({ signingKey, onCallback: (callback) => save(callback) }));
 */
export function paymentCallbacks(options: CallbackOptions): KoaMiddleware {
  const receiver = createCallbackReceiver(options);
  return async (ctx, next) => {
    const { body: parsedBody }: { readonly body?: unknown } = ctx.request; // Added by parsers; missing in Koa's types.
    // koa-mount removes its prefix from the request's url.
    const incoming = { ...incomingCallback(ctx.req, parsedBody), url: ctx.originalUrl };
    const { reply, callback } = await answerCallback(incoming, receiver);
    if (reply !== undefined) return send(ctx, reply);
    Object.assign(ctx.state, { paymentCallback: callback });
    Object.assign(ctx, { disableBodyParser: true }); // Tells a later body parser that there is nothing left to read.
    await next();
  };
}

/**
 * Mounts verified redirects (protocol §5.2 and §6) on Koa 2 and 3. With `onRedirect`, it sends the answer: 303 to the
 * address that the handler returns. Without `onRedirect`, it sets `ctx.state.paymentRedirect` and awaits `next()`.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * router.get('/payments/return', paymentRedirects({ signingKey, onRedirect: () => '/thanks' }));
 */
export function paymentRedirects(options: RedirectOptions): KoaMiddleware {
  const receiver = createRedirectReceiver(options);
  return async (ctx, next) => {
    // `originalUrl`, undecoded: `ctx.query` has already decided about repeated names and bad escapes.
    const received = await answerRedirect({ method: ctx.method, url: ctx.originalUrl }, receiver);
    if (received.reply !== undefined) return send(ctx, received.reply);
    Object.assign(ctx.state, { paymentRedirect: received.redirect });
    ctx.set(received.headers);
    await next();
  };
}

function send(ctx: KoaContext, { status, headers, body }: Reply): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body;
}
