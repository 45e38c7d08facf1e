/** One server in its own process: `http-server.ts <framework> <way> <project>`. See http.ts. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { bodyParser } from '@koa/bodyparser';
import { answerQuestions } from '@payment-service/durability';
import { SIGNING_KEY } from '@payment-service/durability/load/callbacks.ts';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { matchesByRecipe } from './contenders.ts';
import type { Framework, ServerState } from './http.ts';
import { importFrom } from './installed.ts';

const [framework, way, project = ''] = process.argv.slice(2);
let handled = 0;

/** The handler of every server. It counts its calls, so that a server that responds without it is detected. */
function handle(): void {
  handled++;
}

/** What a merchant's team would write itself, after a JSON body parser: the status and the answer. */
function answer(body: unknown, header: unknown): [status: 200 | 401, answer: object] {
  if (way !== 'bare' && !matchesByRecipe(SIGNING_KEY, body, String(header)))
    return [401, { error: 'unauthorized' }];
  handle();
  return [200, { status: 'accepted' }];
}

const isOurs = way === 'ours';
const options = { signingKey: SIGNING_KEY, onCallback: handle };

const OPENERS: Readonly<Record<Framework, () => Server | Promise<Server>>> = {
  async express() {
    const app = express();
    const { paymentCallbacks } = await adapter<typeof import('@payment-service/express')>('express');
    if (isOurs) app.use('/callbacks', paymentCallbacks(options));
    else
      app.post('/callbacks', express.json(), (req, res) => {
        const [status, json] = answer(req.body, req.get('hmac-signature'));
        res.status(status).json(json);
      });
    return createServer(app);
  },
  async koa() {
    const app = new Koa();
    const { paymentCallbacks } = await adapter<typeof import('@payment-service/koa')>('koa');
    if (isOurs) app.use(paymentCallbacks(options));
    else
      app.use(bodyParser()).use((ctx) => {
        [ctx.status, ctx.body] = answer(ctx.request.body, ctx.get('hmac-signature'));
      });
    return createServer(app.callback());
  },
  async fastify() {
    const app = fastify();
    const { paymentCallbacks } = await adapter<typeof import('@payment-service/fastify')>('fastify');
    if (isOurs) await app.register(paymentCallbacks(options), { prefix: '/callbacks' });
    else
      app.post('/callbacks', async (request, reply) => {
        const [status, json] = answer(request.body, request.headers['hmac-signature']);
        return reply.code(status).send(json);
      });
    await app.ready();
    return app.server;
  },
  async hono() {
    const app = new Hono();
    const { paymentCallbacks } = await adapter<typeof import('@payment-service/fetch')>('fetch');
    if (isOurs) app.post('/callbacks', paymentCallbacks(options));
    else
      app.post('/callbacks', async (c) => {
        const [status, json] = answer(await c.req.json(), c.req.header('hmac-signature'));
        return c.json(json, status);
      });
    return createServer(getRequestListener(app.fetch));
  },
};

function adapter<T>(name: string): Promise<T> {
  return importFrom(project, `@payment-service/${name}`);
}

const server = await OPENERS[framework as Framework]();
server.keepAliveTimeout = 120_000; // Longer than a measurement, and equal for every framework.
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1024, resolve));

answerQuestions((): ServerState => {
  const { user, system } = process.cpuUsage();
  const { port } = server.address() as AddressInfo;
  return { port, handled, user, system };
});
