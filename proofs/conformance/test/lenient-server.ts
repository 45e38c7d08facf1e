import type { IncomingMessage } from 'node:http';
import { type IncomingCallback, incomingCallback } from '@payment-service/core/receive';
import { listenHttp2, serveHostile } from '../src/hostile/serve-hostile.ts';
import { NodeHttp } from './node-http.ts';

type Translate = NodeHttp['translate'];

const takesFirst: Translate = (request): IncomingCallback => ({
  ...incomingCallback(request),
  header: (name) => (request as IncomingMessage).headersDistinct[name]?.[0]?.split(', ')[0],
});
const hidesHttp2: Translate = (request) =>
  incomingCallback(Object.create(request, { httpVersionMajor: { value: 1 } }));

await serveHostile({
  'node:http': [new NodeHttp(), Object.assign(new NodeHttp(), { listen: listenHttp2 })],
  lenient: [Object.assign(new NodeHttp(), { translate: takesFirst })],
  'hides HTTP/2': [
    new NodeHttp(),
    Object.assign(new NodeHttp(), { listen: listenHttp2, translate: hidesHttp2 }),
  ],
});
