import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import Koa3 from 'koa';
import Koa2 from 'koa2';
import { expectTypeOf, test } from 'vitest';
import { paymentCallbacks } from '../src/index.ts';

// Compiled, never run: `tsc` is the test.
declare const fromEnvironment: string | undefined;
const signingKey = fromEnvironment;
declare function credit(callback: VerifiedCallback): void;

test('the middleware fits use under the types of Koa 2 and of Koa 3, and inside other middleware', () => {
  const callbacks = paymentCallbacks({ signingKey, onCallback: credit });
  expectTypeOf(callbacks).toExtend<Koa2.Middleware>();
  expectTypeOf(callbacks).toExtend<Koa3.Middleware>();
  new Koa2().use(callbacks).use((ctx, next) => (ctx.path === '/callbacks' ? callbacks(ctx, next) : next()));
  new Koa3().use(callbacks).use((ctx, next) => (ctx.path === '/callbacks' ? callbacks(ctx, next) : next()));
});

test('the middleware fits an app whose state has its own type, and leaves that type unchanged', () => {
  const callbacks = paymentCallbacks({ signingKey });
  new Koa3<{ shop: string }>().use(callbacks).use((ctx, next) => {
    expectTypeOf(ctx.state.shop).toEqualTypeOf<string>();
    return callbacks(ctx, next);
  });
});

test('a result that is passed through may be undefined, and a redirect is not a callback', () => {
  new Koa3().use(paymentCallbacks({ signingKey })).use((ctx) => {
    expectTypeOf(ctx.state.paymentCallback).toEqualTypeOf<VerifiedCallback | undefined>();
    expectTypeOf(ctx.state.paymentRedirect).toEqualTypeOf<VerifiedRedirect | undefined>();
    if (ctx.state.paymentCallback) credit(ctx.state.paymentCallback);
    // @ts-expect-error: a route may be mounted without paymentCallbacks()
    credit(ctx.state.paymentCallback);
    // @ts-expect-error: a verified redirect credits nothing
    if (ctx.state.paymentRedirect) credit(ctx.state.paymentRedirect);
  });
});
