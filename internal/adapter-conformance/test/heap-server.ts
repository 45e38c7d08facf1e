import { serveForHeapTest } from '../src/heap-server.ts';
import { NodeHttp } from './node-http.ts';

await serveForHeapTest(({ path, options }) =>
  new NodeHttp().callbacks({ path, options, before: undefined, after: undefined, handle: undefined }),
);
