/** One server in its own process: `http-server.ts <framework> <way> <project>`. See http.ts. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { bodyParser } from '@koa/bodyparser';
import { answerQuestions } from '@payment-service/durability';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { ACCEPTED, type Framework, type ServerState, SIGNING_KEY } from './http.ts';
import { importFrom } from './installed.ts';
import { limit, readRaw } from './limit.ts';
import { matchesByRecipe } from './verify-by-recipe.ts';

const [framework, way, project = ''] = process.argv.slice(2);
const UNAUTHORIZED = { error: 'unauthorized' };
let handled = 0;

/** The handler of every server. It counts its calls, so that a server that responds without it is detected. */
function handle(): void {
  handled++;
}

/** What a merchant's team would write itself, after a JSON body parser. */
function isGenuine(body: unknown, header: string | undefined): boolean {
  return way === 'bare' || matchesByRecipe(SIGNING_KEY, body, header ?? '');
}

const options = { signingKey: SIGNING_KEY, onCallback: handle };
const isGenuineAtTheLimit = limit(SIGNING_KEY);
const JSON_TYPE = 'application/json; charset=utf-8';
const ACCEPTED_TEXT = JSON.stringify(ACCEPTED);
const UNAUTHORIZED_TEXT = JSON.stringify(UNAUTHORIZED);

/** How the limit responds to that body: the status and the text. */
function answer(body: Buffer, header: unknown): [number, string] {
  if (!isGenuineAtTheLimit(body, header)) return [401, UNAUTHORIZED_TEXT];
  handle();
  return [200, ACCEPTED_TEXT];
}

/** The limit in Express, whose requests and responses are those of node:http. */
function limitInExpress(req: IncomingMessage, res: ServerResponse): void {
  readRaw(req, (body) => {
    const [status, text] = answer(body, req.headers['hmac-signature']);
    res.statusCode = status;
    res.setHeader('content-type', JSON_TYPE);
    res.end(text);
  });
}

const OPENERS: Readonly<Record<Framework, () => Server | Promise<Server>>> = {
  async express() {
    const app = express();
    if (way === 'ours') {
      const { paymentCallbacks } = await adapter<typeof import('@payment-service/express')>('express');
      app.use('/callbacks', paymentCallbacks(options));
    } else if (way === 'limit') {
      app.use('/callbacks', limitInExpress);
    } else {
      app.post('/callbacks', express.json(), (req, res) => {
        if (!isGenuine(req.body, req.get('hmac-signature'))) return void res.status(401).json(UNAUTHORIZED);
        handle();
        res.json(ACCEPTED);
      });
    }
    return createServer(app);
  },
  async koa() {
    const app = new Koa();
    if (way === 'ours') {
      const { paymentCallbacks } = await adapter<typeof import('@payment-service/koa')>('koa');
      app.use(paymentCallbacks(options));
    } else if (way === 'limit') {
      app.use(async (ctx) => {
        const body = await new Promise<Buffer>((resolve) => readRaw(ctx.req, resolve));
        const [status, text] = answer(body, ctx.req.headers['hmac-signature']);
        ctx.status = status;
        ctx.set('content-type', JSON_TYPE);
        ctx.body = text;
      });
    } else {
      app.use(bodyParser());
      app.use((ctx) => {
        if (!isGenuine(ctx.request.body, ctx.get('hmac-signature'))) {
          ctx.status = 401;
          ctx.body = UNAUTHORIZED;
          return;
        }
        handle();
        ctx.body = ACCEPTED;
      });
    }
    return createServer(app.callback());
  },
  async fastify() {
    const app = fastify();
    if (way === 'ours') {
      const { paymentCallbacks } = await adapter<typeof import('@payment-service/fastify')>('fastify');
      await app.register(paymentCallbacks(options), { prefix: '/callbacks' });
    } else if (way === 'limit') {
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('application/json', (_request, _body, next) => next(null));
      app.post('/callbacks', (request, reply) => {
        readRaw(request.raw, (body) => {
          const [status, text] = answer(body, request.headers['hmac-signature']);
          reply.code(status).header('content-type', JSON_TYPE).send(text);
        });
      });
    } else {
      app.post('/callbacks', async (request, reply) => {
        if (!isGenuine(request.body, String(request.headers['hmac-signature'])))
          return reply.code(401).send(UNAUTHORIZED);
        handle();
        return ACCEPTED;
      });
    }
    await app.ready();
    return app.server;
  },
  async hono() {
    const app = new Hono<{ Bindings: HttpBindings }>();
    if (way === 'ours') {
      const { paymentCallbacks } = await adapter<typeof import('@payment-service/fetch')>('fetch');
      app.post('/callbacks', paymentCallbacks(options));
    } else if (way === 'limit') {
      // A Request has no events, so Node's own request, which the context provides, is the fastest way to the bytes.
      app.post('/callbacks', async (c) => {
        const { incoming } = c.env;
        const body = await new Promise<Buffer>((resolve) => readRaw(incoming, resolve));
        const [status, text] = answer(body, incoming.headers['hmac-signature']);
        return new Response(text, { status, headers: { 'content-type': JSON_TYPE } });
      });
    } else {
      app.post('/callbacks', async (c) => {
        const body: unknown = await c.req.json();
        if (!isGenuine(body, c.req.header('hmac-signature'))) return c.json(UNAUTHORIZED, 401);
        handle();
        return c.json(ACCEPTED);
      });
    }
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
