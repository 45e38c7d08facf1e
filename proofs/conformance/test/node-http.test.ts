import { testAdapter, testBridges } from '../src/index.ts';
import { NodeHttp } from './node-http.ts';

testAdapter('node:http', new NodeHttp());
testBridges('node:http', new NodeHttp());
