import { testAdapter, testBridges } from '@payment-service/conformance';
import { application } from './node-server.ts';

// On plain node:http: what the framework itself adds is not needed.

testAdapter('express', application);
testBridges('express', application);
