/**
 * Threat A64: a guard that the merchant mounted by path in front of the console, and the console, read one path. The addresses
 * are sent as they are, which no browser does, and each framework reads them in its own way.
 */
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import fc from 'fast-check';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { type InboxConsole, inboxConsole, type NodeListener, nodeListener } from '../../src/console/index.ts';
import { BASE, EVERYTHING, listen, newConsoleShop, ORIGIN } from '../support/console.ts';

const GUARDED = `${BASE}/reconcile`;
/** What only the guarded page shows. */
const PAGE = 'id="balances"';

const GUARDS: Record<string, (listener: NodeListener) => RequestListener | Promise<RequestListener>> = {
  'Express 5': (listener) =>
    express()
      .use(GUARDED, (_incoming, outgoing) => void outgoing.status(401).end())
      .use(listener),
  'Fastify 5': async (listener) => {
    const app = fastify();
    app.addHook('onRequest', (incoming, reply, done) => {
      if (incoming.url.split('?')[0] === GUARDED) reply.code(401).send();
      else done();
    });
    app.addHook('onRequest', (incoming, reply, done) => void listener(incoming.raw, reply.raw, done));
    await app.ready();
    return app.routing;
  },
  'Koa 3': (listener) => {
    const app = new Koa();
    app.use((ctx, next) => (ctx.path === GUARDED ? ctx.throw(401) : next()));
    app.use((ctx, next) => listener(ctx.req, ctx.res, next));
    app.silent = true;
    return app.callback();
  },
  'node:http': (listener) => (incoming, outgoing) => {
    if (incoming.url?.split('?')[0] === GUARDED) outgoing.writeHead(401).end();
    else void listener(incoming, outgoing, () => outgoing.writeHead(404).end());
  },
};

/** A Host and a target, with which a URL of both has another path than the target, or a framework reads another one. */
const ODD: readonly (readonly [host: string, target: string])[] = [
  ...['', '?', '#', '\\', '/', '/x?', '@', 'x@', 'x:y@'].flatMap((end): [string, string][] => [
    [`shop.test${GUARDED}${end}`, `${BASE}/x`],
    [`${end}shop.test${GUARDED}?`, BASE],
    [end, GUARDED],
    [end, `/${BASE}/x`],
  ]),
  ...['/.', '/x/..', '/%2e', '/x/%2e%2e', '/x/.%2E', '/x/%2E.', '\\', '/\\', '//', '/./', '/;'].flatMap(
    (middle): [string, string][] => [
      ['shop.test', `${BASE}${middle}/reconcile`],
      ['shop.test', `${middle}${GUARDED}`],
      ['shop.test', `/admin${middle}/payments/reconcile`],
      ['shop.test', `${BASE}${middle}reconcile`],
    ],
  ),
  ...['/', '//', '/.', '\\', '#', '#x', ';', ';x', '%2f', '%00', '%20', '/x/..', '/%2e'].map(
    (end): [string, string] => ['shop.test', `${GUARDED}${end}`],
  ),
  ...['http://x', 'http://', 'HTTP:', 'http:/', '//x', '///', 'x', 'http://shop.test:80', '*'].map(
    (start): [string, string] => ['shop.test', `${start}${GUARDED}`],
  ),
  ['shop.test', '/admin/payments/%72econcile'],
  ['shop.test', '/ADMIN/payments/reconcile'],
  ['shop.test', '/admin/payments/RECONCILE'],
  ['shop.test', `${BASE}?x=${GUARDED}`],
  ['shop.test', `${BASE}/x?/../reconcile`],
];

/** Addresses of the same pieces in any order. */
const PIECES = [
  'admin',
  'payments',
  'reconcile',
  '/',
  '.',
  '..',
  '%2e',
  '\\',
  '?',
  '#',
  '@',
  ':',
  ';',
  'x',
  '*',
];
const text = fc.array(fc.constantFrom(...PIECES, BASE, GUARDED), { maxLength: 6 }).map((all) => all.join(''));
const GENERATED = fc.sample(
  fc.tuple(
    text,
    text.map((path) => path || '/'),
  ),
  { numRuns: 150, seed: 64 },
);

/** The answers to these requests, each on a connection of its own. */
function answers(origin: string, sent: readonly (readonly [string, string])[]): Promise<string[]> {
  const ask = ([host, target]: readonly [string, string]): Promise<string> =>
    new Promise((resolve, reject) => {
      const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => socket.write(head));
      let received = '';
      socket.on('data', (piece) => (received += String(piece)));
      socket.on('error', reject).on('close', () => resolve(received));
    });
  return Promise.all(sent.map(ask));
}

const consoleOf = async (asked?: (request: Request) => void): Promise<InboxConsole> => {
  const { inbox } = await newConsoleShop();
  return inboxConsole(inbox, {
    basePath: BASE,
    authorize: (request) => {
      asked?.(request);
      return { by: 'dana', may: EVERYTHING };
    },
  });
};

test.each(Object.entries(GUARDS))(
  'on %s no address passes a guard of the merchant by path, and none fails (threat A64)',
  async (_name, mount) => {
    const listener = nodeListener(await consoleOf());
    const origin = await listen(await mount(listener));
    const [page, guarded] = await answers(origin, [
      ['shop.test', BASE],
      ['shop.test', GUARDED],
    ]);
    expect(page).toMatch(/^HTTP\/1\.1 200 /);
    expect(guarded).toMatch(/^HTTP\/1\.1 401 /);
    // Control: without the guard it is served.
    const [open] = await answers(await listen((...both) => void listener(...both)), [['shop.test', GUARDED]]);
    expect(open).toContain(PAGE);
    const sent = [...ODD, ...GENERATED];
    const received = await answers(origin, sent);
    const passed = sent.filter((_, index) => received[index]?.includes(PAGE));
    const failed = sent.filter((_, index) => /^(?:HTTP\/1\.1 5|$)/.test(received[index] ?? ''));
    expect({ passed, failed }).toEqual({ passed: [], failed: [] });
  },
);

test('a Host with a path, a query, a fragment or a user is refused, and an empty one changes no path (threat A64)', async () => {
  const listener = nodeListener(await consoleOf());
  const origin = await listen((...both) => void listener(...both));
  const hosts = [
    'shop.test/x',
    'shop.test?x',
    'shop.test#x',
    'shop.test\\x',
    'a@shop.test',
    'a:b@x',
    '@x',
    'a\tb',
  ];
  for (const [host, answer] of [...hosts.map((host) => [host, '400'] as const), ['', '200'] as const])
    expect((await answers(origin, [[host, GUARDED]]))[0], host).toMatch(new RegExp(`^HTTP/1\\.1 ${answer} `));
});

test('a request whose address was not parsed by its framework is refused if that changes the path (threat A64)', async () => {
  const asked: string[] = [];
  const handle = await consoleOf(({ url }) => asked.push(url));
  const statusOf = async (url: string): Promise<number> => {
    const request = new Request(`${ORIGIN}/`);
    Object.defineProperty(request, 'url', { value: url });
    return (await handle(request)).status;
  };
  for (const path of [
    `${BASE}/x/../reconcile`,
    `${BASE}/%2e/reconcile`,
    `${BASE}\\reconcile`,
    `\\${GUARDED}`,
    `/.${GUARDED}`,
  ])
    expect(await statusOf(ORIGIN + path), path).toBe(400);
  expect(asked).toEqual([]);
  // A port that a URL leaves out, capitals of a host and characters of a query change no path.
  for (const url of [
    `${ORIGIN}:443${GUARDED}`,
    `HTTPS://Shop.Example${GUARDED}`,
    `${ORIGIN}${GUARDED}?a='"&/../`,
  ])
    expect(await statusOf(url), url).toBe(200);
});

test('authorize gets the address of the page that is served, also if a framework removed the prefix (threat A64)', async () => {
  const asked: string[] = [];
  const handle = await consoleOf(({ url }) => asked.push(new URL(url).pathname));
  const app = new Hono().mount(BASE, (request) => handle(request));
  for (const path of [GUARDED, `${BASE}${GUARDED}`, BASE, `${BASE}/`]) await app.request(ORIGIN + path);
  expect(asked).toEqual([GUARDED, GUARDED, BASE, BASE]);
});

test('a page has one address: a slash at its end gives 404, and that of the overview redirects', async () => {
  const handle = await consoleOf();
  const { status, headers } = await handle(new Request(`${ORIGIN}${BASE}/`));
  expect([status, headers.get('location')]).toEqual([308, BASE]);
  for (const path of [`${GUARDED}/`, `${GUARDED}//`, `${BASE}//`, `${BASE}//reconcile`])
    expect((await handle(new Request(ORIGIN + path))).status, path).toBe(404);
});
