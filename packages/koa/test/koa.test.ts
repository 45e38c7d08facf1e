import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import Koa3 from 'koa';
import Koa2 from 'koa2';
import { afterEach, describe, expect, test } from 'vitest';
import { type KoaContext, type KoaMiddleware, paymentCallbacks, paymentRedirects } from '../src/index.ts';

const signingKey = 'KoaTestSigningKey1';
const data = sampleCallback();

const query = new URLSearchParams({
  event: data.event,
  merchant_reference: data.payload.merchant_reference,
  internal_reference: data.payload.internal_reference,
  transaction_type: data.payload.transaction_type,
  transaction_status: data.payload.transaction_status,
  hmac_signature: signCallback({ signingKey, data }),
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** What both majors' types have in common. */
interface App {
  silent: boolean;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  use(middleware: KoaMiddleware): unknown;
  callback(): (request: IncomingMessage, response: ServerResponse) => unknown;
}

async function listen(app: App): Promise<string> {
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(url: string, key: string = signingKey): Promise<Response> {
  const headers = { 'hmac-signature': signCallback({ signingKey: key, data }) };
  return fetch(url, { method: 'POST', headers, body: new Blob([JSON.stringify(data)]) });
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
    expect((await send(await listen(app))).status).toBe(503);
    expect(errors).toEqual([['app', orderStoreDown]]);
  });

  test('without error middleware, an error of the app’s own handler becomes the app’s error event', async () => {
    const errors: unknown[] = [];
    const app = new Koa();
    app.on('error', (error) => errors.push(error));
    app.use(paymentCallbacks({ signingKey }));
    app.use(failing);
    expect((await send(await listen(app))).status).toBe(500);
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
    const address = await listen(app);
    await send(address);
    await send(address, 'AnotherSigningKey');
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
    const response = await fetch(`${await listen(app)}/payments/return?${query}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/thanks']);
  });

  test('a route in handler mode does not call next', async () => {
    const reached: string[] = [];
    const app = new Koa();
    app.use(paymentCallbacks({ signingKey, onCallback: () => undefined }));
    app.use(async () => void reached.push('next'));
    expect((await send(await listen(app))).status).toBe(200);
    expect(reached).toEqual([]);
  });
});

test('a missing signing key is found when the middleware is made', () => {
  const missing = { name: 'ConfigurationError', option: 'signingKey' };
  expect(() => paymentCallbacks({ signingKey: undefined })).toThrow(expect.objectContaining(missing));
  expect(() => paymentRedirects({ signingKey: undefined })).toThrow(expect.objectContaining(missing));
});
