/**
 * Runs the sandbox's test of an endpoint against every adapter on a real socket: the adapters fulfil everything that it
 * requires.
 */
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import type { CallbackOptions } from '@payment-service/core/receive';
import { paymentCallbacks as expressCallbacks } from '@payment-service/express';
import { paymentCallbacks as fastifyCallbacks } from '@payment-service/fastify';
import { paymentCallbacks as fetchCallbacks } from '@payment-service/fetch';
import { createInbox, sqlite } from '@payment-service/inbox';
import { paymentCallbacks as koaCallbacks } from '@payment-service/koa';
import { type CheckReport, createSandbox, type Sandbox } from '@payment-service/sandbox';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { emptyFolder } from '../src/extracted.ts';
import { adapters } from '../src/manifests.ts';

type Options = CallbackOptions & { readonly onCallback: NonNullable<CallbackOptions['onCallback']> };

const servers: Readonly<Record<string, (options: Options) => Server | Promise<Server>>> = {
  express: (options) => createServer(express().use('/callbacks', expressCallbacks(options))),
  fastify: async (options) => {
    const app = fastify();
    app.register(fastifyCallbacks(options), { prefix: '/callbacks' });
    await app.ready();
    return app.server;
  },
  koa: (options) => createServer(new Koa().use(koaCallbacks(options)).callback()),
  fetch: (options) => {
    const callbacks = fetchCallbacks(options);
    return createServer(getRequestListener((request) => callbacks(request)));
  },
};

/** Lets the sandbox check a server that answers on a real socket. */
async function checked(sandbox: Sandbox, server: Server): Promise<CheckReport> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  try {
    return await sandbox.check(`http://127.0.0.1:${port}/callbacks`);
  } finally {
    server.close();
    await sandbox.close();
  }
}

test.each(adapters)('the sandbox finds nothing wrong with a callback route of %s', async (adapter) => {
  const sandbox = createSandbox();
  const { signingKey } = sandbox.account;
  const handled: string[] = [];
  const server = await servers[adapter]?.({
    signingKey,
    onCallback: ({ signed }) => void handled.push(signed.transaction_status),
  });
  if (server === undefined) throw new Error(`There is no server for ${adapter}.`);
  const { ok, results } = await checked(sandbox, server);
  expect(results.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  expect([ok, results.length]).toEqual([true, 22]);
  // Every accepted case reaches the handler, and no refused one does.
  expect(handled.length).toBe(results.filter(({ status }) => status === 200).length);
});

test('behind the inbox, which puts an ambiguous callback aside, no case fails', async () => {
  const sandbox = createSandbox();
  const inbox = createInbox({ store: sqlite(join(emptyFolder('checked-inbox'), 'inbox.db')) });
  const { receive: onCallback, quarantine: onAuthenticRefusal } = inbox;
  const options = { signingKey: sandbox.account.signingKey, onCallback, onAuthenticRefusal };
  const server = createServer(express().use('/callbacks', expressCallbacks(options)));
  const { ok, results } = await checked(sandbox, server);
  await inbox.close();
  const others = results.filter(({ verdict }) => verdict !== 'pass');
  expect([ok, others.map(({ name, verdict }) => [name, verdict])]).toEqual([true, [['moved_colon', 'warn']]]);
});
