import { testAdapter } from '../src/index.ts';
import { NodeHttp } from './node-http.ts';

testAdapter('node:http', new NodeHttp());
