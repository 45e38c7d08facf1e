import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import {
  answerCallback,
  answerRedirect,
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  warnOnce,
} from '@payment-service/core/internal';
import type { CallbackOptions, RedirectOptions, Reply } from '@payment-service/core/receive';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';

// One install is enough: every adapter exports all names of core.
export * from '@payment-service/core';
export type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `paymentCallbacks()` without `onCallback`. */
    paymentCallback?: VerifiedCallback;
    /** Set by `paymentRedirects()` without `onRedirect`. */
    paymentRedirect?: VerifiedRedirect;
  }
}

/**
 * Mounts verified callbacks (protocol §5.2 and §6) on Fastify 5. With `onCallback`, it sends the answer: 200 once the
 * handler has resolved. It is then a route for every method in a separate scope: register it with a `prefix`. Without
 * `onCallback`, it runs before every route of the scope that registers it and sets `request.paymentCallback`: give it a scope
 * with callback routes only. Refused requests go no further. Body parsers outside the scope are not affected.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * app.register(paymentCallbacks({ signingKey, onCallback: save }), { prefix: '/payments/callbacks' });
 *
 * @example
 * app.register(async (scope) => {
 *   scope.register(paymentCallbacks({ signingKey }));
 *   scope.post('/payments/callbacks', async (request) => save(request.paymentCallback));
 * });
 */
export function paymentCallbacks(options: CallbackOptions): FastifyPluginCallback {
  const receiver = createCallbackReceiver(options);
  return plugin(receiver.onCallback !== undefined, async (request, reply) => {
    const raw: FastifyRequest['raw'] & { readonly body?: unknown } = request.raw; // From Express-style middleware.
    const body = payloads.get(request) ?? request.body ?? raw.body;
    const received = await answerCallback(incomingCallback(raw, body), receiver);
    if (received.reply !== undefined) return send(reply, received.reply);
    request.paymentCallback = received.callback;
  });
}

/**
 * Mounts verified redirects (protocol §5.2 and §6) on Fastify 5, in the same two ways. With `onRedirect`, it sends the
 * answer: 303 to the address that the handler returns. Without `onRedirect`, it sets `request.paymentRedirect`.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * app.register(paymentRedirects({ signingKey, onRedirect: () => '/thanks' }), { prefix: '/payments/return' });
 */
export function paymentRedirects(options: RedirectOptions): FastifyPluginCallback {
  const receiver = createRedirectReceiver(options);
  return plugin(receiver.onRedirect !== undefined, async (request, reply) => {
    // `originalUrl`, undecoded: `request.query` has already decided about repeated names and bad escapes.
    const received = await answerRedirect({ method: request.method, url: request.originalUrl }, receiver);
    if (received.reply !== undefined) return send(reply, received.reply);
    request.paymentRedirect = received.redirect;
    reply.headers(received.headers);
  });
}

/** The streams that the app's `preParsing` hooks return instead of the request: decompressed, limited or recorded. */
const payloads = new WeakMap<FastifyRequest, unknown>();

type Receive = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

const REFUSED_BY_FASTIFY = ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'];

function plugin(isHandler: boolean, receive: Receive): FastifyPluginCallback {
  const register: FastifyPluginCallback = (scope, _options, done) => {
    if (refusesWhileClosing(scope)) warnOnce(REFUSES_WHILE_CLOSING);
    scope.removeAllContentTypeParsers();
    // Unread, since core reads it. In its own scope also JSON by name: for '*', Fastify parses the type of every request.
    const types = isHandler ? ['application/json', '*'] : '*';
    scope.addContentTypeParser(types, (request, payload, next) => {
      if (payload !== request.raw) payloads.set(request, payload);
      next(null);
    });
    if (isHandler) {
      scope.all('/', receive);
      // Core also answers requests that Fastify refuses before any handler; the app answers every other error.
      scope.setErrorHandler((error: { code?: string }, request, reply) => {
        if (!REFUSED_BY_FASTIFY.includes(error.code ?? '')) throw error;
        return receive(request, reply);
      });
    } else scope.addHook('preValidation', receive);
    done();
  };
  // Without a separate scope, the hook reaches only the routes of the scope that registers it.
  return isHandler ? register : Object.assign(register, { [Symbol.for('skip-override')]: true });
}

/** Fastify keeps the option only under a symbol. */
function refusesWhileClosing(scope: object | null): boolean {
  if (scope === null) return false;
  const key = Object.getOwnPropertySymbols(scope).find(
    ({ description }) => description === 'fastify.options',
  );
  if (key === undefined) return refusesWhileClosing(Object.getPrototypeOf(scope));
  return Object(Reflect.get(scope, key)).return503OnClosing !== false;
}
const REFUSES_WHILE_CLOSING =
  'Fastify answers genuine callbacks with 503 while it closes, and they may never be sent again. Pass ' +
  'return503OnClosing: false to fastify().';

function send(reply: FastifyReply, { status, headers, body }: Reply): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
