import { testLiveHeap } from '@payment-service/adapter-conformance';

testLiveHeap('fastify 5', new URL('heap-server.ts', import.meta.url));
