import { testHostility } from '@payment-service/conformance';

const program = new URL('hostile-server.ts', import.meta.url);
testHostility('koa 2', program);
testHostility('koa 3', program);
