import { createServer } from 'node:http';
import { serveForHeapTest } from '@payment-service/adapter-conformance/heap-server';
import Koa from 'koa';
import { paymentCallbacks } from '../src/index.ts';

await serveForHeapTest(({ options }) => createServer(new Koa().use(paymentCallbacks(options)).callback()));
