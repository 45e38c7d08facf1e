import type { BodySink, BodySource, IncomingBody, IncomingCallback } from './request-body.ts';

/**
 * Describes a web-standard `Request` for `receiveCallback()`.
 *
 * @example
 * const { reply } = await receiveCallback(incomingWebCallback(request), receiver);
 */
export function incomingWebCallback(request: Request): IncomingCallback {
  const { method, headers } = request;
  const read: BodySource = (sink) => readPieces(request, sink);
  const body: IncomingBody = request.bodyUsed ? { state: 'consumed' } : { state: 'unread', read };
  return { method, header: (name) => headers.get(name), body };
}

/**
 * By reader: not every runtime's stream is iterable, and an iterator waits for a stalled sender before it stops. Not
 * `arrayBuffer()`, although it is faster: a bridge may pass on a content-length that the body does not keep, and nothing could
 * stop the runtime from collecting all of it (threat A44).
 */
function readPieces(request: Request, { chunk, end, abort }: BodySink): () => void {
  const stream = request.body ?? new Blob([]).stream();
  if (stream.locked) {
    abort(); // Something else reads it, and getReader() would throw.
    return () => {};
  }
  const reader = stream.getReader();
  const readNext = (): void => {
    // No promise waits for the next: a chain of them would keep every piece of the body (threat A30).
    reader.read().then(({ done, value }) => {
      if (done) return end();
      chunk(value);
      readNext();
    }, abort);
  };
  readNext();
  return () => void reader.cancel().catch(() => undefined); // Nothing waits for an abandoned stream.
}
