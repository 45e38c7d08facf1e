import { testAdapter, testBridges } from '@payment-service/conformance';
import { application4, application5 } from './application.ts';

testAdapter('express 4', application4);
testBridges('express 4', application4);
testAdapter('express 5', application5);
testBridges('express 5', application5);
