import { serveForHeapTest } from '@payment-service/adapter-conformance/heap-server';
import fastify from 'fastify';
import { paymentCallbacks } from '../src/index.ts';

await serveForHeapTest(async ({ path, options }) => {
  const app = fastify();
  app.register(paymentCallbacks(options), { prefix: path });
  await app.ready();
  return app.server;
});
