import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SIGNING_KEY, sendCallback, sendRedirect, serve } from '@payment-service/conformance';
import express5 from 'express';
import express4 from 'express4';
import { describe, expect, test, vi } from 'vitest';
import { type ExpressHandler, paymentCallbacks, paymentRedirects } from '../src/index.ts';

const signingKey = SIGNING_KEY;

/** The common part of both majors' types. */
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

describe.each(versions)('%s', (name, express) => {
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
    const response = await sendCallback(`${await serve(app)}/callbacks`);
    expect([response.status, await response.text()]).toEqual([503, 'too late']);
    expect(await reached).toMatchObject({ code: 'ERR_HTTP_HEADERS_SENT' });
  });

  test.each([
    ['a proxy', (request: IncomingMessage) => new Proxy(request, {})],
    ['an object that inherits', (request: IncomingMessage) => Object.create(request) as IncomingMessage],
  ])('a request that middleware has wrapped in %s is read', async (_wrapper, wrap) => {
    const handle = paymentCallbacks({ signingKey, onCallback: () => undefined });
    const app = express();
    app.use('/callbacks', (request, response, next) =>
      handle(wrap(request as never) as never, response, next),
    );
    expect((await sendCallback(`${await serve(app)}/callbacks`)).status).toBe(200);
  });

  test('a mounted route is not taken for one at the root, and app.use(paymentCallbacks()) is', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const app = express();
    const route = paymentCallbacks({ signingKey, onCallback: () => undefined });
    app.use('/payments/callbacks', route);
    app.use('/', route);
    const address = await serve(app);
    expect((await fetch(`${address}/payments/callbacks`)).status).toBe(405);
    expect(warn).not.toHaveBeenCalled();
    await fetch(address);
    // Once in a process, which runs this for two versions.
    if (name === 'Express 4') expect(warn.mock.calls.join()).toContain('mount it on a separate path');
    warn.mockRestore();
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
    const response = await sendRedirect(`${await serve(app)}/payments/return`);
    expect([response.status, response.headers.get('location')]).toEqual([303, '/thanks']);
  });

  test('caching headers that the app’s own handler sets are kept', async () => {
    const app = express();
    app.use('/return', paymentRedirects({ signingKey }));
    app.use('/return', (_request, response) => response.setHeader('cache-control', 'private').end());
    const response = await sendRedirect(`${await serve(app)}/return`);
    expect(response.headers.get('cache-control')).toBe('private');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });
});
