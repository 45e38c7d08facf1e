import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import {
  answerCallback,
  answerRedirect,
  createCallbackReceiver,
  createRedirectReceiver,
  incomingWebCallback,
  requestOf,
} from '@payment-service/core/internal';
import type { CallbackOptions, HonoContext, RedirectOptions } from '@payment-service/core/receive';

// One install is enough: every adapter exports all names of core.
export * from '@payment-service/core';
export type { CallbackOptions, HonoContext, RedirectOptions } from '@payment-service/core/receive';

type Answer = Response | Promise<Response>;
type CallbackHandler = NonNullable<CallbackOptions['onCallback']>;
type RedirectHandler = NonNullable<RedirectOptions['onRedirect']>;

/**
 * Mounts verified callbacks (protocol §5.2 and §6) in every `Request → Response` runtime, and in Hono. With `onCallback`, it
 * sends the answer: 200 once the handler has resolved. Without `onCallback`, `next` receives the callback and returns the
 * answer. Refused requests go no further.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * export const POST = paymentCallbacks({ signingKey, onCallback: (callback) => save(callback) });
 *
 * @example
 * app.all('/payments/callbacks', paymentCallbacks({ signingKey, onCallback: (callback) => save(callback) })); // Hono
 */
export function paymentCallbacks(
  options: CallbackOptions & { readonly onCallback: CallbackHandler },
): (request: Request | HonoContext) => Promise<Response>;
export function paymentCallbacks(
  options: CallbackOptions,
): (request: Request | HonoContext, next: (callback: VerifiedCallback) => Answer) => Promise<Response>;
export function paymentCallbacks(
  options: CallbackOptions,
): (request: Request | HonoContext, next: (callback: VerifiedCallback) => Answer) => Promise<Response> {
  const receiver = createCallbackReceiver(options);
  return async (from, next) => {
    const { reply, callback } = await answerCallback(incomingWebCallback(from), receiver);
    return reply === undefined ? next(callback) : new Response(reply.body, reply);
  };
}

/**
 * Mounts verified redirects (protocol §5.2 and §6) in every `Request → Response` runtime, and in Hono. With `onRedirect`, it
 * sends the answer: 303 to the address that the handler returns. Without `onRedirect`, `next` receives the redirect and returns
 * the answer.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * export const GET = paymentRedirects({ signingKey, onRedirect: () => '/thanks' });
 */
export function paymentRedirects(
  options: RedirectOptions & { readonly onRedirect: RedirectHandler },
): (request: Request | HonoContext) => Promise<Response>;
export function paymentRedirects(
  options: RedirectOptions,
): (request: Request | HonoContext, next: (redirect: VerifiedRedirect) => Answer) => Promise<Response>;
export function paymentRedirects(
  options: RedirectOptions,
): (request: Request | HonoContext, next: (redirect: VerifiedRedirect) => Answer) => Promise<Response> {
  const receiver = createRedirectReceiver(options);
  return async (from, next) => {
    const received = await answerRedirect(requestOf(from), receiver);
    if (received.reply !== undefined) return new Response(received.reply.body, received.reply);
    const answer = await next(received.redirect);
    // A copy, since the headers of some responses cannot be changed. Headers that the handler set itself stay.
    const response = new Response(answer.body, answer);
    for (const [name, value] of Object.entries(received.headers)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  };
}
