import type { IncomingMessage, ServerResponse } from 'node:http';
import { SIGNING_KEY, sendCallback, sendRedirect, serve } from '@payment-service/conformance';
import Koa3 from 'koa';
import Koa2 from 'koa2';
import { describe, expect, test } from 'vitest';
import { type KoaContext, type KoaMiddleware, paymentCallbacks, paymentRedirects } from '../src/index.ts';

const signingKey = SIGNING_KEY;

/** The common part of both majors' types. */
interface App {
  silent: boolean;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  use(middleware: KoaMiddleware): unknown;
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

const versions: readonly (readonly [name: string, Koa: new () => App])[] = [
  ['Koa 2', Koa2],
  ['Koa 3', Koa3],
];

describe.each(versions)('%s', (_name, Koa) => {
  const orderStoreDown = new Error('The order store is down.');
  const failing = async (): Promise<void> => Promise.reject(orderStoreDown);

  test('an error of the app’s own handler reaches earlier middleware, and not onError', async () => {
    const errors: unknown[] = [];
    const app = new Koa();
    app.use(async (ctx, next) => {
      try {
        await next();
      } catch (error) {
        errors.push(['app', error]);
        ctx.status = 503;
      }
    });
    app.use(paymentCallbacks({ signingKey, onError: (error) => errors.push(['onError', error]) }));
    app.use(failing);
    expect((await sendCallback(await serve(app.callback()))).status).toBe(503);
    expect(errors).toEqual([['app', orderStoreDown]]);
  });

  test('without error middleware, an error of the app’s own handler becomes the app’s error event', async () => {
    const errors: unknown[] = [];
    const app = new Koa();
    app.on('error', (error) => errors.push(error));
    app.use(paymentCallbacks({ signingKey }));
    app.use(failing);
    expect((await sendCallback(await serve(app.callback()))).status).toBe(500);
    expect(errors).toEqual([orderStoreDown]);
  });

  test('earlier middleware sees the answer after next()', async () => {
    const seen: unknown[] = [];
    const app = new Koa();
    app.use(async (ctx: KoaContext, next) => {
      await next();
      seen.push([ctx.status, ctx.body]);
    });
    app.use(paymentCallbacks({ signingKey, onCallback: () => undefined }));
    const address = await serve(app.callback());
    await sendCallback(address);
    await sendCallback(address, 'AnotherSigningKey');
    expect(seen).toEqual([
      [200, '{"status":"accepted"}'],
      [401, '{"error":"unauthorized"}'],
    ]);
  });

  test('a rewrite does not change the query that is verified', async () => {
    const app = new Koa();
    app.use(async (ctx, next) => {
      Object.assign(ctx, { url: '/return' });
      await next();
    });
    app.use(paymentRedirects({ signingKey, onRedirect: () => '/thanks' }));
    const response = await sendRedirect(`${await serve(app.callback())}/payments/return`);
    expect([response.status, response.headers.get('location')]).toEqual([303, '/thanks']);
  });

  test('a route in handler mode does not call next', async () => {
    const reached: string[] = [];
    const app = new Koa();
    app.use(paymentCallbacks({ signingKey, onCallback: () => undefined }));
    app.use(async () => void reached.push('next'));
    expect((await sendCallback(await serve(app.callback()))).status).toBe(200);
    expect(reached).toEqual([]);
  });
});
