import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  type IncomingBody,
  type RedirectOptions,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';

export type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';

type Answer = Response | Promise<Response>;
type CallbackHandler = NonNullable<CallbackOptions['onCallback']>;
type RedirectHandler = NonNullable<RedirectOptions['onRedirect']>;

/**
 * Mounts verified callbacks (protocol §5.2 and §6) in every runtime of `Request → Response`. With `onCallback` it
 * answers: 200 after the handler has resolved. Without, `next` receives the callback and answers; it is not called for
 * refused requests.
 *
 * @throws {ConfigurationError} that names the option.
 *
 * @example
 * export const POST = paymentCallbacks({ signingKey, onCallback: (callback) => save(callback) });
 */
export function paymentCallbacks(
  options: CallbackOptions & { readonly onCallback: CallbackHandler },
): (request: Request) => Promise<Response>;
export function paymentCallbacks(
  options: CallbackOptions,
): (request: Request, next: (callback: VerifiedCallback) => Answer) => Promise<Response>;
export function paymentCallbacks(
  options: CallbackOptions,
): (request: Request, next: (callback: VerifiedCallback) => Answer) => Promise<Response> {
  const receiver = createCallbackReceiver(options);
  return async (request, next) => {
    const { method, headers } = request;
    const received = await receiveCallback({ method, headers, body: incomingBody(request) }, receiver);
    const { callback, body, ...init } = received;
    return callback === undefined || receiver.onCallback ? new Response(body, init) : next(callback);
  };
}

/**
 * Mounts verified redirects (protocol §5.2 and §6) in every runtime of `Request → Response`. With `onRedirect` it
 * answers: 303 to the address that it gives. Without, `next` receives the redirect and answers.
 *
 * @throws {ConfigurationError} that names the option.
 *
 * @example
 * export const GET = paymentRedirects({ signingKey, onRedirect: () => '/thanks' });
 */
export function paymentRedirects(
  options: RedirectOptions & { readonly onRedirect: RedirectHandler },
): (request: Request) => Promise<Response>;
export function paymentRedirects(
  options: RedirectOptions,
): (request: Request, next: (redirect: VerifiedRedirect) => Answer) => Promise<Response>;
export function paymentRedirects(
  options: RedirectOptions,
): (request: Request, next: (redirect: VerifiedRedirect) => Answer) => Promise<Response> {
  const receiver = createRedirectReceiver(options);
  return async (request, next) => {
    const { redirect, body, ...init } = await receiveRedirect(request, receiver);
    if (redirect === undefined || receiver.onRedirect) return new Response(body, init);
    const answer = await next(redirect);
    // A copy, since the headers of some responses cannot be changed. What the handler itself has set stays.
    const reply = new Response(answer.body, answer);
    for (const [name, value] of Object.entries(init.headers)) {
      if (!reply.headers.has(name)) reply.headers.set(name, value);
    }
    return reply;
  };
}

/** The stream is opened when core reads it, no earlier: a request that is refused unread stays the server's to drain. */
function incomingBody(request: Request): IncomingBody {
  if (request.bodyUsed) return { state: 'consumed' };
  return { state: 'unread', stream: { [Symbol.asyncIterator]: () => chunksOf(request.body) } };
}

/** By reader: not every runtime's stream is iterable, and an iterator waits for a stalled sender before it lets go. */
function chunksOf(body: ReadableStream<Uint8Array> | null): AsyncIterator<Uint8Array> {
  const reader = (body ?? new Blob([]).stream()).getReader();
  return {
    next: () => reader.read(),
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}
