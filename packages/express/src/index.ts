import type { IncomingMessage, ServerResponse } from 'node:http';
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

declare global {
  namespace Express {
    interface Request {
      /** Set by `paymentCallbacks()` without `onCallback`. */
      paymentCallback?: VerifiedCallback;
      /** Set by `paymentRedirects()` without `onRedirect`. */
      paymentRedirect?: VerifiedRedirect;
    }
  }
}

/**
 * A request handler for `app.use()`, `app.all()` and routers. Written out, since the `RequestHandler` types of Express 4 and
 * Express 5 are incompatible; this one is assignable to both.
 */
export type ExpressHandler = (
  req: IncomingMessage & Express.Request & { readonly originalUrl: string; readonly body?: unknown },
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Mounts verified callbacks (protocol §5.2 and §6) on Express 4 and 5. With `onCallback`, it sends the answer: 200 once the
 * handler has resolved. Without `onCallback`, it sets `req.paymentCallback` and calls `next()`. Refused requests go no further.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * app.use('/payments/callbacks', paymentCallbacks({ signingKey, onCallback: (callback) => save(callback) }));
 */
export function paymentCallbacks(options: CallbackOptions): ExpressHandler {
  const receiver = createCallbackReceiver(options);
  const handle = async (...[req, res, next]: Parameters<ExpressHandler>) => {
    try {
      const { reply, callback } = await answerCallback(incomingCallback(req, req.body), receiver);
      if (reply !== undefined) return send(res, reply);
      // `_body` tells a later body parser that there is nothing left to read: Express 4's would fail.
      Object.assign(req, { paymentCallback: callback, _body: true });
      next();
    } catch (error) {
      next(error);
    }
  };
  // Without its promise, which Express 4 ignores and Express 5 would chain another to.
  return (req, res, next) => void handle(req, res, next);
}

/**
 * Mounts verified redirects (protocol §5.2 and §6) on Express 4 and 5. With `onRedirect`, it sends the answer: 303 to the
 * address that the handler returns. Without `onRedirect`, it sets `req.paymentRedirect` and calls `next()`.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * app.get('/payments/return', paymentRedirects({ signingKey, onRedirect: () => '/thanks' }));
 */
export function paymentRedirects(options: RedirectOptions): ExpressHandler {
  const receiver = createRedirectReceiver(options);
  return (req, res, next) => {
    // `originalUrl`, undecoded: `req.query` depends on the version and the parser that the app has set.
    answerRedirect({ method: req.method ?? '', url: req.originalUrl }, receiver)
      .then((received) => {
        if (received.reply !== undefined) return send(res, received.reply);
        req.paymentRedirect = received.redirect;
        setHeaders(res, received.headers);
        next();
      })
      .catch(next);
  };
}

/** Not `res.send()`, which would add an ETag to core's answers. */
function send(res: ServerResponse, { status, headers, body }: Reply): void {
  res.statusCode = status;
  setHeaders(res, headers);
  res.end(body);
}

function setHeaders(res: ServerResponse, headers: Reply['headers']): void {
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? '');
}
