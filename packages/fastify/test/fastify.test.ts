import { once } from 'node:events';
import { connect } from 'node:http2';
import type { VerifiedCallback } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

const signingKey = 'FastifyTestSigningKey1';
const data = sampleCallback();
const body = JSON.stringify(data);
const query = new URLSearchParams({
  event: data.event,
  merchant_reference: data.payload.merchant_reference,
  internal_reference: data.payload.internal_reference,
  transaction_type: data.payload.transaction_type,
  transaction_status: data.payload.transaction_status,
  hmac_signature: signCallback({ signingKey, data }),
});

const apps: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function listen(app: FastifyInstance): Promise<string> {
  apps.push(app);
  return app.listen({ port: 0, host: '127.0.0.1' });
}

function post(url: string, text: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
}

function send(url: string, key: string = signingKey): Promise<Response> {
  return post(url, body, { 'hmac-signature': signCallback({ signingKey: key, data }) });
}

const merchantReference = (callback: VerifiedCallback | undefined): string | undefined =>
  callback?.signed.merchant_reference;

describe.each(['handler', 'pass-through'] as const)('%s mode, encapsulated', (mode) => {
  /** A parent app with a JSON route before, one after, and one beside in a scope of its own. */
  async function parentApp(): Promise<string> {
    const app = fastify();
    app.post('/before', async (request) => ({
      body: request.body,
      callback: request.paymentCallback ?? null,
    }));
    if (mode === 'handler') {
      app.register(paymentCallbacks({ signingKey, onCallback: () => undefined }), { prefix: '/callbacks' });
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

  test('the parent app keeps its own JSON parser, in routes before, after and beside', async () => {
    const address = await parentApp();
    expect((await send(`${address}/callbacks`)).status).toBe(200);
    for (const path of ['/before', '/after', '/beside']) {
      const response = await post(`${address}${path}`, '{"order":1}');
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        200,
        { body: { order: 1 } },
      ]);
    }
  });

  test('the parent app keeps the errors of its own parser', async () => {
    const address = await parentApp();
    expect((await post(`${address}/after`, 'not JSON')).status).toBe(400);
    expect((await post(`${address}/after`, '<order/>', { 'content-type': 'text/xml' })).status).toBe(415);
  });

  test('routes outside are not verified and get no callback', async () => {
    const response = await send(`${await parentApp()}/before`);
    expect(await response.json()).toEqual({ body: data, callback: null });
  });
});

describe('handler mode', () => {
  test('the route answers with and without a slash at the end of its prefix, and nothing below', async () => {
    const app = fastify();
    app.register(paymentCallbacks({ signingKey, onCallback: () => undefined }), { prefix: '/callbacks' });
    const address = await listen(app);
    const statuses = await Promise.all(
      ['/callbacks', '/callbacks/', '/callbacks/below'].map(
        async (path) => (await send(address + path)).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 404]);
  });

  test('hooks of the parent app run first, and the parent app handles their errors', async () => {
    const handled: unknown[] = [];
    const app = fastify();
    app.setErrorHandler((error, _request, reply) => reply.code(403).send(`parent: ${error}`));
    app.addHook('preHandler', async (request) => {
      if (request.headers['x-forwarded-for'] !== undefined) throw new Error('not from there');
    });
    const onCallback = (callback: VerifiedCallback): unknown => handled.push(merchantReference(callback));
    app.register(paymentCallbacks({ signingKey, onCallback }), { prefix: '/callbacks' });
    const address = await listen(app);
    const headers = { 'hmac-signature': signCallback({ signingKey, data }), 'x-forwarded-for': '192.0.2.1' };
    const stopped = await post(`${address}/callbacks`, body, headers);
    expect([stopped.status, await stopped.text()]).toEqual([403, 'parent: Error: not from there']);
    expect((await send(`${address}/callbacks`)).status).toBe(200);
    expect(handled).toEqual(['ORD-1001']);
  });

  test('the body limit of the parent app does not apply', async () => {
    const app = fastify({ bodyLimit: 10 });
    app.register(paymentCallbacks({ signingKey, onCallback: () => undefined }), { prefix: '/callbacks' });
    expect((await send(`${await listen(app)}/callbacks`)).status).toBe(200);
  });

  test('two accounts on two prefixes do not mix', async () => {
    const handled: string[] = [];
    const app = fastify();
    for (const account of ['one', 'two']) {
      const onCallback = (): unknown => handled.push(account);
      app.register(paymentCallbacks({ signingKey: `KeyOfAccount-${account}`, account, onCallback }), {
        prefix: `/${account}`,
      });
    }
    const address = await listen(app);
    expect((await send(`${address}/one`, 'KeyOfAccount-one')).status).toBe(200);
    expect((await send(`${address}/two`, 'KeyOfAccount-one')).status).toBe(401);
    expect((await send(`${address}/two`, 'KeyOfAccount-two')).status).toBe(200);
    expect(handled).toEqual(['one', 'two']);
  });

  test('a rewrite does not change the query that is verified', async () => {
    const app = fastify({ rewriteUrl: () => '/return' });
    app.register(paymentRedirects({ signingKey, onRedirect: () => '/thanks' }), { prefix: '/return' });
    const response = await fetch(`${await listen(app)}/payments/return?${query}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/thanks']);
  });

  test('a callback over HTTP/2 verifies as well', async () => {
    const app = fastify({ http2: true });
    app.register(paymentCallbacks({ signingKey, onCallback: () => undefined }), { prefix: '/callbacks' });
    apps.push(app);
    const client = connect(await app.listen({ port: 0, host: '127.0.0.1' }));
    const statuses: unknown[] = [];
    for (const text of [body, 'x'.repeat(70_000), body]) {
      const stream = client.request({
        ':method': 'POST',
        ':path': '/callbacks',
        'hmac-signature': signCallback({ signingKey, data }),
      });
      stream.end(text);
      const [headers] = await once(stream, 'response');
      statuses.push(headers[':status']);
      stream.destroy();
    }
    client.destroy();
    expect(statuses).toEqual([200, 413, 200]);
  });
});

describe('pass-through mode', () => {
  test('a body that Express-style middleware has parsed verifies', async () => {
    const app = fastify();
    app.addHook('onRequest', async (request) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request.raw) chunks.push(chunk);
      Object.assign(request.raw, { body: JSON.parse(Buffer.concat(chunks).toString()) });
    });
    app.register(async (scope) => {
      scope.register(paymentCallbacks({ signingKey }));
      scope.post('/callbacks', async (request) => merchantReference(request.paymentCallback));
    });
    expect(await (await send(`${await listen(app)}/callbacks`)).text()).toBe('ORD-1001');
  });

  test('a parser that the scope itself adds still runs', async () => {
    const app = fastify();
    app.register(async (scope) => {
      await scope.register(paymentCallbacks({ signingKey }));
      scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
        done(null, JSON.parse(String(text))),
      );
      scope.post('/callbacks', async (request) => [merchantReference(request.paymentCallback), request.body]);
    });
    expect(await (await send(`${await listen(app)}/callbacks`)).json()).toEqual(['ORD-1001', data]);
  });

  test('the plugin runs before every route of its scope and of the scopes below', async () => {
    const app = fastify();
    app.register(async (scope) => {
      scope.post('/declared-before', async (request) => merchantReference(request.paymentCallback));
      scope.register(paymentCallbacks({ signingKey }));
      scope.register(async (below) => {
        below.post('/below', async (request) => merchantReference(request.paymentCallback));
      });
    });
    const address = await listen(app);
    for (const path of ['/declared-before', '/below']) {
      expect(await (await send(address + path)).text()).toBe('ORD-1001');
      expect((await send(address + path, 'AnotherSigningKey')).status).toBe(401);
    }
  });

  test('an error of the app’s own handler reaches the app’s error handler, and not onError', async () => {
    const errors: unknown[] = [];
    const app = fastify();
    app.setErrorHandler((error, _request, reply) => {
      errors.push(['app', error]);
      return reply.code(503).send('later');
    });
    app.register(async (scope) => {
      scope.register(paymentCallbacks({ signingKey, onError: (error) => errors.push(['onError', error]) }));
      scope.post('/callbacks', async () => Promise.reject(new Error('The order store is down.')));
    });
    expect((await send(`${await listen(app)}/callbacks`)).status).toBe(503);
    expect(errors).toEqual([['app', new Error('The order store is down.')]]);
  });
});

test('a missing signing key is found before the plugin is registered', () => {
  const missing = { name: 'ConfigurationError', option: 'signingKey' };
  expect(() => paymentCallbacks({ signingKey: undefined })).toThrow(expect.objectContaining(missing));
  expect(() => paymentRedirects({ signingKey: undefined })).toThrow(expect.objectContaining(missing));
});
