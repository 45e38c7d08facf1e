import { testLiveHeap } from '@payment-service/adapter-conformance';

testLiveHeap('fetch', new URL('heap-server.ts', import.meta.url));
testLiveHeap('hono', new URL('hono-heap-server.ts', import.meta.url));
