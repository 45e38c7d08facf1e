import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { serveForHeapTest } from '@payment-service/adapter-conformance/heap-server';
import { Hono } from 'hono';
import { paymentCallbacks } from '../src/index.ts';

await serveForHeapTest(({ path, options }) => {
  const callbacks = paymentCallbacks(options);
  const app = new Hono().all(path, callbacks);
  return createServer(getRequestListener(app.fetch));
});
