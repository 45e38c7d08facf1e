import type { IncomingMessage } from 'node:http';
import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  type ReceivedCallback,
  type ReceivedRedirect,
  type RedirectOptions,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';

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
 * A middleware for `app.use()` and a router. Written out, since the `Middleware` of Koa 2's types does not fit that of
 * Koa 3's, and neither fits an app whose state has a type of its own; this one fits all of them.
 */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>;

/** What is needed of Koa's context. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly request: object;
  readonly method: string;
  readonly originalUrl: string;
  readonly state: object;
  status: number;
  body: unknown;
  set(headers: Record<string, string>): void;
}

/**
 * Mounts verified callbacks (protocol §5.2 and §6) on Koa 2 and 3. With `onCallback` it answers: 200 after the
 * handler has resolved. Without, it sets `ctx.state.paymentCallback` and awaits `next()`. Refused requests go no
 * further.
 *
 * @throws {ConfigurationError} that names the option.
 *
 * @example
 * router.all('/payments/callbacks', paymentCallbacks({ signingKey, onCallback: (callback) => save(callback) }));
 */
export function paymentCallbacks(options: CallbackOptions): KoaMiddleware {
  const receiver = createCallbackReceiver(options);
  return async (ctx, next) => {
    const parsedBody: unknown = Reflect.get(ctx.request, 'body'); // Koa's types know no body: parsers bring it.
    const received = await receiveCallback(incomingCallback(ctx.req, parsedBody), receiver);
    if (received.callback === undefined || receiver.onCallback !== undefined) return send(ctx, received);
    Object.assign(ctx.state, { paymentCallback: received.callback });
    Object.assign(ctx, { disableBodyParser: true }); // For a parser mounted after: there is nothing left to read.
    await next();
  };
}

/**
 * Mounts verified redirects (protocol §5.2 and §6) on Koa 2 and 3. With `onRedirect` it answers: 303 to the address
 * that it gives. Without, it sets `ctx.state.paymentRedirect` and awaits `next()`.
 *
 * @throws {ConfigurationError} that names the option.
 *
 * @example
 * router.get('/payments/return', paymentRedirects({ signingKey, onRedirect: () => '/thanks' }));
 */
export function paymentRedirects(options: RedirectOptions): KoaMiddleware {
  const receiver = createRedirectReceiver(options);
  return async (ctx, next) => {
    // The address as it came: `ctx.query` has already decided about repeated names and bad escapes.
    const received = await receiveRedirect({ method: ctx.method, url: ctx.originalUrl }, receiver);
    if (received.redirect === undefined || receiver.onRedirect !== undefined) return send(ctx, received);
    Object.assign(ctx.state, { paymentRedirect: received.redirect });
    ctx.set({ ...received.headers });
    await next();
  };
}

function send(ctx: KoaContext, { status, headers, body }: ReceivedCallback | ReceivedRedirect): void {
  ctx.status = status;
  ctx.set({ ...headers });
  ctx.body = body;
}
