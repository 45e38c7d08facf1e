import { testHostility } from '@payment-service/conformance';

const program = new URL('hostile-server.ts', import.meta.url);
testHostility('express 4', program);
testHostility('express 5', program);
