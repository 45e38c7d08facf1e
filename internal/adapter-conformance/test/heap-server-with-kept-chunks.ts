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
        read: (sink, length) => {
          const chunk = (piece: Uint8Array | string): unknown => chunks.push(Buffer.from(piece));
          const end = (): void => {
            sink.chunk(Buffer.concat(chunks));
            sink.end();
          };
          return body.read({ ...sink, chunk, end }, length);
        },
      },
    };
  };
}

await serveForHeapTest(({ path, options }) =>
  new KeepsChunks().callbacks({ path, options, before: undefined, after: undefined, handle: undefined }),
);
