/** One server in its own process: `http-server.ts <framework> <way> <project>`. See http.ts. */

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { bodyParser } from '@koa/bodyparser';
import { answerQuestions } from '@payment-service/durability';
import { SIGNING_KEY } from '@payment-service/durability/load/callbacks.ts';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { matchesByRecipe, preparedHmac } from './contenders.ts';
import type { Framework, ServerState } from './http.ts';
import { importFrom } from './installed.ts';

const [framework, way, project = ''] = process.argv.slice(2);
let handled = 0;
const isOurs = way === 'ours';
const isLimit = way === 'limit';
const prepared = preparedHmac(SIGNING_KEY);

/** The handler of every server. It counts its calls, so that a server that responds without it is detected. */
function handle(): void {
  handled++;
}

/** What a merchant's team would write itself, after a JSON body parser: the status and the answer. */
function answer(body: unknown, header: unknown): [status: 200 | 401, answer: object] {
  const isMatch = (): boolean =>
    matchesByRecipe(SIGNING_KEY, body, String(header), isLimit ? prepared : undefined);
  if (way !== 'bare' && !isMatch()) return [401, { error: 'unauthorized' }];
  handle();
  return [200, { status: 'accepted' }];
}

/** The least that an adapter must do: the bytes as they arrive, and the same check, without a rule or a limit. */
function atTheLimit(request: IncomingMessage, reply: (status: number, text: string) => void): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const [first = Buffer.alloc(0)] = pieces;
    const text = (pieces.length === 1 ? first : Buffer.concat(pieces)).toString();
    const [status, json] = answer(JSON.parse(text), request.headers['hmac-signature']);
    reply(status, JSON.stringify(json));
  });
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const options = { signingKey: SIGNING_KEY, onCallback: handle };

const OPENERS: Readonly<Record<Framework, () => Server | Promise<Server>>> = {
  async express() {
    const app = express();
    const { paymentCallbacks } = await adapter<typeof import('@payment-service/express')>('express');
    if (isOurs) app.use('/callbacks', paymentCallbacks(options));
    else if (isLimit)
      app.use('/callbacks', (req, res) =>
        atTheLimit(req, (status, text) => void res.writeHead(status, JSON_TYPE).end(text)),
      );
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
    else if (isLimit)
      app.use(async (ctx) => {
        await new Promise<void>((resolve) =>
          atTheLimit(ctx.req, (status, text) => {
            [ctx.status, ctx.body] = [status, text];
            resolve();
          }),
        );
        ctx.set(JSON_TYPE);
      });
    else
      app.use(bodyParser()).use((ctx) => {
        [ctx.status, ctx.body] = answer(ctx.request.body, ctx.get('hmac-signature'));
      });
    return createServer(app.callback());
  },
  async fastify() {
    const app = fastify({ return503OnClosing: false });
    const { paymentCallbacks } = await adapter<typeof import('@payment-service/fastify')>('fastify');
    if (isOurs) await app.register(paymentCallbacks(options), { prefix: '/callbacks' });
    else if (isLimit) {
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('application/json', (_request, _body, next) => next(null));
      app.post('/callbacks', ({ raw }, reply) =>
        atTheLimit(raw, (status, text) => void reply.code(status).headers(JSON_TYPE).send(text)),
      );
    } else
      app.post('/callbacks', async (request, reply) => {
        const [status, json] = answer(request.body, request.headers['hmac-signature']);
        return reply.code(status).send(json);
      });
    await app.ready();
    return app.server;
  },
  async hono() {
    const app = new Hono<{ Bindings: HttpBindings }>();
    const { paymentCallbacks } = await adapter<typeof import('@payment-service/fetch')>('fetch');
    if (isOurs) app.post('/callbacks', paymentCallbacks(options));
    else if (isLimit)
      // A Request has no events: Node's own request is the fastest way to the bytes.
      app.post('/callbacks', ({ env }) => {
        const respond = (resolve: (response: Response) => void): void =>
          atTheLimit(env.incoming, (status, text) =>
            resolve(new Response(text, { status, headers: JSON_TYPE })),
          );
        return new Promise(respond);
      });
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
