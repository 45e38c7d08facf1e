import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { SIGNING_KEY, sendCallback, sendRedirect } from '@payment-service/conformance';
import type { VerifiedCallback } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

const signingKey = SIGNING_KEY;
const OPEN = { return503OnClosing: false };
const data = sampleCallback();
const handler = { signingKey, onCallback: () => undefined };

async function listen(app: Pick<FastifyInstance, 'listen' | 'close'>): Promise<string> {
  onTestFinished(() => app.close());
  return app.listen({ port: 0, host: '127.0.0.1' });
}

function post(url: string, body: string, type = 'application/json'): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
}

const merchantReference = (callback: VerifiedCallback | undefined): string | undefined =>
  callback?.signed.merchant_reference;

describe.each(['handler', 'pass-through'] as const)('%s mode, encapsulated', (mode) => {
  /** A parent app with one JSON route before, one after, and one in a separate scope. */
  async function parentApp(): Promise<string> {
    const app = fastify(OPEN);
    app.post('/before', async (request) => ({
      body: request.body,
      callback: request.paymentCallback ?? null,
    }));
    if (mode === 'handler') {
      app.register(paymentCallbacks(handler), { prefix: '/callbacks' });
    } else {
      app.register(async (scope) => {
        scope.register(paymentCallbacks({ signingKey }));
        scope.post('/callbacks', async (request) => merchantReference(request.paymentCallback));
      });
    }
    app.register(async (scope) => {
      scope.post('/beside', async (request) => ({ body: request.body }));
    });
    app.post('/after', async (request) => ({ body: request.body }));
    return listen(app);
  }

  test('the parent app keeps its own JSON parser and its errors, and its routes are not verified', async () => {
    const address = await parentApp();
    expect((await sendCallback(`${address}/callbacks`)).status).toBe(200);
    for (const path of ['/before', '/after', '/beside']) {
      const response = await post(`${address}${path}`, '{"order":1}');
      expect([path, await response.json()]).toMatchObject([path, { body: { order: 1 } }]);
    }
    expect((await post(`${address}/after`, 'not JSON')).status).toBe(400);
    expect((await post(`${address}/after`, '<order/>', 'text/xml')).status).toBe(415);
    const response = await sendCallback(`${address}/before`);
    expect(await response.json()).toEqual({ body: data, callback: null });
  });
});

describe('handler mode', () => {
  test('the route answers with and without a slash at the end of its prefix, and nothing below', async () => {
    const app = fastify(OPEN);
    app.register(paymentCallbacks(handler), { prefix: '/callbacks' });
    const address = await listen(app);
    const statuses = await Promise.all(
      ['/callbacks', '/callbacks/', '/callbacks/below'].map(
        async (path) => (await sendCallback(address + path)).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 404]);
    // Fastify refuses it before any handler, since it has no content type.
    const query = await fetch(`${address}/callbacks`, { method: 'QUERY' });
    expect([query.status, await query.json()]).toEqual([405, { error: 'method_not_allowed' }]);
  });

  test('hooks of the parent app run first, and the parent app handles their errors', async () => {
    const handled: unknown[] = [];
    const app = fastify(OPEN);
    app.setErrorHandler((error, _request, reply) => reply.code(403).send(`parent: ${error}`));
    app.addHook('preHandler', async (request) => {
      if (request.headers['x-forwarded-for'] !== undefined) throw new Error('not from there');
    });
    const onCallback = (callback: VerifiedCallback): unknown => handled.push(merchantReference(callback));
    app.register(paymentCallbacks({ signingKey, onCallback }), { prefix: '/callbacks' });
    const address = await listen(app);
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const stopped = await sendCallback(`${address}/callbacks`, signingKey, headers);
    expect([stopped.status, await stopped.text()]).toEqual([403, 'parent: Error: not from there']);
    expect((await sendCallback(`${address}/callbacks`)).status).toBe(200);
    expect(handled).toEqual(['ORD-1001']);
  });

  test('the stream that a preParsing hook returns is read in place of the request', async () => {
    const app = fastify(OPEN);
    app.addHook('preParsing', async (request, _reply, payload) => {
      if (request.headers['x-encoding'] !== 'base64') return payload;
      return Readable.from([Buffer.from(await text(payload), 'base64')]);
    });
    app.register(paymentCallbacks(handler), { prefix: '/callbacks' });
    const url = `${await listen(app)}/callbacks`;
    const headers = { 'hmac-signature': signCallback({ signingKey, data }), 'x-encoding': 'base64' };
    const body = Buffer.from(JSON.stringify(data)).toString('base64');
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
    expect((await sendCallback(url)).status).toBe(200);
  });

  test('the body limit of the parent app does not apply', async () => {
    const app = fastify({ ...OPEN, bodyLimit: 10 });
    app.register(paymentCallbacks(handler), { prefix: '/callbacks' });
    expect((await sendCallback(`${await listen(app)}/callbacks`)).status).toBe(200);
  });

  test('a rewrite does not change the query that is verified', async () => {
    const app = fastify({ ...OPEN, rewriteUrl: () => '/return' });
    app.register(paymentRedirects({ signingKey, onRedirect: () => '/thanks' }), { prefix: '/return' });
    const response = await sendRedirect(`${await listen(app)}/payments/return`);
    expect([response.status, response.headers.get('location')]).toEqual([303, '/thanks']);
  });
});

describe('pass-through mode', () => {
  test('a body that Express-style middleware has parsed verifies', async () => {
    const app = fastify(OPEN);
    app.addHook('onRequest', async (request) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request.raw) chunks.push(chunk);
      Object.assign(request.raw, { body: JSON.parse(Buffer.concat(chunks).toString()) });
    });
    app.register(async (scope) => {
      scope.register(paymentCallbacks({ signingKey }));
      scope.post('/callbacks', async (request) => merchantReference(request.paymentCallback));
    });
    expect(await (await sendCallback(`${await listen(app)}/callbacks`)).text()).toBe('ORD-1001');
  });

  test('a parser that the scope itself adds still runs', async () => {
    const app = fastify(OPEN);
    app.register(async (scope) => {
      await scope.register(paymentCallbacks({ signingKey }));
      scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
        done(null, JSON.parse(String(text))),
      );
      scope.post('/callbacks', async (request) => [merchantReference(request.paymentCallback), request.body]);
    });
    expect(await (await sendCallback(`${await listen(app)}/callbacks`)).json()).toEqual(['ORD-1001', data]);
  });

  test('the plugin runs before every route of its scope and of the scopes below', async () => {
    const app = fastify(OPEN);
    app.register(async (scope) => {
      scope.post('/declared-before', async (request) => merchantReference(request.paymentCallback));
      scope.register(paymentCallbacks({ signingKey }));
      scope.register(async (below) => {
        below.post('/below', async (request) => merchantReference(request.paymentCallback));
      });
    });
    const address = await listen(app);
    for (const path of ['/declared-before', '/below']) {
      expect(await (await sendCallback(address + path)).text()).toBe('ORD-1001');
      expect((await sendCallback(address + path, 'AnotherSigningKey')).status).toBe(401);
    }
  });
});

test('without return503OnClosing: false, the plugin warns once, because Fastify refuses callbacks while it closes', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  const open = async (options: object) => {
    const app = fastify(options);
    app.register(paymentCallbacks(handler), { prefix: '/callbacks' });
    await app.register(
      async (scope) => void scope.register(paymentCallbacks(handler), { prefix: '/nested' }),
    );
    return app;
  };
  await (await open(OPEN)).ready();
  expect(warn).not.toHaveBeenCalled();
  const app = await open({});
  // Control: what the option prevents.
  const { promise: isClosing, resolve: closing } = Promise.withResolvers<void>();
  const { promise: mayClose, resolve: close } = Promise.withResolvers<void>();
  app.addHook('preClose', async () => {
    closing();
    await mayClose;
  });
  const address = await listen(app);
  expect(warn.mock.calls).toEqual([
    [
      expect.stringMatching(
        /Fastify answers genuine callbacks with 503 while it closes.* Pass return503OnClosing: false to fastify\(\)\./,
      ),
    ],
  ]);
  const closed = app.close();
  await isClosing;
  expect((await sendCallback(`${address}/callbacks`)).status).toBe(503);
  close();
  await closed;
});
