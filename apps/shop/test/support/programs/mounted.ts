/**
 * The documented mounts, in a process without any test: `node mounted.ts <folder> <mount>…`. Prints a line of JSON with their
 * addresses, and then every error that a hook gets.
 */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  type CallbackOptions,
  createCallbackReceiver,
  incomingCallback,
  receiveCallback,
} from '@payment-service/core/receive';
import { createInbox, sqlite } from '@payment-service/inbox';
import { inboxConsole, nodeListener } from '@payment-service/inbox/console';
import type { Framework } from '../../../src/server/start-shop.ts';
import { ACCOUNT, CALLBACKS, CONSOLE } from '../mounts.ts';

const [, , folder = '', ...mounts] = process.argv;
const report = (error: unknown): void => console.log(`Reported: ${error}`);

const inbox = createInbox({ store: sqlite(join(folder, 'inbox.sqlite')), onError: report });
const admin = inboxConsole(inbox, {
  basePath: CONSOLE,
  authorize: () => ({ by: 'dana', may: ['read', 'retry', 'reconcile'] }),
  onError: report,
});
const listener = nodeListener(admin);
const { signingKey } = ACCOUNT;
const options: CallbackOptions = { signingKey, ...inbox.route, onError: report };

const MOUNTS: Readonly<Record<string, () => RequestListener | Promise<RequestListener>>> = {
  'node:http'() {
    const receiver = createCallbackReceiver(options);
    return async (incoming, outgoing) => {
      if (incoming.url !== CALLBACKS) return listener(incoming, outgoing);
      const { reply } = await receiveCallback(incomingCallback(incoming), receiver);
      outgoing.writeHead(reply?.status ?? 500, reply?.headers).end(reply?.body);
    };
  },
  async 'Express 4'() {
    const { default: express } = await import('express4');
    const { paymentCallbacks } = await import('@payment-service/express');
    return express().use(listener).use(CALLBACKS, paymentCallbacks(options));
  },
  async 'Express 5'() {
    const { default: express } = await import('express');
    const { paymentCallbacks } = await import('@payment-service/express');
    return express().use(listener).use(CALLBACKS, paymentCallbacks(options));
  },
  async 'Fastify 5'() {
    const { fastify } = await import('fastify');
    const { paymentCallbacks } = await import('@payment-service/fastify');
    const app = fastify({ return503OnClosing: false });
    app.addHook('onRequest', (incoming, reply, done) => void listener(incoming.raw, reply.raw, done));
    app.register(paymentCallbacks(options), { prefix: CALLBACKS });
    await app.ready();
    return app.routing;
  },
  async 'Koa 3'() {
    const { default: Koa } = await import('koa');
    const { paymentCallbacks } = await import('@payment-service/koa');
    const app = new Koa();
    const callbacks = paymentCallbacks(options);
    app.use((ctx, next) => listener(ctx.req, ctx.res, next));
    app.use((ctx, next) => (ctx.path === CALLBACKS ? callbacks(ctx, next) : next()));
    return app.callback();
  },
  async Hono() {
    const { Hono } = await import('hono');
    const { getRequestListener } = await import('@hono/node-server');
    const { paymentCallbacks } = await import('@payment-service/fetch');
    const app = new Hono().all(`${CONSOLE}/*`, ({ req }) => admin(req.raw));
    app.all(CALLBACKS, paymentCallbacks({ ...options, ...inbox.route }));
    return getRequestListener(app.fetch);
  },
};

/** The address of a server, and the path of its console. */
async function start(mount: string): Promise<[origin: string, path: string]> {
  if (mount === 'sandbox') {
    const { createSandbox } = await import('@payment-service/sandbox');
    return [(await createSandbox({ onError: report }).listen()).url, ''];
  }
  if (mount.startsWith('shop on ')) {
    const config = {
      ...ACCOUNT,
      baseUrl: 'http://127.0.0.1:1',
      host: '127.0.0.1',
      port: 0,
      file: join(folder, `${mount}.sqlite`),
    };
    // It also logs what it refuses, that the payment service is unavailable, and an address that Koa cannot parse.
    const log = (line: string): void =>
      void (/^(?:Refused|The payment service) |ERR_INVALID_URL/.test(line) || report(line));
    const { startShop } = await import('../../../src/server/start-shop.ts');
    const framework = mount.replace('shop on ', '') as Framework;
    return [(await startShop(framework, config, { log })).origin, '/owner/inbox'];
  }
  // As the documents mount them: what the listener rejects with is not caught here.
  const listen = await MOUNTS[mount]?.();
  const server = createServer((incoming, outgoing) => void listen?.(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return [`http://127.0.0.1:${(server.address() as AddressInfo).port}`, CONSOLE];
}

const addresses: Record<string, readonly [origin: string, path: string]> = {};
for (const mount of mounts) addresses[mount] = await start(mount);
console.log(JSON.stringify(addresses));
