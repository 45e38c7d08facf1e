import { testLiveHeap } from '@payment-service/adapter-conformance';

testLiveHeap('koa 3', new URL('heap-server.ts', import.meta.url));
