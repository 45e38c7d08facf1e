import { createServer, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type InboxConsole, inboxConsole, nodeListener } from '../../src/console/index.ts';
import { paid } from '../support/callbacks.ts';
import { BASE, EVERYTHING, formIn, newConsoleShop } from '../support/console.ts';

/** The one line of the guide, beside another route of the application. */
const MOUNTS: Record<string, (admin: InboxConsole) => RequestListener | Promise<RequestListener>> = {
  'Express 5': (admin) => {
    const app = express();
    app.use(nodeListener(admin));
    app.get('/other', (_request, response) => void response.send('other'));
    return app;
  },
  'Express 5 under its prefix': (admin) => {
    const app = express();
    app.use(BASE, nodeListener(admin));
    app.get('/other', (_request, response) => void response.send('other'));
    return app;
  },
  'Express 5 behind a parser of forms': (admin) => {
    const app = express();
    app.use(express.urlencoded({ extended: false }));
    app.use(nodeListener(admin));
    app.get('/other', (_request, response) => void response.send('other'));
    return app;
  },
  'Fastify 5': async (admin) => {
    const app = fastify();
    const listener = nodeListener(admin);
    app.addHook('onRequest', (incoming, reply, done) => void listener(incoming.raw, reply.raw, done));
    app.get('/other', () => 'other');
    await app.ready();
    return app.routing;
  },
  'Koa 3': (admin) => {
    const app = new Koa();
    const listener = nodeListener(admin);
    app.use((ctx, next) => listener(ctx.req, ctx.res, next));
    app.use((ctx) => {
      ctx.body = 'other';
    });
    return app.callback();
  },
  'node:http': (admin) => {
    const listener = nodeListener(admin);
    return (incoming, outgoing) => void listener(incoming, outgoing, () => outgoing.end('other'));
  },
  Hono: (admin) => {
    const app = new Hono();
    app.all(`${BASE}/*`, ({ req }) => admin(req.raw));
    app.get('/other', (c) => c.text('other'));
    return asListener(app);
  },
  'Hono, mounted': (admin) => {
    const app = new Hono();
    app.mount(BASE, (incoming) => admin(incoming));
    app.get('/other', (c) => c.text('other'));
    return asListener(app);
  },
};

/** Hono on a Node server, by way of the listener: Hono itself gets a Request. */
function asListener(app: Hono): RequestListener {
  const handle: InboxConsole = Object.assign(async (incoming: Request) => app.fetch(incoming), {
    basePath: '',
  });
  const listener = nodeListener(handle);
  return (incoming, outgoing) => void listener(incoming, outgoing);
}

async function listen(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each(Object.entries(MOUNTS))('on %s', (_name, mount) => {
  test('the console is served under its path with its files, its forms act, and other routes stay', async () => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const authorize = ({ headers }: Request) =>
      headers.get('x-user') === 'dana' && { by: 'dana', may: EVERYTHING };
    const origin = await listen(await mount(inboxConsole(inbox, { basePath: BASE, authorize })));
    const headers = { 'x-user': 'dana', origin };
    const url = `${origin}${BASE}/transitions/${paid('NONE', 500).transitionId}`;
    expect((await fetch(url)).status).toBe(403);
    const page = await fetch(url, { headers });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const html = await page.text();
    const [, file = ''] = /<link rel="stylesheet" href="([^"]*)">/.exec(html) ?? [];
    expect(file).toBe(`${BASE}/assets/style.css`);
    expect((await fetch(origin + file, { headers })).headers.get('content-type')).toMatch(/^text\/css/);
    const cookie = page.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ');
    const { action, values } = formIn(html, 'resolve');
    const answer = await fetch(origin + action, {
      method: 'POST',
      body: new URLSearchParams({ ...values, note: 'not ours' }),
      headers: { ...headers, cookie },
      redirect: 'manual',
    });
    expect(answer.status).toBe(303);
    expect(await inbox.show(paid('NONE', 500).transitionId)).toMatchObject({
      state: 'resolved',
      actions: [{ by: 'dana', note: 'not ours' }],
    });
    expect(await (await fetch(`${origin}/other`)).text()).toBe('other');
    expect((await fetch(`${origin}${BASE}`, { headers })).status).toBe(200);
  });

  test('a stream of changes ends when the visitor leaves', async () => {
    const { inbox } = await newConsoleShop();
    const authorize = () => ({ by: 'dana', may: EVERYTHING });
    const origin = await listen(await mount(inboxConsole(inbox, { basePath: BASE, authorize })));
    const leave = new AbortController();
    const response = await fetch(`${origin}${BASE}/events`, { signal: leave.signal });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^data: [0-9a-f]{16}\n\n$/);
    leave.abort();
    await expect(reader?.read()).rejects.toThrow();
    expect((await fetch(`${origin}${BASE}`)).status).toBe(200);
  });
});

describe('the listener', () => {
  test('takes what a session of the framework says of the visitor from the request of Node', async () => {
    const { inbox } = await newConsoleShop();
    const admin = inboxConsole(inbox, {
      basePath: BASE,
      authorize: (_request, incoming) =>
        incoming !== undefined && 'user' in incoming && { by: String(incoming.user), may: ['read'] },
    });
    const app = express();
    app.use((incoming, _response, next) => {
      Object.assign(incoming, { user: 'dana of the session' });
      next();
    });
    app.use(nodeListener(admin));
    const origin = await listen(app);
    expect(await (await fetch(`${origin}${BASE}`)).text()).toContain('dana of the session');
  });

  test('answers 404 for another path without next, and 400 for a request that cannot be one', async () => {
    const { inbox } = await newConsoleShop();
    const listener = nodeListener(
      inboxConsole(inbox, { basePath: BASE, authorize: () => ({ by: 'dana', may: EVERYTHING }) }),
    );
    const origin = await listen((incoming, outgoing) => void listener(incoming, outgoing));
    expect((await fetch(`${origin}/other`)).status).toBe(404);
    expect((await fetch(`${origin}${BASE}`, { method: 'PUT' })).status).toBe(400);
    const status = await new Promise((resolve) => {
      request(`${origin}${BASE}`, { headers: { host: 'a b' } }, ({ statusCode }) =>
        resolve(statusCode),
      ).end();
    });
    expect(status).toBe(400);
  });
});
