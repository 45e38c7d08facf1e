import { testAdapter, testBridges } from '@payment-service/conformance';
import { application2, application3 } from './application.ts';

testAdapter('koa 2', application2());
testBridges('koa 2', application2());
testAdapter('koa 3', application3());
testBridges('koa 3', application3());
