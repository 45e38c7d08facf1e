import { testHostility } from '@payment-service/conformance';

const program = new URL('hostile-server.ts', import.meta.url);
testHostility('fastify 5', program);
