import { testHostility } from '@payment-service/conformance';

const program = new URL('hostile-server.ts', import.meta.url);
testHostility('fetch', program);
testHostility('hono', program);
