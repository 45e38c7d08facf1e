import { incomingCallback } from '@payment-service/core/receive';
import { serveForHeapTest } from '../src/heap-server.ts';
import { NodeHttp } from './node-http.ts';

/** Keeps every piece until the end, as `Buffer.concat(chunks)` needs them. */
class KeepsChunks extends NodeHttp {
  override translate: typeof incomingCallback = (request, parsed) => {
    const incoming = incomingCallback(request, parsed);
    const { body } = incoming;
    if (body.state !== 'unread') return incoming;
    const chunks: Buffer[] = [];
    return {
      ...incoming,
      body: {
        state: 'unread',
        read: (sink) =>
          body.read({
            ...sink,
            chunk: (piece) => chunks.push(Buffer.from(piece)),
            end: () => {
              sink.chunk(Buffer.concat(chunks));
              sink.end();
            },
          }),
      },
    };
  };
}

await serveForHeapTest(({ path, options }) =>
  new KeepsChunks().callbacks({ path, options, before: undefined, after: undefined, handle: undefined }),
);
