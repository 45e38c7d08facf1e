/** Runs the sandbox's check of an endpoint against every adapter on a real socket: what the check asks for is what they do. */
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { CallbackOptions } from '@payment-service/core/receive';
import { paymentCallbacks as expressCallbacks } from '@payment-service/express';
import { paymentCallbacks as fastifyCallbacks } from '@payment-service/fastify';
import { paymentCallbacks as fetchCallbacks } from '@payment-service/fetch';
import { paymentCallbacks as koaCallbacks } from '@payment-service/koa';
import { createSandbox } from '@payment-service/sandbox';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { adapters } from '../src/manifests.ts';

type Handled = CallbackOptions & { readonly onCallback: NonNullable<CallbackOptions['onCallback']> };

const servers: Readonly<Record<string, (options: Handled) => Server | Promise<Server>>> = {
  express: (options) => createServer(express().use('/callbacks', expressCallbacks(options))),
  fastify: async (options) => {
    const app = fastify();
    app.register(fastifyCallbacks(options), { prefix: '/callbacks' });
    await app.ready();
    return app.server;
  },
  koa: (options) => createServer(new Koa().use(koaCallbacks(options)).callback()),
  fetch: (options) => createServer(getRequestListener(fetchCallbacks(options))),
};

test.each(adapters)('the sandbox finds nothing wrong with a callback route of %s', async (adapter) => {
  const sandbox = createSandbox();
  const { signingKey } = sandbox.account;
  const handled: string[] = [];
  const server = await servers[adapter]?.({
    signingKey,
    onCallback: ({ signed }) => void handled.push(signed.transaction_status),
  });
  if (server === undefined) throw new Error(`There is no server for ${adapter}.`);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  try {
    const { ok, results } = await sandbox.check(`http://127.0.0.1:${port}/callbacks`);
    expect(results.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect([ok, results.length]).toEqual([true, 22]);
    // Every accepted case reaches the handler, and no refused one does.
    expect(handled.length).toBe(results.filter(({ status }) => status === 200).length);
  } finally {
    server.close();
    await sandbox.close();
  }
});
