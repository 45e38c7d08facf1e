import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import express5 from 'express';
import express4 from 'express4';
import { expectTypeOf, test } from 'vitest';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

// Compiled, never run: `tsc` is the test.
declare const fromEnvironment: string | undefined;
const signingKey = fromEnvironment;
declare function credit(callback: VerifiedCallback): void;

test('the handlers fit use, all, post and routers, under the types of Express 4 and of Express 5', () => {
  expectTypeOf(paymentCallbacks({ signingKey })).toExtend<express4.RequestHandler>();
  expectTypeOf(paymentCallbacks({ signingKey })).toExtend<express5.RequestHandler>();
  for (const app of [express4(), express4.Router()]) {
    app.use(paymentCallbacks({ signingKey }));
    app.use('/callbacks', paymentCallbacks({ signingKey, onCallback: credit }));
    app.all('/callbacks', paymentCallbacks({ signingKey, onCallback: credit }));
    app.get('/return/:shop', paymentRedirects({ signingKey }), (req) => {
      expectTypeOf(req.params.shop).toEqualTypeOf<string>();
      expectTypeOf(req.paymentRedirect).toEqualTypeOf<VerifiedRedirect | undefined>();
    });
  }
  for (const app of [express5(), express5.Router()]) {
    app.use(paymentCallbacks({ signingKey }));
    app.use('/callbacks', paymentCallbacks({ signingKey, onCallback: credit }));
    app.all('/callbacks', paymentCallbacks({ signingKey, onCallback: credit }));
    app.get('/return/:shop', paymentRedirects({ signingKey }), (req) => {
      expectTypeOf(req.params.shop).toEqualTypeOf<string>();
      expectTypeOf(req.paymentRedirect).toEqualTypeOf<VerifiedRedirect | undefined>();
    });
  }
});

test('a result that is passed through may be undefined, and a redirect is not a callback', () => {
  express5().post('/callbacks', paymentCallbacks({ signingKey }), (req) => {
    if (req.paymentCallback) credit(req.paymentCallback);
    // @ts-expect-error: a route may be mounted without paymentCallbacks()
    credit(req.paymentCallback);
    // @ts-expect-error: a verified redirect credits nothing
    if (req.paymentRedirect) credit(req.paymentRedirect);
  });
});
