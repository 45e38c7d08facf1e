import { testLiveHeap } from '@payment-service/adapter-conformance';

testLiveHeap('express 5', new URL('heap-server.ts', import.meta.url));
