import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { confirmAmount, type VerifiedCallback } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import * as onExpress from '@payment-service/express';
import * as onFastify from '@payment-service/fastify';
import * as onFetch from '@payment-service/fetch';
import * as onKoa from '@payment-service/koa';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { listening } from './listening.ts';

const signingKey = 'SMOKE-SIGNING-KEY';
const path = '/payments/callbacks';

/** Every adapter on a real socket: a signed callback gets 200 and reaches the handler, a forged one gets 401. */
export async function checkAdapters(): Promise<void> {
  for (const [name, mount] of Object.entries(mounts)) {
    const paid: string[] = [];
    const server = await mount((callback) => {
      if (confirmAmount(callback, { currency: 'UGX', amount: '500' }).ok)
        paid.push(callback.signed.merchant_reference);
    });
    await listening(server, async (url) => {
      const data = sampleCallback();
      const signature = signCallback({ signingKey, data });
      const post = async (payload: object): Promise<readonly [number, string]> => {
        const headers = { 'content-type': 'application/json', 'hmac-signature': signature };
        const body = JSON.stringify({ ...data, payload });
        const response = await fetch(url + path, { method: 'POST', headers, body });
        return [response.status, await response.text()];
      };
      assert.deepEqual(await post(data.payload), [200, '{"status":"accepted"}'], name);
      const forged = { ...data.payload, merchant_reference: 'ORD-1002' };
      assert.deepEqual(await post(forged), [401, '{"error":"unauthorized"}'], name);
      assert.deepEqual(paid, ['ORD-1001'], name);
    });
  }
}

type OnCallback = (callback: VerifiedCallback) => void;

const mounts: Record<string, (onCallback: OnCallback) => Server | Promise<Server>> = {
  express: (onCallback) =>
    createServer(express().use(path, onExpress.paymentCallbacks({ signingKey, onCallback }))),

  'express, passed through': (onCallback) => {
    const app = express();
    app.post(path, onExpress.paymentCallbacks({ signingKey }), (request, response) => {
      if (request.paymentCallback !== undefined) onCallback(request.paymentCallback);
      response.json({ status: 'accepted' });
    });
    return createServer(app);
  },

  fastify: async (onCallback) => {
    const app = fastify({ return503OnClosing: false });
    await app.register(onFastify.paymentCallbacks({ signingKey, onCallback }), { prefix: path });
    await app.ready();
    return app.server;
  },

  koa: (onCallback) => {
    const app = new Koa();
    app.use(onKoa.paymentCallbacks({ signingKey, onCallback }));
    return createServer(app.callback());
  },

  'koa, passed through': (onCallback) => {
    const app = new Koa();
    app.use(onKoa.paymentCallbacks({ signingKey }));
    app.use((ctx) => {
      if (ctx.state['paymentCallback'] !== undefined) onCallback(ctx.state['paymentCallback']);
      ctx.body = { status: 'accepted' };
    });
    return createServer(app.callback());
  },

  fetch: (onCallback) =>
    createServer(getRequestListener(onFetch.paymentCallbacks({ signingKey, onCallback }))),

  'fetch, passed through': (onCallback) => {
    const receive = onFetch.paymentCallbacks({ signingKey });
    const answer = (callback: VerifiedCallback): Response => {
      onCallback(callback);
      return Response.json({ status: 'accepted' });
    };
    return createServer(getRequestListener((request) => receive(request, answer)));
  },
};
