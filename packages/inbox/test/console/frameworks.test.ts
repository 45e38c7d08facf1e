import { type RequestListener, request } from 'node:http';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { type InboxConsole, inboxConsole, nodeListener } from '../../src/console/index.ts';
import { BASE, cookiesOf, EVERYTHING, formIn, listen, newConsoleShop, pageOf } from '../support/console.ts';

const other = (_: unknown, response: express.Response): unknown => response.send('other');

/** The one line of the guide, next to another route of the application. */
const MOUNTS: Record<string, (admin: InboxConsole) => RequestListener | Promise<RequestListener>> = {
  'Express 5': (admin) => express().use(nodeListener(admin)).get('/other', other),
  'Express 5 under its prefix': (admin) => express().use(BASE, nodeListener(admin)).get('/other', other),
  'Express 5 behind a parser of forms': (admin) =>
    express()
      .use(express.urlencoded({ extended: false }))
      .use(nodeListener(admin))
      .get('/other', other),
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
  Hono: (admin) => asListener(new Hono().all(`${BASE}/*`, ({ req }) => admin(req.raw))),
  'Hono, mounted': (admin) => asListener(new Hono().mount(BASE, (incoming) => admin(incoming))),
};

/** Hono on a Node server, through the listener: Hono itself receives a Request. */
function asListener(app: Hono): RequestListener {
  app.get('/other', (context) => context.text('other'));
  const handle = async (incoming: Request): Promise<Response> => app.fetch(incoming);
  const listener = nodeListener(Object.assign(handle, { basePath: '', reportError: async () => undefined }));
  return (incoming, outgoing) => void listener(incoming, outgoing);
}

const EVERY_VISITOR = { basePath: BASE, authorize: () => ({ by: 'dana', may: EVERYTHING }) };

test.each(Object.entries(MOUNTS))(
  'on %s the console is served under its path with its files, its forms act, other routes stay, and an open page is answered with 304',
  async (_name, mount) => {
    const { inbox, show } = await newConsoleShop('NONE');
    const authorize = ({ headers }: Request) =>
      headers.get('x-user') === 'dana' && { by: 'dana', may: EVERYTHING };
    const origin = await listen(await mount(inboxConsole(inbox, { basePath: BASE, authorize })));
    const headers = { 'x-user': 'dana', origin };
    const url = origin + BASE + pageOf('NONE');
    expect((await fetch(url)).status).toBe(403);
    const page = await fetch(url, { headers });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const html = await page.text();
    const [, file = ''] = /<link rel="stylesheet" href="([^"]*)">/.exec(html) ?? [];
    expect(file).toBe(`${BASE}/assets/style.css`);
    expect((await fetch(origin + file, { headers })).headers.get('content-type')).toMatch(/^text\/css/);
    const [cookie = []] = cookiesOf(page);
    const { action, values } = formIn(html, 'close');
    const answer = await fetch(origin + action, {
      method: 'POST',
      body: new URLSearchParams({ ...values, by: 'the boss', note: 'not ours' }),
      headers: { ...headers, cookie: cookie.join('=') },
      redirect: 'manual',
    });
    expect(answer.status).toBe(303);
    const actions = [{ by: 'dana', note: 'not ours' }];
    expect(await show('NONE')).toMatchObject({ state: 'resolved', actions });
    expect(await (await fetch(`${origin}/other`)).text()).toBe('other');
    const follow = async () => {
      const [, version] = /data-version="(\w+)"/.exec(await (await fetch(url, { headers })).text()) ?? [];
      return (await fetch(url, { headers: { ...headers, 'if-none-match': `"${version}"` } })).status;
    };
    await expect.poll(follow).toBe(304);
  },
);

test('the listener gives authorize the request of Node, which says who the visitor of a session is', async () => {
  const { inbox } = await newConsoleShop();
  const admin = inboxConsole(inbox, {
    basePath: BASE,
    authorize: (_request, incoming) =>
      incoming !== undefined && 'user' in incoming && { by: String(incoming.user), may: ['read'] },
  });
  const session: express.RequestHandler = (incoming, _response, next) => {
    Object.assign(incoming, { user: 'dana of the session' });
    next();
  };
  const origin = await listen(express().use(session, nodeListener(admin)));
  expect(await (await fetch(`${origin}${BASE}`)).text()).toContain('dana of the session');
});

test('the listener responds with 404 for another path without next, and 400 for a request that cannot be one', async () => {
  const { inbox } = await newConsoleShop();
  const listener = nodeListener(inboxConsole(inbox, EVERY_VISITOR));
  const origin = await listen((incoming, outgoing) => void listener(incoming, outgoing));
  expect((await fetch(`${origin}/other`)).status).toBe(404);
  expect((await fetch(`${origin}${BASE}`, { method: 'PUT' })).status).toBe(400);
  const status = await new Promise((resolve) => {
    request(`${origin}${BASE}`, { headers: { host: 'a b' } }, ({ statusCode }) => resolve(statusCode)).end();
  });
  expect(status).toBe(400);
});

test('a failure is answered with 500 and reported once, and only the rejection of next is passed on (threat A62)', async () => {
  const errors: unknown[] = [];
  const failing: Record<string, () => Response> = {
    [`${BASE}/throws`]: () => {
      throw new Error('thrown');
    },
    [`${BASE}/stream`]: () => new Response(ReadableStream.from(failingLines())),
  };
  const listener = nodeListener(
    Object.assign(async ({ url }: Request) => failing[new URL(url).pathname]?.() ?? new Response('page'), {
      basePath: BASE,
      reportError: async (error: unknown) => void errors.push(error),
    }),
  );
  let rejected: unknown;
  const next = (): Promise<never> => Promise.reject(new Error('of the merchant'));
  const origin = await listen((incoming, outgoing) => {
    if (incoming.url === `${BASE}/answered`) outgoing.writeHead(204).end();
    listener(incoming, outgoing, next).catch((error: unknown) => {
      rejected = error;
      outgoing.writeHead(502).end();
    });
  });
  const statusOf = (path: string): Promise<unknown> =>
    fetch(`${origin}${path}`)
      .then(async (response) => [response.status, await response.text()])
      .catch(String);
  expect(await statusOf(`${BASE}/throws`)).toEqual([500, '']);
  expect(await statusOf(`${BASE}/stream`)).toMatch(/^TypeError/);
  // Other code has answered this one already.
  expect(await statusOf(`${BASE}/answered`)).toEqual([204, '']);
  await expect.poll(() => errors.length).toBe(3);
  expect(errors.map(String)).toEqual([
    'Error: thrown',
    'Error: the database is unavailable',
    expect.stringContaining('headers'),
  ]);
  expect(await statusOf('/other')).toEqual([502, '']);
  expect(String(rejected)).toBe('Error: of the merchant');
});

async function* failingLines(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a line');
  throw new Error('the database is unavailable');
}
