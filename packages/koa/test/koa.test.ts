import type { IncomingMessage, ServerResponse } from 'node:http';
import { SIGNING_KEY, sendCallback, sendRedirect, serve } from '@payment-service/conformance';
import Koa3 from 'koa';
import Koa2 from 'koa2';
import { describe, expect, test, vi } from 'vitest';
import { type KoaContext, type KoaMiddleware, paymentCallbacks, paymentRedirects } from '../src/index.ts';

const signingKey = SIGNING_KEY;

/** The common part of both majors' types. */
interface App {
  use(middleware: KoaMiddleware): unknown;
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

const versions: readonly (readonly [name: string, Koa: new () => App])[] = [
  ['Koa 2', Koa2],
  ['Koa 3', Koa3],
];

describe.each(versions)('%s', (name, Koa) => {
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

  test('a prefix that middleware removes is not taken for a mount at the root, and the root of the app is', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const app = new Koa();
    app.use(async (ctx, next) => {
      Object.assign(ctx, { path: '/' }); // As koa-mount does.
      await next();
    });
    app.use(paymentCallbacks({ signingKey, onCallback: () => undefined }));
    const address = await serve(app.callback());
    expect((await fetch(`${address}/payments/callbacks`)).status).toBe(405);
    expect(warn).not.toHaveBeenCalled();
    await fetch(address);
    // Once in a process, which runs this for two versions.
    if (name === 'Koa 2') expect(warn.mock.calls.join()).toContain('mount it on a separate path');
    warn.mockRestore();
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
});
