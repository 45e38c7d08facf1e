import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import express5 from 'express';
import express4 from 'express4';
import { afterEach, describe, expect, test } from 'vitest';
import { type ExpressHandler, paymentCallbacks, paymentRedirects } from '../src/index.ts';

const signingKey = 'ExpressTestSigningKey1';
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

async function listen(app: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(app).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(url: string, key: string = signingKey): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    'hmac-signature': signCallback({ signingKey: key, data }),
  };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(data) });
}

/** What both majors' types have in common. */
interface App {
  (request: IncomingMessage, response: ServerResponse): void;
  use(path: string, handler: ExpressHandler): unknown;
  use(
    handler: (error: unknown, request: IncomingMessage, response: ServerResponse, next: unknown) => void,
  ): unknown;
}

const versions: readonly (readonly [name: string, express: () => App])[] = [
  ['Express 4', express4],
  ['Express 5', express5],
];

describe.each(versions)('%s', (_name, express) => {
  const orderStoreDown = new Error('The order store is down.');

  test('an error of the app’s own handler reaches the app’s error handler, and not onError', async () => {
    const errors: unknown[] = [];
    const app = express();
    app.use(
      '/callbacks',
      paymentCallbacks({ signingKey, onError: (error) => errors.push(['onError', error]) }),
    );
    app.use('/callbacks', (_request, _response, next) => next(orderStoreDown));
    app.use((error, _request, response, _next) => {
      errors.push(['app', error]);
      response.writeHead(503).end('later');
    });
    const response = await send(`${await listen(app)}/callbacks`);
    expect([response.status, await response.text()]).toEqual([503, 'later']);
    expect(errors).toEqual([['app', orderStoreDown]]);
  });

  test('an answer that other middleware has sent meanwhile is an error for the app, and does not crash it', async () => {
    let finished: Promise<unknown> = Promise.resolve();
    const app = express();
    app.use('/callbacks', (_request, response, next) => {
      finished = once(response, 'finish');
      setImmediate(() => response.writeHead(503).end('too late'));
      next();
    });
    app.use('/callbacks', paymentCallbacks({ signingKey, onCallback: () => finished }));
    const reached = new Promise((resolve) => {
      app.use((error, _request, _response, _next) => resolve(error));
    });
    const response = await send(`${await listen(app)}/callbacks`);
    expect([response.status, await response.text()]).toEqual([503, 'too late']);
    expect(await reached).toMatchObject({ code: 'ERR_HTTP_HEADERS_SENT' });
  });

  test('a mounted router does not change the query that is verified', async () => {
    const router = express();
    router.use('/return', paymentRedirects({ signingKey, onRedirect: () => '/thanks' }));
    const app = express();
    app.use('/payments', (request, _response, next) => {
      request.url = '/return'; // A rewrite that loses the query.
      next();
    });
    app.use('/payments', router);
    const response = await fetch(`${await listen(app)}/payments/return?${query}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/thanks']);
  });

  test('caching headers that the app’s own handler sets are kept', async () => {
    const app = express();
    app.use('/return', paymentRedirects({ signingKey }));
    app.use('/return', (_request, response) => response.setHeader('cache-control', 'private').end());
    const response = await fetch(`${await listen(app)}/return?${query}`);
    expect(response.headers.get('cache-control')).toBe('private');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('two accounts on two paths do not mix', async () => {
    const handled: string[] = [];
    const app = express();
    for (const account of ['one', 'two']) {
      const onCallback = (): unknown => handled.push(account);
      app.use(
        `/${account}`,
        paymentCallbacks({ signingKey: `KeyOfAccount-${account}`, account, onCallback }),
      );
    }
    const address = await listen(app);
    const statuses = [
      (await send(`${address}/one`, 'KeyOfAccount-one')).status,
      (await send(`${address}/two`, 'KeyOfAccount-one')).status,
      (await send(`${address}/two`, 'KeyOfAccount-two')).status,
    ];
    expect([statuses, handled]).toEqual([
      [200, 401, 200],
      ['one', 'two'],
    ]);
  });
});

test('a missing signing key is found when the route is mounted', () => {
  const missing = { name: 'ConfigurationError', option: 'signingKey' };
  expect(() => paymentCallbacks({ signingKey: undefined })).toThrow(expect.objectContaining(missing));
  expect(() => paymentRedirects({ signingKey: undefined })).toThrow(expect.objectContaining(missing));
});
