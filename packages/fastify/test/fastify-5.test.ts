import { testAdapter, testBridges } from '@payment-service/conformance';
import { applicationOn } from './application.ts';

testAdapter('fastify 5', applicationOn({}));
testBridges('fastify 5', applicationOn({}));
