import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import type { CallbackOptions } from '@payment-service/core/receive';
import { Hono } from 'hono';
import { expectTypeOf, test } from 'vitest';
import { type HonoContext, paymentCallbacks, paymentRedirects } from '../src/index.ts';

// Compiled, never run: `tsc` is the test.
declare const fromEnvironment: string | undefined;
const signingKey = fromEnvironment;
declare const request: Request;
declare function credit(callback: VerifiedCallback): void;

test('with a handler, the function takes a request, or the context of Hono, and nothing else', () => {
  expectTypeOf(paymentCallbacks({ signingKey, onCallback: credit })).toEqualTypeOf<
    (request: Request | HonoContext) => Promise<Response>
  >();
  expectTypeOf(paymentRedirects({ signingKey, onRedirect: () => '/thanks' })).toEqualTypeOf<
    (request: Request | HonoContext) => Promise<Response>
  >();
});

test('without a handler, next cannot be left out', () => {
  const callbacks = paymentCallbacks({ signingKey });
  void callbacks(request, (callback) => {
    expectTypeOf(callback).toEqualTypeOf<VerifiedCallback>();
    credit(callback);
    return new Response();
  });
  // @ts-expect-error: no code would receive the callback
  void callbacks(request);
  const redirects = paymentRedirects({ signingKey });
  void redirects(request, async (redirect) => {
    expectTypeOf(redirect).toEqualTypeOf<VerifiedRedirect>();
    // @ts-expect-error: a verified redirect credits nothing
    credit(redirect);
    return new Response();
  });
  // @ts-expect-error: no code would receive the redirect
  void redirects(request);
});

test('an optional handler still requires next', () => {
  const options: CallbackOptions = { signingKey };
  void paymentCallbacks(options)(request, () => new Response());
  // @ts-expect-error: the handler may be missing
  void paymentCallbacks(options)(request);
});

test('the function mounts in Hono, and as a route of Next.js', () => {
  const callbacks = paymentCallbacks({ signingKey, onCallback: credit });
  new Hono().all('/callbacks', (context) => callbacks(context.req.raw));
  new Hono()
    .all('/callbacks', callbacks)
    .post('/callbacks', callbacks)
    .on(['PUT', 'PATCH'], '/callbacks', callbacks);
  new Hono<{ Bindings: { readonly SECRET: string } }>().use('/callbacks', callbacks);
  new Hono().get('/return', paymentRedirects({ signingKey, onRedirect: () => '/thanks' }));
  // @ts-expect-error: no code would receive the callback
  new Hono().all('/callbacks', paymentCallbacks({ signingKey }));
  // @ts-expect-error: no code would receive the redirect
  new Hono().get('/return', paymentRedirects({ signingKey }));
  type NextRoute = (request: Request, context: { params: Promise<object> }) => Response | Promise<Response>;
  expectTypeOf(callbacks).toExtend<NextRoute>();
});
