import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import fastify, { type FastifyPluginAsync } from 'fastify';
import { expectTypeOf, test } from 'vitest';
import { paymentCallbacks } from '../src/index.ts';

// Compiled, never run: `tsc` is the test.
declare const fromEnvironment: string | undefined;
const signingKey = fromEnvironment;
declare function credit(callback: VerifiedCallback): void;

test('the plugins fit apps on HTTP, HTTPS and HTTP/2, with and without a prefix', () => {
  fastify().register(paymentCallbacks({ signingKey, onCallback: credit }), { prefix: '/callbacks' });
  fastify({ https: {} }).register(paymentCallbacks({ signingKey, onCallback: credit }), {
    prefix: '/callbacks',
  });
  fastify({ http2: true }).register(paymentCallbacks({ signingKey, onCallback: credit }));
  // @ts-expect-error: register() takes no options of the adapter
  fastify().register(paymentCallbacks({ signingKey }), { signingKey });
});

test('a result that is passed through may be undefined, and a redirect is not a callback', () => {
  const routes: FastifyPluginAsync = async (scope) => {
    scope.register(paymentCallbacks({ signingKey }));
    scope.post('/callbacks', async (request) => {
      expectTypeOf(request.paymentCallback).toEqualTypeOf<VerifiedCallback | undefined>();
      expectTypeOf(request.paymentRedirect).toEqualTypeOf<VerifiedRedirect | undefined>();
      if (request.paymentCallback) credit(request.paymentCallback);
      // @ts-expect-error: a route may be mounted without paymentCallbacks()
      credit(request.paymentCallback);
      // @ts-expect-error: a verified redirect credits nothing
      if (request.paymentRedirect) credit(request.paymentRedirect);
    });
  };
  fastify().register(routes);
});
