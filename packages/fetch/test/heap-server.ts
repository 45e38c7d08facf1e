import { serveForHeapTest } from '@payment-service/adapter-conformance/heap-server';
import { paymentCallbacks } from '../src/index.ts';
import { fetchServer } from './fetch-server.ts';

await serveForHeapTest(({ options }) => fetchServer(paymentCallbacks(options)));
